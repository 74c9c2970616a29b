package memstore

import (
	"math"
	"time"

	"github.com/google/btree"
)

const (
	// baseInterval is the number of revisions between two states that the history keeps. The view
	// in between is the state before it and a patch of fewer than baseInterval events. Measured:
	// keeping every state costs about 2.7 kB for each revision, keeping every 64th a fraction of
	// that.
	baseInterval = 64

	// eventOverhead is the assumed size of an event without the data of the record that it
	// replaced.
	eventOverhead = 1024

	logDegree = 32
)

type eventLog = btree.BTreeG[*Event]

// history contains the events and states that the store can still read. It has no lock.
//
// Views are available at revisions >= viewFloor, watches after revisions >= watchFloor, and
// viewFloor >= watchFloor. The feeds do not contain events at or below watchFloor. The log may
// still contain fewer than baseInterval of them, if the view at viewFloor is built from them.
type history struct {
	limits Options
	log    *eventLog
	bases  *btree.BTreeG[*state] // by revision; the first is not above viewFloor, and the current state may be missing
	feeds  map[string]*feed      // by topic
	all    *feed                 // all topics; its log is the field log

	viewFloor, watchFloor Revision
	count                 int           // the number of events above watchFloor
	bytes                 int64         // their size
	oldest                time.Duration // the time of the first of them
}

// newHistory returns a history that contains only the current state.
func newHistory(limits Options, head *state) *history {
	h := &history{
		limits:     limits,
		log:        btree.NewG(logDegree, lessByRevision),
		bases:      btree.NewG(logDegree, func(a, b *state) bool { return a.rev < b.rev }),
		feeds:      map[string]*feed{},
		viewFloor:  head.rev,
		watchFloor: head.rev,
	}
	h.all = &feed{log: h.log}
	h.bases.ReplaceOrInsert(head)
	return h
}

// clone returns a copy without the channels of waiting cursors. Its cost depends only on the number
// of topics.
func (h *history) clone() *history {
	c := *h
	c.log, c.bases = h.log.Clone(), h.bases.Clone()
	c.all = &feed{log: c.log, last: h.all.last} // lastRemoved is needed by existing cursors, and the clone has none
	c.feeds = make(map[string]*feed, len(h.feeds))
	for topic, f := range h.feeds {
		c.feeds[topic] = &feed{log: f.log.Clone(), last: f.last}
	}
	return &c
}

// addBase adds a state if its revision is a multiple of baseInterval.
func (h *history) addBase(s *state) {
	if s.rev%baseInterval == 0 {
		h.bases.ReplaceOrInsert(s)
	}
}

// append adds an event and returns the feed of its topic.
func (h *history) append(e *Event) *feed {
	f := h.feed(topic(e.Key()))
	h.log.ReplaceOrInsert(e)
	f.log.ReplaceOrInsert(e)
	h.all.last, f.last = e.Revision, e.Revision
	if h.count == 0 {
		h.oldest = e.time
	}
	h.count++
	e.size = eventOverhead + e.Prev.retainedBytes()
	h.bytes += e.size
	return f
}

// feed returns the feed of a topic. It creates the feed if necessary.
func (h *history) feed(topic string) *feed {
	f := h.feeds[topic]
	if f == nil {
		f = &feed{log: btree.NewG(logDegree, lessByRevision)}
		h.feeds[topic] = f
	}
	return f
}

// isOverdue reports whether a limit of the history is exceeded.
func (h *history) isOverdue(now time.Duration) bool {
	return h.count > 0 &&
		(h.count > h.limits.HistoryCount || h.bytes > h.limits.HistoryBytes || now-h.oldest >= h.limits.HistoryAge)
}

// trim removes the oldest events until count, size and age are within the limits.
func (h *history) trim(now time.Duration, head *state) {
	if !h.isOverdue(now) {
		return
	}
	count, bytes, floor := h.count, h.bytes, h.watchFloor
	h.log.AscendGreaterOrEqual(&Event{Revision: h.watchFloor + 1}, func(e *Event) bool {
		h.oldest = e.time
		if count <= h.limits.HistoryCount && bytes <= h.limits.HistoryBytes && now-e.time < h.limits.HistoryAge {
			return false
		}
		count--
		bytes -= e.size
		floor = e.Revision
		return true
	})
	h.raiseWatchFloor(floor, head)
}

// raiseWatchFloor raises both floors to a revision that is not above that of head.
func (h *history) raiseWatchFloor(floor Revision, head *state) {
	h.log.AscendRange(&Event{Revision: h.watchFloor + 1}, &Event{Revision: floor + 1}, func(e *Event) bool {
		f := h.feeds[topic(e.Key())]
		f.log.DeleteMin()
		f.lastRemoved, h.all.lastRemoved = e.Revision, e.Revision
		h.count--
		h.bytes -= e.size
		return true
	})
	h.watchFloor = max(h.watchFloor, floor)
	h.raiseViewFloor(floor, head)
}

// raiseViewFloor raises the view floor to a revision that is not above that of head. It removes the
// states and events that no view and no cursor can reach.
func (h *history) raiseViewFloor(floor Revision, head *state) {
	h.viewFloor = max(h.viewFloor, floor)
	if h.viewFloor == head.rev {
		h.bases.Clear(false)
		h.bases.ReplaceOrInsert(head)
	}
	base := h.base(h.viewFloor)
	for first, _ := h.bases.Min(); first != base; first, _ = h.bases.Min() {
		h.bases.DeleteMin()
	}
	unreachable := min(h.watchFloor, base.rev)
	for first, ok := h.log.Min(); ok && first.Revision <= unreachable; first, ok = h.log.Min() {
		h.log.DeleteMin()
	}
}

// base returns the latest kept state that is not above rev.
func (h *history) base(rev Revision) (base *state) {
	h.bases.DescendLessOrEqual(&state{rev: rev}, func(s *state) bool {
		base = s
		return false
	})
	return base
}

// view returns the view at a revision from the view floor to the current revision, inclusive.
func (h *history) view(rev Revision) View {
	base := h.base(rev)
	if base.rev == rev {
		return View{rev: rev, base: base}
	}
	events := make([]*Event, 0, baseInterval)
	h.log.AscendRange(&Event{Revision: base.rev + 1}, &Event{Revision: rev + 1}, func(e *Event) bool {
		events = append(events, e)
		return true
	})
	return View{rev: rev, base: base, patches: mergeByKey(events)}
}

// age returns the time since a revision was written, the maximum duration for one that is not in
// the history.
func (h *history) age(rev Revision, now time.Duration) time.Duration {
	age := time.Duration(math.MaxInt64)
	h.log.AscendGreaterOrEqual(&Event{Revision: rev}, func(e *Event) bool {
		if e.Revision == rev {
			age = now - e.time
		}
		return false
	})
	return age
}
