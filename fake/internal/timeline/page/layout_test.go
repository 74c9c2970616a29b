package page_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

// A write and its event share a column, also if everything happens at one instant. So does a fault
// that dropped the event.
func TestPageLinksWritesToEvents(t *testing.T) {
	data := render(t, newOutageTimeline(t), "x").data()
	for _, pair := range [][2][]string{
		{{"editor", "create configmaps default/web", "201 Created"}, {"ADDED", "default/web", "+10s"}},
		{{"scaler", "update configmaps default/web", "200 OK"}, {"MODIFIED, configmaps default/web"}},
		{{"scaler", "update configmaps default/db", "200 OK"}, {"fault lost-event hit"}},
		{{"scaler", "delete configmaps default/api"}, {"DELETED"}},
		{{"editor", "create configmaps default/cache", "no answer"}, {"ADDED", "default/cache", "+10.12s"}},
		{{"editor", "create configmaps default/late"}, {"ADDED", "default/late"}},
	} {
		write, event := data.find(t, pair[0]...), data.find(t, pair[1]...)
		require.NotEmpty(t, write.Group, pair)
		require.Equal(t, write.Group, event.Group, pair)
		require.Equal(t, write.Column, event.Column, pair)
		require.NotEqual(t, write.Lane, event.Lane)
	}
	// The relist contains the same version again, much later.
	again := data.find(t, "ADDED", "configmaps default/db", "resourceVersion 1010")
	require.Equal(t, data.find(t, "fault lost-event hit").Group, again.Group)
	require.Greater(t, again.Column, data.find(t, "fault lost-event hit").Column)
}

func TestPageMatchesFaults(t *testing.T) {
	tl := newOutageTimeline(t)
	require.Len(t, tl.Hits, 5)
	data := render(t, tl, "x").data()
	for name, words := range map[string][]string{
		"slow-start": {"watch configmaps", "504 Gateway Timeout"},
		"lost-reply": {"create configmaps default/cache", "no answer"},
		"lost-event": {"fault lost-event hit watch configmaps MODIFIED db"},
		"cut":        {"fault cut hit watch configmaps BOOKMARK"},
		"expired":    {"watch configmaps", "410 Gone"},
	} {
		m := data.find(t, words...)
		require.Len(t, m.Hits, 1, name)
		require.Equal(t, name, data.Hits[m.Hits[0]].Name)
		require.Contains(t, m.Text, name)
	}
}

// The consecutive watches of an informer share a lane, below that of its requests.
func TestPageLanes(t *testing.T) {
	data := render(t, newOutageTimeline(t), "x").data()
	var labels []string
	for _, l := range data.Lanes {
		labels = append(labels, l.Label)
	}
	require.Equal(t, []string{"informer/v1.4.0", "configmaps", "editor/v2.0.1", "scaler/v0.9.0"}, labels)
	require.GreaterOrEqual(t, len(data.Spans), 2)
	for _, s := range data.Spans {
		require.Equal(t, 1, s.Lane)
		require.LessOrEqual(t, s.From, s.Until)
	}
	inOrder(t, data)
}

// inOrder fails unless each column of each lane has at most one mark.
func inOrder(t *testing.T, data decodedPage) {
	t.Helper()
	last := map[int]int{}
	for _, m := range data.Marks {
		before, ok := last[m.Lane]
		require.True(t, !ok || before < m.Column, "%s", m.Text)
		last[m.Lane] = m.Column
	}
}

func watching(seq uint64, client string, begin, end time.Time, path string, frames ...timeline.Frame) timeline.Exchange {
	return timeline.Exchange{Seq: seq, Order: seq, Begin: begin, End: end, UserAgent: client, Method: "GET", Verb: "watch", Path: path, StatusCode: 200, Frames: frames}
}

func frame(at time.Time, kind, name, version string) timeline.Frame {
	return timeline.Frame{Time: at, Order: 1000, Type: kind, Namespace: "default", Name: name, ResourceVersion: version}
}

