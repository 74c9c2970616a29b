package fakeapi_test

import (
	"fmt"
	"slices"
	"strings"
)

// glance is what somebody saw who read: a list, or one object or that there is none.
type glance struct {
	id, door        int
	what            string
	kind            kind
	namespace, name string // of what was read; the name is "" of a list
	seen            []thing
	rev             uint64 // of the list, or of the object if there was one
	atLeast         uint64 // it must not be older
	newest          uint64 // the revision of the store when it was over
	call, back      int64  // when, by the clock of all clients
	old             bool   // it is of a view that may be behind,
	era             int64  // which has gone back as often as that,
	same            bool   // and not in between
}

func (g glance) String() string {
	return fmt.Sprintf("%s of %s %s/%s by onlooker %d through door %d in [%d, %d], at %d: %v", g.what, g.kind.plural, g.namespace, g.name, g.id, g.door, g.call, g.back, g.rev, g.seen)
}

func (g glance) selects(o thing) bool {
	namespace, name, _ := strings.Cut(o.key, "/")
	return (g.namespace == "" || g.namespace == namespace) && (g.name == "" || g.name == name)
}

// belied tells which glances did not see what was there: at the revision of a list, or, of
// a single object, at some revision that it may be of. A view that may be behind never goes
// back by itself: who reads it after another has read sees nothing older.
func belied(records map[string]*chronicle, glances []glance) (complaints []string) {
	for _, g := range glances {
		atLeast := g.atLeast
		for _, other := range glances {
			if g.old && other.old && g.same && other.same && g.era == other.era && other.back < g.call {
				atLeast = max(atLeast, other.rev)
			}
		}
		c := records[g.kind.name]
		if g.name != "" {
			if !had(c, g, max(atLeast, c.since)) {
				complaints = append(complaints, fmt.Sprintf("wrong read: from %d to %d there was nothing like it: %v", atLeast, g.newest, g))
			}
			continue
		}
		if g.rev < atLeast || g.rev > g.newest {
			complaints = append(complaints, fmt.Sprintf("stale read: %d is not between %d and %d: %v", g.rev, atLeast, g.newest, g))
			continue
		}
		if want := c.at(g.rev, g.selects); !slices.EqualFunc(want, g.seen, thing.is) {
			complaints = append(complaints, fmt.Sprintf("wrong list: there was %v: %v", want, g))
		}
	}
	return complaints
}

// had reports whether an object was as it was seen at a revision from one on up to the
// newest that there can have been.
func had(c *chronicle, g glance, from uint64) bool {
	var now *thing
	if o, ok := c.base[g.namespace+"/"+g.name]; ok {
		now = &o
	}
	like := func() bool {
		return len(g.seen) == 0 && now == nil || len(g.seen) == 1 && now != nil && now.is(g.seen[0])
	}
	begin := c.since
	for _, change := range c.changes {
		if change.key != g.namespace+"/"+g.name {
			continue
		}
		if begin <= g.newest && change.rev > from && like() {
			return true
		}
		now, begin = change.is, change.rev
	}
	return begin <= g.newest && like()
}
