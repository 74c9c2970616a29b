package faults_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// TestInvalidFrames tests that frames that are not events are passed on.
func TestInvalidFrames(t *testing.T) {
	const drop = "when during(stream) do drop"
	odd := "\n{\n{}\nnull\n<html>\n"
	a := newClosedAPI(odd, `{"type":"ADDED","object":{"metadata":{"name":7}}}`+"\n", podA)
	rest, err := newTestServer(t, a, drop).watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, odd, rest)

	odd = "\x00\x00\x00\x00" + "\x00\x00\x00\x01\xff" + protobufEvent("", "a", "ns", nil)
	a = newClosedAPI(odd, protobufEvent("ADDED", "a", "ns", nil))
	rest, err = newTestServer(t, asProtobuf(a), drop).watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, odd, rest)
}

// TestTableFrames tests that the frame of a Table has the name of its row, and another object its
// own name.
func TestTableFrames(t *testing.T) {
	row := strings.Replace(podA, `"object":{"kind":"Pod","apiVersion":"v1",`, `"object":{"kind":"Table","rows":[{"object":{`, 1)
	row = strings.Replace(row, "}}}\n", "}}}]}}\n", 1)
	custom := strings.Replace(podB, `"metadata"`, `"rows":[{"object":{"metadata":{"name":"a"}}}],"metadata"`, 1)
	a := newClosedAPI(row, podB, custom)
	rest, err := newTestServer(t, a, "when event(ADDED) && name(a) do drop").watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, podB+custom, rest)
}

// TestOnlyBookmarksEndInitialEvents tests an object with the annotation of the bookmark.
func TestOnlyBookmarksEndInitialEvents(t *testing.T) {
	object := strings.Replace(initialEventsEndEvent, "BOOKMARK", "ADDED", 1)
	a := newClosedAPI(object, initialEventsEndEvent)
	rest, err := newTestServer(t, a, "when initialEventsEnd do drop").watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, object, rest)
}

// TestFramesOfAllNamespaces tests that frames have the namespaces and names of their objects, which
// a watch of all namespaces does not have.
func TestFramesOfAllNamespaces(t *testing.T) {
	for condition, want := range map[string]string{
		"namespace(ns)":             bookmark,
		"name(a)":                   podB + bookmark,
		"namespace(ns) && name(b)":  podA + bookmark,
		"namespace(other, kube-*)":  podA + podB + bookmark,
		"!namespace(ns) && name(*)": podA + podB + bookmark,
	} {
		var set faults.Set
		_, err := set.AddText("when during(stream) && " + condition + " do drop")
		require.NoError(t, err)
		w := httptest.NewRecorder()
		faults.Handler(&set, newClosedAPI(podA, podB, bookmark)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=1", nil))
		require.Equal(t, want, w.Body.String(), condition)
	}
}

// TestUnreadableWatch tests frames in an unsupported encoding: they are rejected if a rule could
// match them, and passed on otherwise.
func TestUnreadableWatch(t *testing.T) {
	odd := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-frames")
		_, _ = io.WriteString(w, "\xa1frames")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	s := newTestServer(t, odd, "strict: when event(ADDED) do drop")
	w := s.watch("")
	require.Equal(t, 500, w.resp.StatusCode)
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Contains(t, rest, "rules of this server act on watch frames (strict), and frames of \\\"application/x-frames\\\" cannot be read")

	s = newTestServer(t, odd, "when verb(list) do hang", "when verb(watch) && resource(nodes) && during(stream) do hang")
	w = s.watch("")
	got := make([]byte, 7)
	_, err = io.ReadFull(w.r, got)
	require.NoError(t, err)
	require.Equal(t, "\xa1frames", string(got))

	for encoding, want := range map[string]string{"gzip": `frames of \"application/json in gzip\" cannot be read`, "identity": podB} {
		encoded := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", encoding)
			_ = http.NewResponseController(w).Flush() // writes the header
			_, _ = io.WriteString(w, podA+podB)
		})
		rest, err := newTestServer(t, encoded, "when event(ADDED) && name(a) do drop").watch("").readAll()
		require.NoError(t, err)
		require.Contains(t, rest, want)
		require.NotContains(t, rest, podA)
	}
}

func TestRuleAddedToUnreadableWatch(t *testing.T) {
	more := make(chan string)
	srv := newTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-frames")
		for s := range more {
			_, _ = io.WriteString(w, s)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	go func() { more <- "one" }()
	w := srv.watch("")
	srv.add("late: when event(ADDED) do drop")
	more <- "two"
	more <- "three"
	close(more)
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Equal(t, "onetwothree", rest)
	require.Len(t, srv.set.Hits(), 1, "one hit for each rule")
	require.Equal(t, "late: stream watch pods in ns: drop [not applied: frames of application/x-frames cannot be read]",
		srv.set.Hits()[0].String())
}