// Concurrent watches of one client have their own lanes, and so do clients whose user agents begin
// alike.
func TestPageLanesOfConcurrentWatches(t *testing.T) {
	path := "/api/v1/pods?watch=1&labelSelector=a%3Db"
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	data := render(t, timeline.Timeline{Begin: start, End: at(60), Exchanges: []timeline.Exchange{
		watching(1, "c/1 x", at(0), at(10), path),
		watching(2, "c/1 x", at(5), time.Time{}, path+"&resourceVersion=9"),
		watching(3, "c/1 x", at(10), at(20), path),
		watching(4, "c/1 y", at(11), at(20), path),
	}}, "x").data()
	var labels []string
	for _, l := range data.Lanes {
		labels = append(labels, l.Label)
	}
	require.Equal(t, []string{"c/1 x", "pods where a=b", "pods where a=b", "c/1 y", "pods where a=b"}, labels)
	require.Equal(t, []int{1, 2, 1, 4}, []int{data.Spans[0].Lane, data.Spans[1].Lane, data.Spans[2].Lane, data.Spans[3].Lane})
}

// A late event does not share the column of its write. Marks of a lane are in order.
func TestPageOrder(t *testing.T) {
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	write := func(seq uint64, ms int, version string) timeline.Exchange {
		return timeline.Exchange{
			Seq: seq, Order: seq, Begin: at(ms), End: at(ms + 1), UserAgent: "w", Method: "PUT", Verb: "update",
			Path: "/api/v1/namespaces/default/pods/a", StatusCode: 200, ResourceVersion: version,
		}
	}
	tl := timeline.Timeline{Begin: start, End: at(60000), Exchanges: []timeline.Exchange{
		watching(1, "quick", at(0), time.Time{}, "/api/v1/pods?watch=1", frame(at(13), "MODIFIED", "a", "5"), frame(at(20), "MODIFIED", "a", "6")),
		watching(2, "slow", at(0), time.Time{}, "/api/v1/pods?watch=1", frame(at(5000), "MODIFIED", "a", "5"), frame(at(5000), "MODIFIED", "a", "6")),
		watching(3, "confused", at(0), time.Time{}, "/api/v1/pods?watch=1", frame(at(20), "MODIFIED", "a", "6"), frame(at(20), "MODIFIED", "a", "5")),
		write(4, 10, "5"), write(5, 20, "6"),
	}}
	data := render(t, tl, "x").data()
	inOrder(t, data)
	first, second := data.find(t, "w: update", "resourceVersion 5"), data.find(t, "w: update", "resourceVersion 6")
	column := func(client, version string) int { return data.find(t, "MODIFIED", client, "Version "+version).Column }
	require.Equal(t, []int{first.Column, second.Column}, []int{column("quick", "5"), column("quick", "6")})
	require.Greater(t, column("slow", "5"), second.Column)
	require.Equal(t, second.Column, column("confused", "6"))
	require.Greater(t, column("confused", "5"), second.Column)
}

