package watchguarantees

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// The tests of this file check the checker with a small history and the log of a watcher that
// matches app=x.

func newObject(key string, rev uint64, app, content string) harness.Object {
	return harness.Object{Key: key, Revision: rev, Labels: map[string]string{"app": app}, Content: app + " " + content}
}

// sampleWrites start at revision 10 with n/a and n/b, and end at 17.
func sampleWrites() (base []harness.Object, writes []Write) {
	base = []harness.Object{newObject("n/a", 8, "x", "0"), newObject("n/b", 9, "y", "0")}
	return base, []Write{
		{newObject("n/a", 11, "x", "1"), "Pod", "update"},
		{newObject("n/b", 12, "x", "1"), "Pod", "update"}, // starts to match
		{newObject("n/z", 13, "x", "0"), "Secret", "create"},
		{newObject("n/a", 14, "y", "2"), "Pod", "update"}, // stops to match
		{newObject("n/c", 15, "y", "0"), "Pod", "create"}, // never matches
		{newObject("n/b", 16, "x", "1"), "Pod", "delete"},
		{newObject("n/d", 17, "x", "0"), "Pod", "create"},
	}
}

func sampleHistory(t *testing.T) *History {
	base, writes := sampleWrites()
	history, violations := NewHistory("Pod", base, 10, 17, writes)
	require.Empty(t, violations)
	return history
}

func event(event watch.EventType, o harness.Object) harness.Event {
	return harness.Event{Type: event, Object: o}
}

func bookmark(rev uint64) harness.Event {
	return harness.Event{Type: watch.Bookmark, Object: harness.Object{Revision: rev}}
}

func initialEventsEnd(rev uint64) harness.Event {
	e := bookmark(rev)
	e.InitialEventsEnd = true
	return e
}

// validWatchLog returns a valid log: a request that starts with the state at 11, and one that
// resumes at 14.
func validWatchLog() WatchLog {
	return WatchLog{
		Name:    "watcher",
		Matches: func(o harness.Object) bool { return o.Labels["app"] == "x" },
		Requests: []WatchRequest{
			{Initial: true, Bookmarks: true, MinRevision: 10, ExactList: &[]harness.Object{newObject("n/a", 11, "x", "1")}, Events: []harness.Event{
				event(watch.Added, newObject("n/a", 11, "x", "1")), initialEventsEnd(11),
				event(watch.Added, newObject("n/b", 12, "x", "1")), bookmark(13),
				event(watch.Deleted, newObject("n/a", 14, "x", "1")),
			}},
			{From: 14, Bookmarks: true, Events: []harness.Event{
				bookmark(15),
				event(watch.Deleted, newObject("n/b", 16, "x", "1")),
				event(watch.Added, newObject("n/d", 17, "x", "0")), bookmark(17),
			}},
		},
	}
}

func TestCheckerAcceptsValidLogs(t *testing.T) {
	history := sampleHistory(t)
	require.Empty(t, history.Check(validWatchLog()))

	l := validWatchLog()
	l.Requests[0].Bookmarks, l.Requests[0].ExactList = false, nil // without bookmarks
	l.Requests[0].Events = slices.DeleteFunc(l.Requests[0].Events, func(e harness.Event) bool { return e.Type == watch.Bookmark })
	l.Requests[1].Initial, l.Requests[1].MinRevision = true, 10 // a second request with initial events
	l.Requests[1].Events = []harness.Event{initialEventsEnd(16), event(watch.Added, newObject("n/d", 17, "x", "0"))}
	require.Empty(t, history.Check(l))

	l.Requests[1].Bookmarks = false
	l.Requests[1].Events = []harness.Event{event(watch.Added, newObject("n/b", 12, "x", "1")), event(watch.Deleted, newObject("n/b", 16, "x", "1")), event(watch.Added, newObject("n/d", 17, "x", "0"))}
	require.Empty(t, history.Check(l))

	l = validWatchLog()
	l.Requests[0].Events = l.Requests[0].Events[:1] // the initial events are incomplete
	l.Requests = append(l.Requests[:1], validWatchLog().Requests...)
	require.Empty(t, history.Check(l))

	history.ForgottenAt = []uint64{15} // a 410 is valid once history was forgotten
	l = validWatchLog()
	l.Requests = []WatchRequest{{From: 10, Events: []harness.Event{{Type: watch.Error, Code: http.StatusGone}}}, l.Requests[0], l.Requests[1]}
	require.Empty(t, history.Check(l))
}

