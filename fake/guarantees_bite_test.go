package fakeapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

// The checker of guarantees_check_test.go is fed with a small history, of which
// a watcher selects what has the app x.

func aThing(key string, rev uint64, app, content string) thing {
	return thing{key: key, rev: rev, labels: map[string]string{"app": app}, content: app + " " + content}
}

// smallLog begins with n/a and n/b at 10 and ends at 17.
func smallLog() (base []thing, writes []write) {
	base = []thing{aThing("n/a", 8, "x", "0"), aThing("n/b", 9, "y", "0")}
	return base, []write{
		{aThing("n/a", 11, "x", "1"), "Pod", "update"},
		{aThing("n/b", 12, "x", "1"), "Pod", "update"}, // begins to match
		{aThing("n/z", 13, "x", "0"), "Secret", "create"},
		{aThing("n/a", 14, "y", "2"), "Pod", "update"}, // ceases to
		{aThing("n/c", 15, "y", "0"), "Pod", "create"}, // never matches
		{aThing("n/b", 16, "x", "1"), "Pod", "delete"},
		{aThing("n/d", 17, "x", "0"), "Pod", "create"},
	}
}

func smallChronicle(t *testing.T) *chronicle {
	base, writes := smallLog()
	c, complaints := newChronicle("Pod", base, 10, 17, writes)
	require.Empty(t, complaints)
	return c
}

func at(event watch.EventType, o thing) glimpse { return glimpse{event: event, thing: o} }

func mark(rev uint64) glimpse { return glimpse{event: watch.Bookmark, thing: thing{rev: rev}} }

func end(rev uint64) glimpse {
	g := mark(rev)
	g.ends = true
	return g
}

// trueLife is what the watcher must see: a first request that begins with the
// state at 11, and one that resumes at 14.
func trueLife() life {
	return life{
		name:    "watcher",
		selects: func(o thing) bool { return o.labels["app"] == "x" },
		spans: []span{
			{initial: true, bookmarks: true, atLeast: 10, exact: &[]thing{aThing("n/a", 11, "x", "1")}, seen: []glimpse{
				at(watch.Added, aThing("n/a", 11, "x", "1")), end(11),
				at(watch.Added, aThing("n/b", 12, "x", "1")), mark(13),
				at(watch.Deleted, aThing("n/a", 14, "x", "1")),
			}},
			{from: 14, bookmarks: true, seen: []glimpse{
				mark(15),
				at(watch.Deleted, aThing("n/b", 16, "x", "1")),
				at(watch.Added, aThing("n/d", 17, "x", "0")), mark(17),
			}},
		},
	}
}

func TestCheckerAcceptsTheTruth(t *testing.T) {
	c := smallChronicle(t)
	require.Empty(t, c.check(trueLife()))

	l := trueLife()
	l.spans[0].bookmarks, l.spans[0].exact = false, nil // the same without marks,
	l.spans[0].seen = slices.DeleteFunc(l.spans[0].seen, func(g glimpse) bool { return g.event == watch.Bookmark })
	l.spans[1].initial, l.spans[1].atLeast = true, 10 // after which it begins anew
	l.spans[1].seen = []glimpse{end(16), at(watch.Added, aThing("n/d", 17, "x", "0"))}
	require.Empty(t, c.check(l))

	l.spans[1].bookmarks = false
	l.spans[1].seen = []glimpse{at(watch.Added, aThing("n/b", 12, "x", "1")), at(watch.Deleted, aThing("n/b", 16, "x", "1")), at(watch.Added, aThing("n/d", 17, "x", "0"))}
	require.Empty(t, c.check(l))

	l = trueLife()
	l.spans[0].seen = l.spans[0].seen[:1] // cut off in its initial events
	l.spans = append(l.spans[:1], trueLife().spans...)
	require.Empty(t, c.check(l))

	c.expired = []uint64{15} // a history that is gone is no lie
	l = trueLife()
	l.spans = []span{{from: 10, seen: []glimpse{{event: watch.Error, code: http.StatusGone}}}, l.spans[0], l.spans[1]}
	require.Empty(t, c.check(l))
}

