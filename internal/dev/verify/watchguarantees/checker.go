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

func (r *checker) report(format string, args ...any) {
	r.violations = append(r.violations, r.log.Name+": "+fmt.Sprintf(format, args...))
}

func (r *checker) checkRequest(s WatchRequest, last bool) {
	seen := s.Events
	switch {
	case s.Initial && s.Bookmarks:
		seen = r.checkInitialEvents(s)
	case s.Initial:
		r.checkUnendedInitialEvents(s, last)
		seen = nil
	case !r.started:
		r.position, r.positionKnown = s.From, true
	case !r.positionKnown || s.From != r.position:
		r.report("wrongly resumed from %d, the position was %d (known: %v)", s.From, r.position, r.positionKnown)
	}
	r.started = true
	r.checkEvents(s, seen)
}

// checkInitialEvents checks initial events that a bookmark ends, and returns the events after it.
func (r *checker) checkInitialEvents(s WatchRequest) []harness.Event {
	i := slices.IndexFunc(s.Events, func(g harness.Event) bool { return g.InitialEventsEnd })
	if i < 0 { // incomplete: they must be the start of some state
		r.positionKnown = false
		for rev := s.MinRevision; rev <= r.history.End; rev++ {
			if isPrefix(r.history.ObjectsAt(rev, r.log.Matches), s.Events) {
				return nil
			}
		}
		r.report("wrong initial events: no state since %d begins with %v", s.MinRevision, s.Events)
		return nil
	}
	end := s.Events[i]
	want := r.history.ObjectsAt(end.Revision, r.log.Matches)
	if len(want) != i || !isPrefix(want, s.Events[:i]) {
		r.report("wrong initial events: at %d the objects are %v, the events are %v", end.Revision, want, s.Events[:i])
	}
	if s.ExactList != nil && !slices.EqualFunc(want, *s.ExactList, harness.Object.Equal) {
		r.report("wrong list: at %d the objects are %v, the list is %v", end.Revision, want, *s.ExactList)
	}
	if end.Revision < s.MinRevision || end.Revision > r.history.End {
		r.report("wrong initial events: they are of %d, the request was for %d or later, the newest is %d", end.Revision, s.MinRevision, r.history.End)
	}
	r.position, r.positionKnown = end.Revision, true
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
func (r *checker) checkUnendedInitialEvents(s WatchRequest, last bool) {
	r.positionKnown = false
	for rev := s.MinRevision; rev <= r.history.End; rev++ {
		state := r.history.ObjectsAt(rev, r.log.Matches)
		n := min(len(state), len(s.Events))
		if !isPrefix(state, s.Events[:n]) || last && n < len(state) {
			continue
		}
		next := &checker{history: r.history, log: r.log, position: rev, positionKnown: true}
		next.checkEvents(s, s.Events[n:])
		if _, more := r.history.nextEvent(next.position, r.log.Matches); len(next.violations) == 0 && !(last && more) {
			r.positionKnown, r.position = last, next.position // a client does not know its position
			return
		}
	}
	r.report("lost or wrong: no state since %d explains %v", s.MinRevision, s.Events)
}

// checkEvents checks events after a known position.
func (r *checker) checkEvents(s WatchRequest, seen []harness.Event) {
	for i, g := range seen {
		switch g.Type {
		case watch.Bookmark:
			r.checkBookmark(s, g)
		case watch.Error:
			if i != len(seen)-1 {
				r.report("wrong: %v is not the end", g)
			}
			if g.Code != http.StatusGone || !slices.ContainsFunc(r.history.ForgottenAt, func(rev uint64) bool { return rev > r.position }) {
				r.report("unexpected %v at %d", g, r.position)
			}
			r.positionKnown = false
		default:
			r.checkEvent(g)
		}
	}
}

func (r *checker) checkBookmark(s WatchRequest, g harness.Event) {
	switch next, ok := r.history.nextEvent(r.position, r.log.Matches); {
	case !s.Bookmarks:
		r.report("unrequested %v", g)
	case g.InitialEventsEnd:
		r.report("wrong: %v does not end initial events", g)
	case ok && next.Revision <= g.Revision:
		r.report("early %v, before %v", g, next)
	case g.Revision < r.position:
		r.report("late %v, after %d", g, r.position)
	case g.Revision > r.history.End:
		r.report("early %v, the store is at %d", g, r.history.End)
	}
	r.position = max(r.position, g.Revision)
}

func (r *checker) checkEvent(g harness.Event) {
	switch want, ok := r.history.nextEvent(r.position, r.log.Matches); {
	case g.Revision <= r.position:
		r.report("repeated or out of order: %v after %d", g, r.position)
	case !ok || want.Revision > g.Revision:
		r.report("wrong: %v never happened", g)
	case want.Revision < g.Revision:
		r.report("lost: %v, before %v", want, g)
	case want.Type != g.Type || !want.Equal(g.Object):
		r.report("wrong: %v should be %v", g, want)
	}
	r.position = max(r.position, g.Revision)
}