// TestCheckerRejectsInvalidLogs modifies one part of a valid log.
func TestCheckerRejectsInvalidLogs(t *testing.T) {
	tests := map[string]struct {
		modify func(first, second *WatchRequest)
		want   string
	}{
		"lost":                   {func(s, _ *WatchRequest) { s.Events = slices.Delete(s.Events, 2, 3) }, "early BOOKMARK 13"},
		"lost, without bookmark": {func(s, _ *WatchRequest) { s.Events = slices.Delete(s.Events, 2, 4) }, "lost: ADDED n/b@12"},
		"lost in between":        {func(s, r *WatchRequest) { s.Events, r.From = s.Events[:4], 13; r.Events = r.Events[1:] }, "lost: DELETED n/a@14"},
		"lost at the end":        {func(_, s *WatchRequest) { s.Events = s.Events[:2] }, "lost at the end: ADDED n/d@17"},
		"duplicated":             {func(_, s *WatchRequest) { s.Events = slices.Insert(s.Events, 2, s.Events[1]) }, "repeated or out of order: DELETED n/b@16"},
		"replayed":               {func(s, r *WatchRequest) { r.Events = slices.Insert(r.Events, 0, s.Events[4]) }, "repeated or out of order: DELETED n/a@14"},
		"reordered":              {func(_, s *WatchRequest) { s.Events[1], s.Events[2] = s.Events[2], s.Events[1] }, "repeated or out of order: DELETED n/b@16"},
		"early bookmark":         {func(s, _ *WatchRequest) { s.Events[2], s.Events[3] = s.Events[3], s.Events[2] }, "early BOOKMARK 13"},
		"bookmark ahead":         {func(_, s *WatchRequest) { s.Events[3] = bookmark(18) }, "the store is at 17"},
		"bookmark back":          {func(_, s *WatchRequest) { s.Events[0] = bookmark(13) }, "late BOOKMARK 13"},
		"unrequested bookmark":   {func(_, s *WatchRequest) { s.Bookmarks = false }, "unrequested BOOKMARK 15"},
		"second end":             {func(_, s *WatchRequest) { s.Events[0].InitialEventsEnd = true }, "does not end initial events"},
		"new leave content":      {func(s, _ *WatchRequest) { s.Events[4].Object = newObject("n/a", 14, "y", "2") }, "wrong: DELETED n/a@14 y 2 should be DELETED n/a@14 x 1"},
		"old leave revision":     {func(s, _ *WatchRequest) { s.Events[4].Revision = 11 }, "repeated or out of order: DELETED n/a@11"},
		"leave as change":        {func(s, _ *WatchRequest) { s.Events[4].Type = watch.Modified }, "wrong: MODIFIED n/a@14"},
		"enter as change":        {func(s, _ *WatchRequest) { s.Events[2].Type = watch.Modified }, "wrong: MODIFIED n/b@12"},
		"old content":            {func(_, s *WatchRequest) { s.Events[2].Content = "x 1" }, "wrong: ADDED n/d@17 x 1"},
		"unselected": {func(_, s *WatchRequest) {
			s.Events = slices.Insert(s.Events, 0, event(watch.Added, newObject("n/c", 15, "y", "0")))
		}, "never happened"},
		"initial too many": {func(s, _ *WatchRequest) {
			s.Events = slices.Insert(s.Events, 1, event(watch.Added, newObject("n/b", 9, "y", "0")))
		}, "wrong initial events: at 11"},
		"initial too few":    {func(s, _ *WatchRequest) { s.Events = s.Events[1:] }, "wrong initial events: at 11"},
		"initial from later": {func(s, _ *WatchRequest) { s.Events[1] = initialEventsEnd(12) }, "wrong initial events: at 12"},
		"initial stale":      {func(s, _ *WatchRequest) { s.MinRevision = 12 }, "they are of 11, the request was for 12 or later"},
		"initial partly wrong": {func(s, _ *WatchRequest) {
			s.Events = []harness.Event{event(watch.Added, newObject("n/a", 11, "x", "0"))}
		}, "no state since 10 begins with"},
		"initial unexplained":           {func(s, _ *WatchRequest) { s.Bookmarks, s.Events = false, s.Events[4:] }, "no state since 10 explains"},
		"list differs":                  {func(s, _ *WatchRequest) { s.ExactList = &[]harness.Object{} }, "wrong list: at 11"},
		"unexpected 410":                {func(_, s *WatchRequest) { s.Events = []harness.Event{{Type: watch.Error, Code: 410}} }, "unexpected ERROR 410"},
		"other error":                   {func(_, s *WatchRequest) { s.Events = []harness.Event{{Type: watch.Error, Code: 500}} }, "unexpected ERROR 500"},
		"resumed from another revision": {func(_, s *WatchRequest) { s.From = 13 }, "wrongly resumed from 13"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := validWatchLog()
			tt.modify(&l.Requests[0], &l.Requests[1])
			require.Contains(t, strings.Join(sampleHistory(t).Check(l), "\n"), tt.want)
		})
	}
}

// TestHistoryRejectsInvalidWrites modifies one of the writes.
func TestHistoryRejectsInvalidWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		modify func(writes []Write) []Write
		want   string
	}{
		"shared revision":          {func(w []Write) []Write { w[3].Revision = 13; return w }, "shared revision"},
		"from before the start":    {func(w []Write) []Write { w[0].Revision = 10; return w }, "impossible revision"},
		"created twice":            {func(w []Write) []Write { w[0].Verb = "create"; return w }, "inconsistent: create of n/a@11"},
		"updated a missing object": {func(w []Write) []Write { w[6].Verb = "update"; return w }, "inconsistent: update of n/d@17"},
		"wrong answer":             {func(w []Write) []Write { w[5].Content = "y 0"; return w }, "inconsistent: the response to a delete"},
		"missing write":            {func(w []Write) []Write { return slices.Delete(w, 4, 5) }, "wrong number of writes: 6 from revision 10 to 17"},
	} {
		t.Run(name, func(t *testing.T) {
			base, writes := sampleWrites()
			_, violations := NewHistory("Pod", base, 10, 17, tt.modify(writes))
			require.Contains(t, strings.Join(violations, "\n"), tt.want)
		})
	}
}
