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

func (g read) String() string {
	return fmt.Sprintf("%s of %s %s/%s by reader %d on server %d in [%d, %d], at %d: %v", g.description, g.kind.Plural, g.namespace, g.name, g.reader, g.endpoint, g.call, g.returned, g.revision, g.objects)
}

func (g read) matches(o harness.Object) bool {
	namespace, name, _ := strings.Cut(o.Key, "/")
	return (g.namespace == "" || g.namespace == namespace) && (g.name == "" || g.name == name)
}

// checkReads checks that each read returned the objects at its revision, or, for a single object,
// its state at some revision that it may be of. A read that follows another read of the same view
// must not be older.
func checkReads(records map[string]*watchguarantees.History, reads []read) (violations []string) {
	for _, g := range reads {
		atLeast := g.minRevision
		for _, other := range reads {
			if g.mayLag && other.mayLag && g.sameView && other.sameView && g.viewResets == other.viewResets && other.returned < g.call {
				atLeast = max(atLeast, other.revision)
			}
		}
		c := records[g.kind.Name]
		if g.name != "" {
			if !existed(c, g, max(atLeast, c.Start)) {
				violations = append(violations, fmt.Sprintf("wrong read: no state from %d to %d is like it: %v", atLeast, g.maxRevision, g))
			}
			continue
		}
		if g.revision < atLeast || g.revision > g.maxRevision {
			violations = append(violations, fmt.Sprintf("stale read: %d is not between %d and %d: %v", g.revision, atLeast, g.maxRevision, g))
			continue
		}
		if want := c.ObjectsAt(g.revision, g.matches); !slices.EqualFunc(want, g.objects, harness.Object.Equal) {
			violations = append(violations, fmt.Sprintf("wrong list: the objects were %v: %v", want, g))
		}
	}
	return violations
}

// existed reports whether the object was in the state that g returned at a revision between from
// and the newest that g may be of.
func existed(c *watchguarantees.History, g read, from uint64) bool {
	var now *harness.Object
	if o, ok := c.Initial[g.namespace+"/"+g.name]; ok {
		now = &o
	}
	like := func() bool {
		return len(g.objects) == 0 && now == nil || len(g.objects) == 1 && now != nil && now.Equal(g.objects[0])
	}
	begin := c.Start
	for _, change := range c.Changes {
		if change.Key != g.namespace+"/"+g.name {
			continue
		}
		if begin <= g.maxRevision && change.Revision > from && like() {
			return true
		}
		now, begin = change.New, change.Revision
	}
	return begin <= g.maxRevision && like()
}
