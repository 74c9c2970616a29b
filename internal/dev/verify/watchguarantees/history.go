package watchguarantees

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// Write is a write that succeeded. For a delete, the object is the last state, at the revision of
// the deletion.
type Write struct {
	harness.Object
	Kind, Verb string
}

// WatchRequest is a watch request with the events that it returned.
type WatchRequest struct {
	From        uint64 // the resourceVersion to resume from, unless Initial
	Initial     bool   // it starts with initial events
	MinRevision uint64 // the oldest revision that the initial events may be of
	Bookmarks   bool
	Events      []harness.Event
	ExactList   *[]harness.Object // the list with resourceVersionMatch=Exact at the end of the initial events
}

// WatchLog has the requests of one watcher. Each resumes from the end of the one before it.
type WatchLog struct {
	Name     string
	Matches  func(harness.Object) bool
	Requests []WatchRequest
}

// Change is a write with the state before it.
type Change struct {
	Revision uint64
	Key      string
	Old, New *harness.Object
}

// eventFor returns the event of a change for a watcher, if there is one.
func (c Change) eventFor(matches func(harness.Object) bool) (harness.Event, bool) {
	was, is := c.Old != nil && matches(*c.Old), c.New != nil && matches(*c.New)
	switch {
	case is && !was:
		return harness.Event{Type: watch.Added, Object: *c.New}, true
	case is:
		return harness.Event{Type: watch.Modified, Object: *c.New}, true
	case was:
		left := *c.Old
		left.Revision = c.Revision
		return harness.Event{Type: watch.Deleted, Object: left}, true
	}
	return harness.Event{}, false
}

// History is the sequence of changes that the writers caused.
type History struct {
	Initial     map[string]harness.Object // the objects at revision Start
	Start       uint64
	End         uint64 // the revision at the end
	Changes     []Change
	ForgottenAt []uint64 // the revisions at which history was forgotten
}

// NewHistory orders the writes of a kind and returns violations: two writes with the same revision,
// writes that do not follow from one another, or a number of revisions that differs from the number
// of writes. writes include those of other kinds.
func NewHistory(kind string, initial []harness.Object, start, end uint64, writes []Write) (*History, []string) {
	h := &History{Initial: map[string]harness.Object{}, Start: start, End: end}
	state := map[string]harness.Object{}
	for _, o := range initial {
		h.Initial[o.Key], state[o.Key] = o, o
	}
	var violations []string
	report := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	writes = slices.SortedStableFunc(slices.Values(writes), func(a, b Write) int { return cmp.Compare(a.Revision, b.Revision) })
	for i, w := range writes {
		if i > 0 && writes[i-1].Revision == w.Revision {
			report("shared revision: %v and %v", writes[i-1], w)
		}
		if w.Revision <= start || w.Revision > end {
			report("impossible revision: %v", w)
		}
		if w.Kind != kind {
			continue
		}
		before, exists := state[w.Key]
		next := Change{Revision: w.Revision, Key: w.Key}
		if exists {
			next.Old = &before
		}
		if exists != (w.Verb != "create") {
			report("inconsistent: %s of %v, which existed before: %v", w.Verb, w.Object, exists)
		}
		if delete(state, w.Key); w.Verb == "delete" {
			if exists && w.Content != before.Content {
				report("inconsistent: the response to a delete is %v, the object was %v", w.Object, before)
			}
		} else {
			next.New, state[w.Key] = &w.Object, w.Object
		}
		h.Changes = append(h.Changes, next)
	}
	if start+uint64(len(writes)) != end {
		report("wrong number of writes: %d from revision %d to %d", len(writes), start, end)
	}
	return h, violations
}

// ObjectsAt returns the selected objects at a revision, ordered by key.
func (h *History) ObjectsAt(rev uint64, matches func(harness.Object) bool) []harness.Object {
	state := maps.Clone(h.Initial)
	for _, change := range h.Changes {
		if change.Revision > rev {
			break
		}
		if delete(state, change.Key); change.New != nil {
			state[change.Key] = *change.New
		}
	}
	var list []harness.Object
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if o := state[key]; matches(o) {
			list = append(list, o)
		}
	}
	return list
}

// nextEvent returns the first event after a revision.
func (h *History) nextEvent(rev uint64, matches func(harness.Object) bool) (harness.Event, bool) {
	i, _ := slices.BinarySearchFunc(h.Changes, rev+1, func(c Change, rev uint64) int { return cmp.Compare(c.Revision, rev) })
	for _, change := range h.Changes[i:] {
		if e, ok := change.eventFor(matches); ok {
			return e, true
		}
	}
	return harness.Event{}, false
}

// Check compares the log of a watcher with the history and returns violations of the guarantees of
// a watch.
func (h *History) Check(l WatchLog) []string {
	c := &checker{history: h, log: l}
	for i, r := range l.Requests {
		c.checkRequest(r, i == len(l.Requests)-1)
	}
	if !c.positionKnown {
		c.report("lost: the watch never had a position")
	} else if e, ok := h.nextEvent(c.position, l.Matches); ok {
		c.report("lost at the end: %v", e)
	}
	return c.violations
}
