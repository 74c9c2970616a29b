package watchguarantees

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// checker goes through the log of a watcher. position is the revision up to which all events were
// seen. It is unknown while the initial events are incomplete.
type checker struct {
	history       *History
	log           WatchLog
	position      uint64
	positionKnown bool
	started       bool
	violations    []string
}

func (c *checker) report(format string, args ...any) {
	c.violations = append(c.violations, c.log.Name+": "+fmt.Sprintf(format, args...))
}

func (c *checker) checkRequest(s WatchRequest, last bool) {
	seen := s.Events
	switch {
	case s.Initial && s.Bookmarks:
		seen = c.checkInitialEvents(s)
	case s.Initial:
		c.checkUnendedInitialEvents(s, last)
		seen = nil
	case !c.started:
		c.position, c.positionKnown = s.From, true
	case !c.positionKnown || s.From != c.position:
		c.report("wrongly resumed from %d, the position was %d (known: %v)", s.From, c.position, c.positionKnown)
	}
	c.started = true
	c.checkEvents(s, seen)
}

// checkInitialEvents checks initial events that a bookmark ends, and returns the events after it.
func (c *checker) checkInitialEvents(s WatchRequest) []harness.Event {
	i := slices.IndexFunc(s.Events, func(g harness.Event) bool { return g.InitialEventsEnd })
	if i < 0 { // incomplete: they must be the start of some state
		c.positionKnown = false
		for rev := s.MinRevision; rev <= c.history.End; rev++ {
			if isPrefix(c.history.ObjectsAt(rev, c.log.Matches), s.Events) {
				return nil
			}
		}
		c.report("wrong initial events: no state since %d begins with %v", s.MinRevision, s.Events)
		return nil
	}
	end := s.Events[i]
	want := c.history.ObjectsAt(end.Revision, c.log.Matches)
	if len(want) != i || !isPrefix(want, s.Events[:i]) {
		c.report("wrong initial events: at %d the objects are %v, the events are %v", end.Revision, want, s.Events[:i])
	}
	if s.ExactList != nil && !slices.EqualFunc(want, *s.ExactList, harness.Object.Equal) {
		c.report("wrong list: at %d the objects are %v, the list is %v", end.Revision, want, *s.ExactList)
	}
	if end.Revision < s.MinRevision || end.Revision > c.history.End {
		c.report("wrong initial events: they are of %d, the request was for %d or later, the newest is %d", end.Revision, s.MinRevision, c.history.End)
	}
	c.position, c.positionKnown = end.Revision, true
	return s.Events[i+1:]
}

// isPrefix reports whether the events are the start of a list, as ADDED events.
func isPrefix(list []harness.Object, seen []harness.Event) bool {
	return len(seen) <= len(list) && slices.EqualFunc(list[:len(seen)], seen, func(o harness.Object, g harness.Event) bool {
		return g.Type == watch.Added && o.Equal(g.Object)
	})
}

// checkUnendedInitialEvents checks initial events without a bookmark at their end. There must be a
// state that they can be, and that the events after them continue.
func (c *checker) checkUnendedInitialEvents(s WatchRequest, last bool) {
	c.positionKnown = false
	for rev := s.MinRevision; rev <= c.history.End; rev++ {
		state := c.history.ObjectsAt(rev, c.log.Matches)
		n := min(len(state), len(s.Events))
		if !isPrefix(state, s.Events[:n]) || last && n < len(state) {
			continue
		}
		next := &checker{history: c.history, log: c.log, position: rev, positionKnown: true}
		next.checkEvents(s, s.Events[n:])
		if _, more := c.history.nextEvent(next.position, c.log.Matches); len(next.violations) == 0 && !(last && more) {
			c.positionKnown, c.position = last, next.position // a client does not know its position
			return
		}
	}
	c.report("lost or wrong: no state since %d explains %v", s.MinRevision, s.Events)
}

// checkEvents checks events after a known position.
func (c *checker) checkEvents(s WatchRequest, seen []harness.Event) {
	for i, g := range seen {
		switch g.Type {
		case watch.Bookmark:
			c.checkBookmark(s, g)
		case watch.Error:
			if i != len(seen)-1 {
				c.report("wrong: %v is not the end", g)
			}
			if g.Code != http.StatusGone || !slices.ContainsFunc(c.history.ForgottenAt, func(rev uint64) bool { return rev > c.position }) {
				c.report("unexpected %v at %d", g, c.position)
			}
			c.positionKnown = false
		default:
			c.checkEvent(g)
		}
	}
}

func (c *checker) checkBookmark(s WatchRequest, g harness.Event) {
	switch next, ok := c.history.nextEvent(c.position, c.log.Matches); {
	case !s.Bookmarks:
		c.report("unrequested %v", g)
	case g.InitialEventsEnd:
		c.report("wrong: %v does not end initial events", g)
	case ok && next.Revision <= g.Revision:
		c.report("early %v, before %v", g, next)
	case g.Revision < c.position:
		c.report("late %v, after %d", g, c.position)
	case g.Revision > c.history.End:
		c.report("early %v, the store is at %d", g, c.history.End)
	}
	c.position = max(c.position, g.Revision)
}

func (c *checker) checkEvent(g harness.Event) {
	switch want, ok := c.history.nextEvent(c.position, c.log.Matches); {
	case g.Revision <= c.position:
		c.report("repeated or out of order: %v after %d", g, c.position)
	case !ok || want.Revision > g.Revision:
		c.report("wrong: %v never happened", g)
	case want.Revision < g.Revision:
		c.report("lost: %v, before %v", want, g)
	case want.Type != g.Type || !want.Equal(g.Object):
		c.report("wrong: %v should be %v", g, want)
	}
	c.position = max(c.position, g.Revision)
}
