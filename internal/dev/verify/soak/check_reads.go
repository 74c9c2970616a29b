package soak

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// read is a list or a get with its result.
type read struct {
	reader, endpoint int
	description      string
	kind             harness.Kind
	namespace, name  string // name is "" for a list
	objects          []harness.Object
	revision         uint64 // of the list, or of the object if it exists
	minRevision      uint64 // it must not be older
	maxRevision      uint64 // the newest revision when it returned
	call, returned   int64  // times on the clock of the environment
	mayLag           bool   // it is of the replica and may be stale
	viewResets       int64  // how often the view of the replica was moved back before
	sameView         bool   // the view was not moved back during the read
}

func (r read) String() string {
	return fmt.Sprintf("%s of %s %s/%s by reader %d on server %d in [%d, %d], at %d: %v", r.description, r.kind.Plural, r.namespace, r.name, r.reader, r.endpoint, r.call, r.returned, r.revision, r.objects)
}

func (r read) matches(o harness.Object) bool {
	namespace, name, _ := strings.Cut(o.Key, "/")
	return (r.namespace == "" || r.namespace == namespace) && (r.name == "" || r.name == name)
}

// checkReads checks that each read returned the objects at its revision, or, for a single object,
// its state at some revision that it may be of. A read that follows another read of the same view
// must not be older.
func checkReads(records map[string]*watchguarantees.History, reads []read) (violations []string) {
	for _, r := range reads {
		atLeast := r.minRevision
		for _, other := range reads {
			if r.mayLag && other.mayLag && r.sameView && other.sameView && r.viewResets == other.viewResets && other.returned < r.call {
				atLeast = max(atLeast, other.revision)
			}
		}
		h := records[r.kind.Name]
		if r.name != "" {
			if !existed(h, r, max(atLeast, h.Start)) {
				violations = append(violations, fmt.Sprintf("wrong read: no state from %d to %d is like it: %v", atLeast, r.maxRevision, r))
			}
			continue
		}
		if r.revision < atLeast || r.revision > r.maxRevision {
			violations = append(violations, fmt.Sprintf("stale read: %d is not between %d and %d: %v", r.revision, atLeast, r.maxRevision, r))
			continue
		}
		if want := h.ObjectsAt(r.revision, r.matches); !slices.EqualFunc(want, r.objects, harness.Object.Equal) {
			violations = append(violations, fmt.Sprintf("wrong list: the objects were %v: %v", want, r))
		}
	}
	return violations
}

// existed reports whether the object was in the state that r returned at a revision between from
// and the newest that r may be of.
func existed(h *watchguarantees.History, r read, from uint64) bool {
	var now *harness.Object
	if o, ok := h.Initial[r.namespace+"/"+r.name]; ok {
		now = &o
	}
	like := func() bool {
		return len(r.objects) == 0 && now == nil || len(r.objects) == 1 && now != nil && now.Equal(r.objects[0])
	}
	begin := h.Start
	for _, change := range h.Changes {
		if change.Key != r.namespace+"/"+r.name {
			continue
		}
		if begin <= r.maxRevision && change.Revision > from && like() {
			return true
		}
		now, begin = change.New, change.Revision
	}
	return begin <= r.maxRevision && like()
}