func TestPageMatchesFaultsOfSimilarRequests(t *testing.T) {
	rule, err := faults.Parse(`busy: when verb(get) do delay(1s)`)
	require.NoError(t, err)
	late, err := faults.Parse(`late: when event(ADDED) do delay(1s)`)
	require.NoError(t, err)
	gone, err := faults.Parse(`gone: when event(ADDED) do drop`)
	require.NoError(t, err)
	get := func(seq uint64, client, path string, begin, end time.Duration) timeline.Exchange {
		return timeline.Exchange{Seq: seq, Begin: start.Add(begin), End: start.Add(end), UserAgent: client, Method: "GET", Verb: "get", Path: path, StatusCode: 200}
	}
	hit := func(rule faults.Rule, phase faults.Phase, verb, client, path string, query url.Values, at time.Duration) faults.Hit {
		op := faults.Op{Phase: phase, Verb: verb, Resource: "pods", Path: path, UserAgent: client, Query: query}
		if phase == faults.Stream {
			op.Event, op.Name, op.Namespace = watch.Added, "a", "default"
		}
		return faults.Hit{Time: start.Add(at), Rule: rule, Op: op}
	}
	const a = "/api/v1/namespaces/default/pods/a"
	tl := timeline.Timeline{
		Begin: start, End: start.Add(time.Minute),
		Exchanges: []timeline.Exchange{
			get(1, "one", a, 0, 2*time.Second),
			get(2, "two", a, 0, 2*time.Second),
			get(3, "one", a, 0, 2*time.Second),
			get(4, "one", a+"?pretty=1", 0, 2*time.Second),
			get(5, "one", a, 5*time.Second, 7*time.Second),
			watching(6, "one", start, time.Time{}, "/api/v1/pods?watch=1", frame(start.Add(time.Second), "ADDED", "b", "1"), frame(start.Add(2*time.Second), "ADDED", "a", "2")),
		},
		Hits: []faults.Hit{
			hit(rule, faults.Before, "get", "one", a, nil, 0),
			hit(rule, faults.Before, "get", "one", a, nil, 0),
			hit(rule, faults.Before, "get", "one", a, url.Values{"pretty": {"1"}}, 0),
			hit(rule, faults.Before, "get", "one", a, nil, 6*time.Second),
			hit(late, faults.Stream, "watch", "one", "/api/v1/pods", url.Values{"watch": {"1"}}, time.Second),
			hit(rule, faults.Before, "get", "absent", a, nil, 0),
			hit(gone, faults.Stream, "watch", "one", "/api/v1/pods", url.Values{"watch": {"1"}}, time.Second),
		},
	}
	tl.Hits[3].NotApplied = "the answer was gone"
	data := render(t, tl, "x").data()
	got := map[int][]int{}
	for _, m := range data.Marks {
		if m.Hits != nil && m.Exchange >= 0 && m.Exchange < 5 {
			got[m.Exchange] = m.Hits
		}
	}
	require.Equal(t, map[int][]int{0: {0}, 2: {1}, 3: {2}, 4: {3}}, got)
	require.Contains(t, data.find(t, "one: get", "+5s").Text, "fault busy not applied")
	require.Equal(t, []int{4}, data.find(t, "ADDED", "default/a").Hits, "the frame was sent, late")
	require.Equal(t, []int{6}, data.find(t, "fault gone hit watch pods").Hits, "no later frame is the one that was dropped")
	unplaced := data.find(t, "fault busy hit get pods")
	require.Equal(t, -1, unplaced.Exchange, "its request is not remembered")
	require.Equal(t, "absent", data.Lanes[unplaced.Lane].Client)
}

// A hit on a call of a webhook is at the request that caused the call. If that is not known, as for
// a conversion, it has a mark of its own.
func TestHitsOfWebhooks(t *testing.T) {
	rule, err := faults.Parse("down: when webhook(*) do reset")
	require.NoError(t, err)
	const path = "/api/v1/namespaces/default/pods"
	tl := timeline.Timeline{
		Begin: start, End: start.Add(time.Minute),
		Exchanges: []timeline.Exchange{
			{Seq: 1, Begin: start, End: start.Add(2 * time.Second), UserAgent: "one", Method: "POST", Verb: "create", Path: path, StatusCode: 500},
		},
		Hits: []faults.Hit{
			{Time: start.Add(time.Second), Rule: rule, Op: faults.Op{Webhook: "pods.example.com", Verb: "create", Resource: "pods", Namespace: "default", Path: path, UserAgent: "one"}},
			{Time: start.Add(time.Second), Rule: rule, Op: faults.Op{Webhook: "widgets.example.com"}},
		},
	}
	data := render(t, tl, "x").data()
	require.Equal(t, []int{0}, data.find(t, "one: create", "fault down hit").Hits)
	conversion := data.find(t, "fault down hit webhook widgets.example.com")
	require.Equal(t, -1, conversion.Exchange)
	require.Equal(t, []int{1}, conversion.Hits)
}
