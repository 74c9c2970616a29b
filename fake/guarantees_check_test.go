package fakeapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/watch"
)

// thing is an object as it can be seen: under a key "namespace/name", at the
// revision of its last change, with a content by which two can be compared.
type thing struct {
	key     string
	rev     uint64
	labels  map[string]string
	content string
}

func (a thing) is(b thing) bool { return a.key == b.key && a.rev == b.rev && a.content == b.content }

func (a thing) String() string { return fmt.Sprintf("%s@%d %s", a.key, a.rev, a.content) }

// write is what its writer knows of one that succeeded. Of a deletion the thing
// is the last state, at the revision of the deletion.
type write struct {
	thing
	kind, verb string
}

// glimpse is one frame of a watch. A bookmark has a revision only, and ends if
// it closes the initial events; an error has the code and the message of its Status.
type glimpse struct {
	thing
	event   watch.EventType
	ends    bool
	code    int
	message string
}

func (g glimpse) String() string {
	switch g.event {
	case watch.Bookmark:
		return fmt.Sprintf("BOOKMARK %d (ends: %v)", g.rev, g.ends)
	case watch.Error:
		return fmt.Sprintf("ERROR %d", g.code)
	}
	return fmt.Sprintf("%s %s", g.event, g.thing)
}

// span is one watch request and what it brought.
type span struct {
	from      uint64 // the revision it resumes from, if it is not initial
	initial   bool   // it begins with the state,
	atLeast   uint64 // which is not older than this
	bookmarks bool
	seen      []glimpse
	exact     *[]thing // an Exact list at the bookmark that ended the initial events
}

// life is all that one watcher saw: span after span, each resumed from where
// the one before it ended.
type life struct {
	name    string
	selects func(thing) bool
	spans   []span
}

// change is a write with the state that it replaced.
type change struct {
	rev     uint64
	key     string
	was, is *thing
}

// seenBy is the event that a change is to a watcher, if it is one at all.
func (c change) seenBy(selects func(thing) bool) (glimpse, bool) {
	was, is := c.was != nil && selects(*c.was), c.is != nil && selects(*c.is)
	switch {
	case is && !was:
		return glimpse{event: watch.Added, thing: *c.is}, true
	case is:
		return glimpse{event: watch.Modified, thing: *c.is}, true
	case was:
		left := *c.was
		left.rev = c.rev
		return glimpse{event: watch.Deleted, thing: left}, true
	}
	return glimpse{}, false
}

// chronicle is what happened, as the merged logs of the writers tell it.
type chronicle struct {
	base    map[string]thing // the state at the revision since
	since   uint64
	last    uint64 // the revision at the end
	changes []change
	expired []uint64 // the store's revision after each time that history was forgotten
}

// newChronicle merges the logs and says what is wrong with them: writes share a
// revision, do not follow from one another, or there were more than the writers
// know of, so that one that should have changed nothing did.
func newChronicle(kind string, base []thing, since, last uint64, writes []write) (*chronicle, []string) {
	c := &chronicle{base: map[string]thing{}, since: since, last: last}
	state := map[string]thing{}
	for _, o := range base {
		c.base[o.key], state[o.key] = o, o
	}
	var complaints []string
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	writes = slices.SortedStableFunc(slices.Values(writes), func(a, b write) int { return cmp.Compare(a.rev, b.rev) })
	for i, w := range writes {
		if i > 0 && writes[i-1].rev == w.rev {
			complain("shared revision: %v and %v", writes[i-1], w)
		}
		if w.rev <= since || w.rev > last {
			complain("impossible revision: %v", w)
		}
		if w.kind != kind {
			continue
		}
		before, there := state[w.key]
		next := change{rev: w.rev, key: w.key}
		if there {
			next.was = &before
		}
		if there != (w.verb != "create") {
			complain("incoherent: %s of %v, which was there before: %v", w.verb, w.thing, there)
		}
		if delete(state, w.key); w.verb == "delete" {
			if there && w.content != before.content {
				complain("incoherent: the answer to a delete is %v, the object was %v", w.thing, before)
			}
		} else {
			next.is, state[w.key] = &w.thing, w.thing
		}
		c.changes = append(c.changes, next)
	}
	if since+uint64(len(writes)) != last {
		complain("uncounted: %d writes brought the store from %d to %d", len(writes), since, last)
	}
	return c, complaints
}

// at is what a list of the state at a revision shows, in the order of the keys.
func (c *chronicle) at(rev uint64, selects func(thing) bool) []thing {
	state := maps.Clone(c.base)
	for _, change := range c.changes {
		if change.rev > rev {
			break
		}
		if delete(state, change.key); change.is != nil {
			state[change.key] = *change.is
		}
	}
	var list []thing
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if o := state[key]; selects(o) {
			list = append(list, o)
		}
	}
	return list
}

// next is the first event above a revision.
func (c *chronicle) next(rev uint64, selects func(thing) bool) (glimpse, bool) {
	i, _ := slices.BinarySearchFunc(c.changes, rev+1, func(c change, rev uint64) int { return cmp.Compare(c.rev, rev) })
	for _, change := range c.changes[i:] {
		if g, ok := change.seenBy(selects); ok {
			return g, true
		}
	}
	return glimpse{}, false
}