// Whatever is doctored about a true life is complained of, by its name.
func TestCheckerBites(t *testing.T) {
	tests := map[string]struct {
		doctor func(first, second *span)
		want   string
	}{
		"lost":               {func(s, _ *span) { s.seen = slices.Delete(s.seen, 2, 3) }, "early BOOKMARK 13"},
		"lost, unmarked":     {func(s, _ *span) { s.seen = slices.Delete(s.seen, 2, 4) }, "lost: ADDED n/b@12"},
		"lost in between":    {func(s, r *span) { s.seen, r.from = s.seen[:4], 13; r.seen = r.seen[1:] }, "lost: DELETED n/a@14"},
		"lost at the end":    {func(_, s *span) { s.seen = s.seen[:2] }, "lost at the end: ADDED n/d@17"},
		"duplicated":         {func(_, s *span) { s.seen = slices.Insert(s.seen, 2, s.seen[1]) }, "repeated or out of order: DELETED n/b@16"},
		"replayed":           {func(s, r *span) { r.seen = slices.Insert(r.seen, 0, s.seen[4]) }, "repeated or out of order: DELETED n/a@14"},
		"reordered":          {func(_, s *span) { s.seen[1], s.seen[2] = s.seen[2], s.seen[1] }, "repeated or out of order: DELETED n/b@16"},
		"early bookmark":     {func(s, _ *span) { s.seen[2], s.seen[3] = s.seen[3], s.seen[2] }, "early BOOKMARK 13"},
		"bookmark ahead":     {func(_, s *span) { s.seen[3] = mark(18) }, "the store is at 17"},
		"bookmark back":      {func(_, s *span) { s.seen[0] = mark(13) }, "late BOOKMARK 13"},
		"bookmark unasked":   {func(_, s *span) { s.bookmarks = false }, "unasked BOOKMARK 15"},
		"second end":         {func(_, s *span) { s.seen[0].ends = true }, "ends nothing"},
		"new leave content":  {func(s, _ *span) { s.seen[4].thing = aThing("n/a", 14, "y", "2") }, "wrong: DELETED n/a@14 y 2 should be DELETED n/a@14 x 1"},
		"old leave revision": {func(s, _ *span) { s.seen[4].rev = 11 }, "repeated or out of order: DELETED n/a@11"},
		"leave as change":    {func(s, _ *span) { s.seen[4].event = watch.Modified }, "wrong: MODIFIED n/a@14"},
		"enter as change":    {func(s, _ *span) { s.seen[2].event = watch.Modified }, "wrong: MODIFIED n/b@12"},
		"old content":        {func(_, s *span) { s.seen[2].content = "x 1" }, "wrong: ADDED n/d@17 x 1"},
		"unselected":         {func(_, s *span) { s.seen = slices.Insert(s.seen, 0, at(watch.Added, aThing("n/c", 15, "y", "0"))) }, "never happened"},
		"initial too many": {func(s, _ *span) {
			s.seen = slices.Insert(s.seen, 1, at(watch.Added, aThing("n/b", 9, "y", "0")))
		}, "wrong initial events: at 11"},
		"initial too few":      {func(s, _ *span) { s.seen = s.seen[1:] }, "wrong initial events: at 11"},
		"initial from later":   {func(s, _ *span) { s.seen[1] = end(12) }, "wrong initial events: at 12"},
		"initial stale":        {func(s, _ *span) { s.atLeast = 12 }, "they are of 11, asked for was 12"},
		"initial partly wrong": {func(s, _ *span) { s.seen = []glimpse{at(watch.Added, aThing("n/a", 11, "x", "0"))} }, "no state since 10 begins with"},
		"initial unexplained":  {func(s, _ *span) { s.bookmarks, s.seen = false, s.seen[4:] }, "no state since 10 explains"},
		"list differs":         {func(s, _ *span) { s.exact = &[]thing{} }, "wrong list: at 11"},
		"undeserved 410":       {func(_, s *span) { s.seen = []glimpse{{event: watch.Error, code: 410}} }, "undeserved ERROR 410"},
		"other error":          {func(_, s *span) { s.seen = []glimpse{{event: watch.Error, code: 500}} }, "undeserved ERROR 500"},
		"resumed elsewhere":    {func(_, s *span) { s.from = 13 }, "wrongly resumed from 13"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := trueLife()
			tt.doctor(&l.spans[0], &l.spans[1])
			require.Contains(t, strings.Join(smallChronicle(t).check(l), "\n"), tt.want)
		})
	}
}

// The logs of the writers must make sense themselves.
func TestCheckerBitesWriters(t *testing.T) {
	for name, tt := range map[string]struct {
		doctor func(writes []write) []write
		want   string
	}{
		"shared revision": {func(w []write) []write { w[3].rev = 13; return w }, "shared revision"},
		"from the past":   {func(w []write) []write { w[0].rev = 10; return w }, "impossible revision"},
		"created twice":   {func(w []write) []write { w[0].verb = "create"; return w }, "incoherent: create of n/a@11"},
		"updated nothing": {func(w []write) []write { w[6].verb = "update"; return w }, "incoherent: update of n/d@17"},
		"wrong answer":    {func(w []write) []write { w[5].content = "y 0"; return w }, "incoherent: the answer to a delete"},
		"secret write":    {func(w []write) []write { return slices.Delete(w, 4, 5) }, "uncounted: 6 writes brought the store from 10 to 17"},
	} {
		t.Run(name, func(t *testing.T) {
			base, writes := smallLog()
			_, complaints := newChronicle("Pod", base, 10, 17, tt.doctor(writes))
			require.Contains(t, strings.Join(complaints, "\n"), tt.want)
		})
	}
}
