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

func (c *checker) checkRequest(r WatchRequest, last bool) {
	seen := r.Events
	switch {
	case r.Initial && r.Bookmarks:
		seen = c.checkInitialEvents(r)
	case r.Initial:
		c.checkUnendedInitialEvents(r, last)
		seen = nil
	case !c.started:
		c.position, c.positionKnown = r.From, true
	case !c.positionKnown || r.From != c.position:
		c.report("wrongly resumed from %d, the position was %d (known: %v)", r.From, c.position, c.positionKnown)
	}
	c.started = true
	c.checkEvents(r, seen)
}

// checkInitialEvents checks initial events that a bookmark ends, and returns the events after it.
func (c *checker) checkInitialEvents(r WatchRequest) []harness.Event {
	i := slices.IndexFunc(r.Events, func(e harness.Event) bool { return e.InitialEventsEnd })
	if i < 0 { // incomplete: they must be the start of some state
		c.positionKnown = false
		for rev := r.MinRevision; rev <= c.history.End; rev++ {
			if isPrefix(c.history.ObjectsAt(rev, c.log.Matches), r.Events) {
				return nil
			}
		}
		c.report("wrong initial events: no state since %d begins with %v", r.MinRevision, r.Events)
		return nil
	}
	end := r.Events[i]
	want := c.history.ObjectsAt(end.Revision, c.log.Matches)
	if len(want) != i || !isPrefix(want, r.Events[:i]) {
		c.report("wrong initial events: at %d the objects are %v, the events are %v", end.Revision, want, r.Events[:i])
	}
	if r.ExactList != nil && !slices.EqualFunc(want, *r.ExactList, harness.Object.Equal) {
		c.report("wrong list: at %d the objects are %v, the list is %v", end.Revision, want, *r.ExactList)
	}
	if end.Revision < r.MinRevision || end.Revision > c.history.End {
		c.report("wrong initial events: they are of %d, the request was for %d or later, the newest is %d", end.Revision, r.MinRevision, c.history.End)
	}
	c.position, c.positionKnown = end.Revision, true
	return r.Events[i+1:]
}

// isPrefix reports whether the events are the start of a list, as ADDED events.
func isPrefix(list []harness.Object, seen []harness.Event) bool {
	return len(seen) <= len(list) && slices.EqualFunc(list[:len(seen)], seen, func(o harness.Object, e harness.Event) bool {
		return e.Type == watch.Added && o.Equal(e.Object)
	})
}

// checkUnendedInitialEvents checks initial events without a bookmark at their end. There must be a
// state that they can be, and that the events after them continue.
func (c *checker) checkUnendedInitialEvents(r WatchRequest, last bool) {
	c.positionKnown = false
	for rev := r.MinRevision; rev <= c.history.End; rev++ {
		state := c.history.ObjectsAt(rev, c.log.Matches)
		n := min(len(state), len(r.Events))
		if !isPrefix(state, r.Events[:n]) || last && n < len(state) {
			continue
		}
		next := &checker{history: c.history, log: c.log, position: rev, positionKnown: true}
		next.checkEvents(r, r.Events[n:])
		if _, more := c.history.nextEvent(next.position, c.log.Matches); len(next.violations) == 0 && !(last && more) {
			c.positionKnown, c.position = last, next.position // a client does not know its position
			return
		}
	}
	c.report("lost or wrong: no state since %d explains %v", r.MinRevision, r.Events)
}

// checkEvents checks events after a known position.
func (c *checker) checkEvents(r WatchRequest, seen []harness.Event) {
	for i, e := range seen {
		switch e.Type {
		case watch.Bookmark:
			c.checkBookmark(r, e)
		case watch.Error:
			if i != len(seen)-1 {
				c.report("wrong: %v is not the end", e)
			}
			if e.Code != http.StatusGone || !slices.ContainsFunc(c.history.ForgottenAt, func(rev uint64) bool { return rev > c.position }) {
				c.report("unexpected %v at %d", e, c.position)
			}
			c.positionKnown = false
		default:
			c.checkEvent(e)
		}
	}
}

func (c *checker) checkBookmark(r WatchRequest, e harness.Event) {
	switch next, ok := c.history.nextEvent(c.position, c.log.Matches); {
	case !r.Bookmarks:
		c.report("unrequested %v", e)
	case e.InitialEventsEnd:
		c.report("wrong: %v does not end initial events", e)
	case ok && next.Revision <= e.Revision:
		c.report("early %v, before %v", e, next)
	case e.Revision < c.position:
		c.report("late %v, after %d", e, c.position)
	case e.Revision > c.history.End:
		c.report("early %v, the store is at %d", e, c.history.End)
	}
	c.position = max(c.position, e.Revision)
}

func (c *checker) checkEvent(e harness.Event) {
	switch want, ok := c.history.nextEvent(c.position, c.log.Matches); {
	case e.Revision <= c.position:
		c.report("repeated or out of order: %v after %d", e, c.position)
	case !ok || want.Revision > e.Revision:
		c.report("wrong: %v never happened", e)
	case want.Revision < e.Revision:
		c.report("lost: %v, before %v", want, e)
	case want.Type != e.Type || !want.Equal(e.Object):
		c.report("wrong: %v should be %v", e, want)
	}
	c.position = max(c.position, e.Revision)
}