// check says in what a life differs from what the guarantees of a watch make
// of the chronicle: nothing if it is as it must be.
func (c *chronicle) check(l life) []string {
	r := &reader{c: c, life: l}
	for i, s := range l.spans {
		r.span(s, i == len(l.spans)-1)
	}
	if !r.known {
		r.complain("lost: the watch never got to know where it is")
	} else if g, ok := c.next(r.pos, l.selects); ok {
		r.complain("lost at the end: %v", g)
	}
	return r.complaints
}

// reader goes through a life. It knows up to which revision everything was seen,
// unless the initial events did not come to their end.
type reader struct {
	c          *chronicle
	life       life
	pos        uint64
	known      bool
	begun      bool
	complaints []string
}

func (r *reader) complain(format string, args ...any) {
	r.complaints = append(r.complaints, r.life.name+": "+fmt.Sprintf(format, args...))
}

func (r *reader) span(s span, last bool) {
	seen := s.seen
	switch {
	case s.initial && s.bookmarks:
		seen = r.block(s)
	case s.initial:
		r.unmarked(s, last)
		seen = nil
	case !r.begun:
		r.pos, r.known = s.from, true
	case !r.known || s.from != r.pos:
		r.complain("wrongly resumed from %d, everything was seen up to %d (known: %v)", s.from, r.pos, r.known)
	}
	r.begun = true
	r.follow(s, seen)
}

// block checks initial events that a bookmark ends, and gives what follows them.
func (r *reader) block(s span) []glimpse {
	i := slices.IndexFunc(s.seen, func(g glimpse) bool { return g.ends })
	if i < 0 { // cut off in the middle: the beginning of some state
		r.known = false
		for rev := s.atLeast; rev <= r.c.last; rev++ {
			if opens(r.c.at(rev, r.life.selects), s.seen) {
				return nil
			}
		}
		r.complain("wrong initial events: no state since %d begins with %v", s.atLeast, s.seen)
		return nil
	}
	end := s.seen[i]
	want := r.c.at(end.rev, r.life.selects)
	if len(want) != i || !opens(want, s.seen[:i]) {
		r.complain("wrong initial events: at %d there is %v, seen was %v", end.rev, want, s.seen[:i])
	}
	if s.exact != nil && !slices.EqualFunc(want, *s.exact, thing.is) {
		r.complain("wrong list: at %d there is %v, listed was %v", end.rev, want, *s.exact)
	}
	if end.rev < s.atLeast || end.rev > r.c.last {
		r.complain("wrong initial events: they are of %d, asked for was %d, newest is %d", end.rev, s.atLeast, r.c.last)
	}
	r.pos, r.known = end.rev, true
	return s.seen[i+1:]
}

// opens reports whether what was seen is the beginning of a list, as ADDED
// events.
func opens(list []thing, seen []glimpse) bool {
	return len(seen) <= len(list) && slices.EqualFunc(list[:len(seen)], seen, func(o thing, g glimpse) bool {
		return g.event == watch.Added && o.is(g.thing)
	})
}

// unmarked checks initial events that nothing ends: there must be a state that
// they show and that the rest goes on from.
func (r *reader) unmarked(s span, last bool) {
	r.known = false
	for rev := s.atLeast; rev <= r.c.last; rev++ {
		state := r.c.at(rev, r.life.selects)
		n := min(len(state), len(s.seen))
		if !opens(state, s.seen[:n]) || last && n < len(state) {
			continue
		}
		try := &reader{c: r.c, life: r.life, pos: rev, known: true}
		try.follow(s, s.seen[n:])
		if _, more := r.c.next(try.pos, r.life.selects); len(try.complaints) == 0 && !(last && more) {
			r.known, r.pos = last, try.pos // in life nobody could know
			return
		}
	}
	r.complain("lost or wrong: no state since %d explains %v", s.atLeast, s.seen)
}

// follow checks what comes after a known revision.
func (r *reader) follow(s span, seen []glimpse) {
	for i, g := range seen {
		switch g.event {
		case watch.Bookmark:
			r.bookmark(s, g)
		case watch.Error:
			if i != len(seen)-1 {
				r.complain("wrong: %v is not the end", g)
			}
			if g.code != http.StatusGone || !slices.ContainsFunc(r.c.expired, func(rev uint64) bool { return rev > r.pos }) {
				r.complain("undeserved %v at %d", g, r.pos)
			}
			r.known = false
		default:
			r.event(g)
		}
	}
}

func (r *reader) bookmark(s span, g glimpse) {
	switch next, ok := r.c.next(r.pos, r.life.selects); {
	case !s.bookmarks:
		r.complain("unasked %v", g)
	case g.ends:
		r.complain("wrong: %v ends nothing", g)
	case ok && next.rev <= g.rev:
		r.complain("early %v, before %v", g, next)
	case g.rev < r.pos:
		r.complain("late %v, after %d", g, r.pos)
	case g.rev > r.c.last:
		r.complain("early %v, the store is at %d", g, r.c.last)
	}
	r.pos = max(r.pos, g.rev)
}

func (r *reader) event(g glimpse) {
	switch want, ok := r.c.next(r.pos, r.life.selects); {
	case g.rev <= r.pos:
		r.complain("repeated or out of order: %v after %d", g, r.pos)
	case !ok || want.rev > g.rev:
		r.complain("wrong: %v never happened", g)
	case want.rev < g.rev:
		r.complain("lost: %v, before %v", want, g)
	case want.event != g.event || !want.is(g.thing):
		r.complain("wrong: %v should be %v", g, want)
	}
	r.pos = max(r.pos, g.rev)
}
