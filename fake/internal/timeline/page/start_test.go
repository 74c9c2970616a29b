package page_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func request(seq uint64, ms int, method, verb, path string, code int, version string) timeline.Exchange {
	return timeline.Exchange{
		Seq: seq, Order: seq, Begin: after(ms), End: after(ms + 1), UserAgent: "c", Method: method, Verb: verb, Path: path,
		StatusCode: code, ResourceVersion: version,
	}
}

// An event that a new watch sends about an earlier write is right of the request of the watch, also
// if both are within the time in which an event shares the column of its write.
func TestPageOrdersWatchBeforeItsEvents(t *testing.T) {
	const pod = "/api/v1/namespaces/default/pods/a"
	tl := timeline.Timeline{Begin: start, End: after(100), Exchanges: []timeline.Exchange{
		watching(1, "early", after(0), time.Time{}, "/api/v1/pods?watch=1", frame(after(11), "ADDED", "a", "5")),
		request(2, 10, "PUT", "update", pod, 200, "5"),
		request(3, 12, "PUT", "update", pod, 200, "6"),
		watching(4, "late", after(20), time.Time{}, "/api/v1/pods?watch=1&resourceVersion=4", frame(after(21), "ADDED", "a", "5"), frame(after(21), "MODIFIED", "a", "6")),
	}}
	data := render(t, tl, "x").data()
	inOrder(t, data)
	write := data.find(t, "c: update", "Version 5")
	require.Equal(t, write.Column, data.find(t, "ADDED", "watched by early").Column)
	begin := data.find(t, "late: watch").Column
	require.Greater(t, data.find(t, "ADDED", "watched by late").Column, begin)
	require.Greater(t, data.find(t, "MODIFIED", "watched by late").Column, begin)
	require.Equal(t, write.Group, data.find(t, "ADDED", "watched by late").Group, "it is still the event of the write")
}

// The page starts at the first fault, or else at the worst error, and not at an error that clients
// expect.
func TestPageStart(t *testing.T) {
	const pod = "/api/v1/namespaces/default/pods/a"
	ok := request(1, 0, "GET", "list", "/api/v1/pods", 200, "1")
	absent := request(2, 1, "GET", "get", pod, 404, "")
	update := request(3, 2, "PUT", "update", pod, 404, "")
	conflict := request(4, 3, "PUT", "update", pod, 409, "")
	broken := request(5, 4, "GET", "get", pod, 500, "")
	noNamespace := request(6, 5, "POST", "create", "/api/v1/namespaces/x/pods", 404, "")
	rule, err := faults.Parse("lost: when event(ADDED) do drop")
	require.NoError(t, err)
	hit := faults.Hit{Time: after(30), Rule: rule, Op: faults.Op{Phase: faults.Before, Verb: "get", Path: pod, UserAgent: "c"}}
	notApplied := hit
	notApplied.Time, notApplied.NotApplied = after(20), "the client had gone"
	failed := timeline.Note{Time: after(40), Source: "scenario", Text: "expected a\nsaw b", Failed: true}
	step := timeline.Note{Time: after(0), Source: "scenario", Text: "apply a.yaml"}
	for _, test := range []struct {
		name      string
		exchanges []timeline.Exchange
		hits      []faults.Hit
		notes     []timeline.Note
		start     string
		open      bool
	}{
		{"nothing", []timeline.Exchange{ok}, nil, nil, "c: list", false},
		{"step", []timeline.Exchange{ok}, nil, []timeline.Note{step}, "scenario: apply a.yaml, at +0s", false},
		{"expected", []timeline.Exchange{ok, absent, update}, nil, nil, "c: get pods default/a, 404", false},
		{"conflict", []timeline.Exchange{ok, absent, update, conflict}, nil, nil, "409", false},
		{"no namespace", []timeline.Exchange{absent, noNamespace}, nil, nil, "c: create", false},
		{"server error", []timeline.Exchange{absent, conflict, broken}, nil, nil, "500", true},
		{"failed step", []timeline.Exchange{absent, broken}, nil, []timeline.Note{step, failed}, "scenario failed: expected a, at +40ms", true},
		{"fault that was not applied", []timeline.Exchange{absent, conflict}, []faults.Hit{notApplied}, nil, "409", false},
		{"fault", []timeline.Exchange{absent, broken}, []faults.Hit{notApplied, hit}, []timeline.Note{failed}, "fault lost hit", true},
	} {
		data := render(t, timeline.Timeline{Begin: start, End: after(50), Exchanges: test.exchanges, Hits: test.hits, Notes: test.notes}, "x").data()
		require.Contains(t, data.Marks[data.Start].Text, test.start, test.name)
		require.Equal(t, test.open, data.Open, test.name)
	}
	empty := render(t, timeline.Timeline{Begin: start, End: start}, "x").data()
	require.Equal(t, -1, empty.Start)
	require.False(t, empty.Open)
}

// Notes have lanes above those of clients, in the order of time with the requests. The lane of a
// watch without events is marked.
func TestPageNotes(t *testing.T) {
	tl := timeline.Timeline{
		Begin: start, End: after(50),
		Exchanges: []timeline.Exchange{
			request(1, 0, "GET", "list", "/api/v1/pods", 200, "1"),
			watching(3, "scenario", after(10), time.Time{}, "/api/v1/pods?watch=1"),
		},
		Notes: []timeline.Note{
			{Time: after(10), Order: 2, Source: "scenario", Text: "create a.yaml"},
			{Time: after(20), Order: 4, Source: "server", Text: "Compact"},
			{Time: after(30), Order: 5, Source: "scenario", Text: "expected a\nsaw b", Failed: true},
		},
	}
	page := render(t, tl, "x")
	data := page.data()
	inOrder(t, data)
	var labels []string
	for _, l := range data.Lanes {
		labels = append(labels, l.Label)
		require.Equal(t, len(labels) <= 2, l.Notes)
		require.Equal(t, len(labels) == 5, l.Empty, l.Label)
	}
	require.Equal(t, []string{"steps of the scenario", "actions on the server", "c", "scenario", "pods"}, labels)
	var texts []string
	for _, m := range data.Marks {
		texts = append(texts, m.Shape)
	}
	require.Equal(t, []string{"read", "note", "read", "note", "failed"}, texts)
	require.Equal(t, "expected a\nsaw b", page.body(data.Marks[4].Answer).Text)
	require.Equal(t, `   +0.000s #1 c list /api/v1/pods -> 200 rv=1 in 1ms
   +0.010s   * scenario: create a.yaml
   +0.010s #3 scenario watch /api/v1/pods?watch=1 -> 200 open
   +0.020s   * server: Compact
   +0.030s   * scenario failed: expected a
`, tl.String())
}
