package memstore

import (
	"math"
	"time"

	"github.com/google/btree"
)

const (
	// baseInterval is the number of revisions between two states that the history keeps. A view in between
	// is the state before it and a patch of fewer than stride events. Measured: keeping every state
	// costs some 2.7 kB a revision, keeping every 64th a fraction of that.
	baseInterval = 64

	// eventOverhead is what an event is taken to occupy besides the data of the state it replaced.
	eventOverhead = 1024

	logDegree = 32
)

type eventLog = btree.BTreeG[*Event]

// history is what a store remembers. It has no lock of its own.
//
// Two floors bound it. Views are answered at revisions >= exact; watches are answered after revisions
// >= watch, and exact >= watch. Events at or below the watch floor are forgotten by the feeds; some of
// them may still stand in the log (fewer than stride), if a view at the exact floor is built with them.
type history struct {
	limits Options
	log    *eventLog
	bases  *btree.BTreeG[*state] // by revision; the first is not above the exact floor, the head need not be here
	feeds  map[string]*feed      // by topic
	all    *feed                 // every topic; its log is the log

	viewFloor, watchFloor Revision
	count                 int           // events above the watch floor,
	bytes                 int64         // what they are taken to occupy,
	oldest                time.Duration // and when the first of them happened
}

// newHistory returns the history of a store that remembers nothing but its present state.
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

// clone returns the same history without the wake-ups that cursors wait for. Its cost depends on
// the number of topics only.
func (h *history) clone() *history {
	c := *h
	c.log, c.bases = h.log.Clone(), h.bases.Clone()
	c.all = &feed{log: c.log, last: h.all.last} // dropped is for cursors from before; the clone has none
	c.feeds = make(map[string]*feed, len(h.feeds))
	for topic, f := range h.feeds {
		c.feeds[topic] = &feed{log: f.log.Clone(), last: f.last}
	}
	return &c
}

// addBase remembers a state if its revision is one of those that views are built from.
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

// feed returns the events of a topic.
func (h *history) feed(topic string) *feed {
	f := h.feeds[topic]
	if f == nil {
		f = &feed{log: btree.NewG(logDegree, lessByRevision)}
		h.feeds[topic] = f
	}
	return f
}

// isOverdue reports whether trim has anything to do.
func (h *history) isOverdue(now time.Duration) bool {
	return h.count > 0 &&
		(h.count > h.limits.HistoryCount || h.bytes > h.limits.HistoryBytes || now-h.oldest >= h.limits.HistoryAge)
}

// trim forgets the oldest events until count, bytes and age are within their limits.
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

// raiseWatchFloor raises the watch floor, and with it the exact floor, to a revision not above the head's.
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

// raiseViewFloor raises the exact floor to a revision not above the head's, and lets go of what neither a
// view nor a cursor can reach any more.
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
	unseen := min(h.watchFloor, base.rev)
	for first, ok := h.log.Min(); ok && first.Revision <= unseen; first, ok = h.log.Min() {
		h.log.DeleteMin()
	}
}

// base returns the newest kept state that is not above the revision.
func (h *history) base(rev Revision) (base *state) {
	h.bases.DescendLessOrEqual(&state{rev: rev}, func(s *state) bool {
		base = s
		return false
	})
	return base
}

// view returns the view at a revision from the exact floor to the head's, both included.
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

// age tells how long ago a revision was written, on the clock of the store. A
// revision that is forgotten is as old as it gets, one of the future has no age.
func (h *history) age(rev Revision, now time.Duration) time.Duration {
	if rev > h.all.last {
		return 0
	}
	age := time.Duration(math.MaxInt64)
	h.log.AscendGreaterOrEqual(&Event{Revision: rev}, func(e *Event) bool {
		if e.Revision == rev {
			age = now - e.time
		}
		return false
	})
	return age
}
