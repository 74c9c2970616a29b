package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/faults"
)

// staticHandler returns a handler with the same response to all requests.
func staticHandler(contentType, body string, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, body)
	})
}

const podList = `{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"abc","remainingItemCount":3},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}` + "\n"

// asProtobuf changes the Content-Type of a handler to protobuf.
func asProtobuf(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(contentType{w, "application/vnd.kubernetes.protobuf;stream=watch"}, r)
	})
}

func TestEditList(t *testing.T) {
	for do, want := range map[string]string{
		`remove(/metadata/continue)`:                                      strings.Replace(podList, `"continue":"abc",`, "", 1),
		`remove(/metadata/remainingItemCount)`:                            strings.Replace(podList, `,"remainingItemCount":3`, "", 1),
		`set(/items, json(null))`:                                         podList[:strings.Index(podList, `[{`)] + "null}\n",
		`remove(/items/0), set(/metadata/remainingItemCount, json("-1"))`: strings.NewReplacer(`{"metadata":{"name":"a"}},`, "", ":3", ":-1").Replace(podList),
	} {
		for _, length := range []string{"", strconv.Itoa(len(podList))} {
			s := newTestServer(t, staticHandler("application/json", podList, "Content-Length", length), "when verb(list) do "+do)
			resp, body := s.get(pods)
			require.Equal(t, 200, resp.StatusCode)
			require.Equal(t, want, body)
			require.Empty(t, s.set.Hits()[0].NotApplied)
		}
	}
}

// TestEditCompressedList tests that compressed bodies are edited. Go's client asks for gzip.
func TestEditCompressedList(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, podList)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s := newTestServer(t, staticHandler("application/json", packed.String(), "Content-Encoding", "gzip"), "when verb(list) do remove(/metadata/continue)")
	_, body := s.get(pods)
	require.Equal(t, strings.Replace(podList, `"continue":"abc",`, "", 1), body)

	for encoding, why := range map[string]string{"zstd": "a body in zstd cannot be read", "gzip": "the body is not valid gzip"} {
		s := newTestServer(t, staticHandler("application/json", podList, "Content-Encoding", encoding), "when verb(list) do remove(/metadata/continue)")
		resp, body := s.get(pods)
		require.Equal(t, 500, resp.StatusCode)
		require.Contains(t, body, why)
	}
}

// TestEditNotApplied tests that the response and the hit have the reason.
func TestEditNotApplied(t *testing.T) {
	s := newTestServer(t, staticHandler("text/plain", "ok"), "odd: when path(/healthz) do set(/a, b)")
	resp, body := s.get("/healthz")
	require.Equal(t, 500, resp.StatusCode)
	require.Equal(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: the effect set(/a, b) cannot be applied: `+
		`a body of \"text/plain\" cannot be edited","reason":"InternalError","details":{"causes":[{"message":"the effect set(/a, b) cannot be applied: `+
		`a body of \"text/plain\" cannot be edited"}]},"code":500}`+"\n", body)
	require.Equal(t, `odd: committed request /healthz: set(/a, b) [not applied: a body of "text/plain" cannot be edited]`, s.set.Hits()[0].String())

	s = newTestServer(t, asProtobuf(newAPI(protobufEvent("ADDED", "x", "ns", nil))), "when event(ADDED) do set(/object/spec/nodeName, n)")
	rest, err := s.watch("").readAll()
	require.NoError(t, err)
	var event metav1.WatchEvent
	require.NoError(t, event.Unmarshal([]byte(rest[4:])))
	require.Equal(t, "ERROR", event.Type)
	require.Contains(t, string(event.Object.Raw), "use a client that accepts application/json")
	require.Contains(t, s.set.Hits()[0].NotApplied, "in protobuf only")
}

// TestEditEmptyBody tests that a response without a body is unchanged and the hit is not applied.
func TestEditEmptyBody(t *testing.T) {
	same := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	s := newTestServer(t, same, "when path(/apis) do set(/a, b), set(/c, d)", "when code(304) do header(X-New, a)")
	resp, _ := s.get("/apis")
	require.Equal(t, http.StatusNotModified, resp.StatusCode)
	require.Equal(t, "a", resp.Header.Get("X-New"))
	require.Equal(t, "the response has no body", s.set.Hits()[0].NotApplied)
	require.Empty(t, s.set.Hits()[1].NotApplied)
	tb := &fakeTB{}
	s.set.MustHit(tb)
	require.Len(t, tb.messages, 1)
}

// TestEditFrames tests edits of frames in JSON and protobuf.
func TestEditFrames(t *testing.T) {
	s := newTestServer(t, newAPI(podA, podB, initialEventsEndEvent, bookmark),
		"when event(ADDED) && name(a) do set(/type, SYNC)",
		"when event(ADDED) && name(b) do set(/object/kind, Node), remove(/object/metadata/resourceVersion)",
		"when initialEventsEnd do remove(/object/metadata/annotations)",
		"when event(BOOKMARK) && !initialEventsEnd do set(/object, json(null)), duplicate, end")
	rest, err := s.watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, strings.Replace(podA, "ADDED", "SYNC", 1)+
		strings.NewReplacer(`"Pod"`, `"Node"`, `,"resourceVersion":"12"`, "").Replace(podB)+
		strings.Replace(initialEventsEndEvent, `,"annotations":{"k8s.io/initial-events-end":"true"}`, "", 1)+
		`{"type":"BOOKMARK","object":null}`+"\n", rest)

	end := map[string]string{"k8s.io/initial-events-end": "true"}
	s = newTestServer(t, asProtobuf(newAPI(protobufEvent("ADDED", "a", "ns", nil), protobufEvent("BOOKMARK", "", "", end), protobufEvent("ADDED", "b", "ns", nil))),
		"when event(ADDED) && name(a) do set(/type, SYNC), set(/object/metadata/name, c)",
		`when initialEventsEnd do remove("/object/metadata/annotations/k8s.io~1initial-events-end")`,
		"when event(ADDED) && name(b) do duplicate, end")
	rest, err = s.watch("").readAll()
	require.NoError(t, err)
	require.Equal(t, protobufEvent("SYNC", "c", "ns", nil)+protobufEvent("BOOKMARK", "", "", nil)+protobufEvent("ADDED", "b", "ns", nil), rest)
}

// TestReorderInjectOverwrite tests the order and the bytes of frames.
func TestReorderInjectOverwrite(t *testing.T) {
	a, b, m := protobufEvent("ADDED", "a", "ns", nil), protobufEvent("ADDED", "b", "ns", nil), protobufEvent("BOOKMARK", "", "", nil)
	for _, c := range []struct{ rule, want, protobuf string }{
		{"when event(ADDED) && name(a) do reorder", podB + podA + bookmark, b + a + m},
		{"when event(ADDED) do reorder", podB + podA + bookmark, b + a + m},
		{"when event(ADDED) && name(a) do set(/type, MODIFIED), reorder",
			podB + strings.Replace(podA, "ADDED", "MODIFIED", 1) + bookmark, b + protobufEvent("MODIFIED", "a", "ns", nil) + m},
		{"when event(BOOKMARK) do reorder", podA + podB + bookmark, a + b + m}, // there is no next frame
		{"when event(ADDED) && name(a) do reorder\nwhen name(b) && during(stream) do drop", bookmark + podA, m + a},
		{"when event(ADDED) && name(a) do reorder\nwhen name(b) && during(stream) do throttle(7, 0s)", podB + podA + bookmark, b + a + m},
		{"when event(ADDED) && name(b) do inject(\"<html>\\n\")", podA + "<html>\n" + podB + bookmark, a + "<html>\n" + b + m},
		{"when event(ADDED) && name(a) do inject(\"{\\\"type\\\":1}\\n\"), drop", "{\"type\":1}\n" + podB + bookmark, "{\"type\":1}\n" + b + m},
		{"when event(ADDED) && name(a) do overwrite(0, XX)", "XX" + podA[2:] + podB + bookmark, "XX" + a[2:] + b + m},
		{"when event(ADDED) && name(a) do overwrite(100000, XX)", podA + podB + bookmark, a + b + m},
		{"when event(ADDED) && name(a) do overwrite(9223372036854775807, XX)", podA + podB + bookmark, a + b + m},
		{"when event(ADDED) do throttle(10, 1ms)", podA + podB + bookmark, a + b + m},
		{"when event(ADDED) do jitter(1ms, 3)", podA + podB + bookmark, a + b + m},
	} {
		handler := newClosedAPI(podA, podB, bookmark)
		rest, err := newTestServer(t, handler, c.rule).watch("").readAll()
		require.NoError(t, err)
		require.Equal(t, c.want, rest, c.rule)

		handler = newClosedAPI(a, b, m)
		rest, err = newTestServer(t, asProtobuf(handler), c.rule).watch("").readAll()
		require.NoError(t, err)
		require.Equal(t, c.protobuf, rest, c.rule)
	}
}

// TestReorderWaits tests that a held frame is sent after the next one.
func TestReorderWaits(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a, "when event(ADDED) && name(a) do reorder")
	w := s.watch("")
	a.events <- podA
	eventually(t, func() bool { return len(s.set.Hits()) == 1 })
	a.events <- bookmark
	w.expectLines(bookmark, podA)
}

// TestReorderAfterRuleRemoved tests that a held frame is sent after its rule was removed.
func TestReorderAfterRuleRemoved(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a)
	remove := s.add("when event(ADDED) && name(a) do reorder")
	w := s.watch("")
	a.events <- podA
	eventually(t, func() bool { return len(s.set.Hits()) == 1 })
	remove()
	a.events <- podB
	w.expectLines(podB, podA)
	a.events <- bookmark
	w.expectLines(bookmark)
}

// TestThrottleEmptyBody tests that a response without a body is unchanged.
func TestThrottleEmptyBody(t *testing.T) {
	gone := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	resp, body := newTestServer(t, gone, "when verb(get) do throttle(1, 1ms)").get(pods + "/a")
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Empty(t, resp.Header.Values("Content-Length"))
	require.Empty(t, body)
}

// TestOverwriteBody tests that bytes are replaced if the body is long enough.
func TestOverwriteBody(t *testing.T) {
	for offset, want := range map[int]string{0: "xyz\x00body", 5: "k8s\x00bxyz", 6: "k8s\x00body"} {
		s := newTestServer(t, staticHandler("application/vnd.kubernetes.protobuf", "k8s\x00body"), fmt.Sprintf("when verb(get) do overwrite(%d, xyz)", offset))
		_, body := s.get(pods + "/a")
		require.Equal(t, want, body)
	}
}

// TestThrottleAndJitterOnVirtualTime tests delays and their random sequences.
func TestThrottleAndJitterOnVirtualTime(t *testing.T) {
	run := func(rule, url string) (took time.Duration, body string) {
		synctest.Test(t, func(t *testing.T) {
			var set faults.Set
			_, err := set.AddText(rule)
			require.NoError(t, err)
			a := newClosedAPI(podA)
			start := time.Now()
			w := httptest.NewRecorder()
			faults.Handler(&set, a).ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
			took, body = time.Since(start), w.Body.String()
		})
		return took, body
	}
	want := `{"kind":"Answer","path":"` + pods + `/a"}`
	took, body := run("when verb(get) do throttle(10, 1s)", pods+"/a")
	require.Equal(t, want, body)
	require.Equal(t, time.Duration((len(want)-1)/10)*time.Second, took)
	took, body = run("when verb(watch) do throttle(50, 1m)", pods+"?watch=1")
	require.Equal(t, podA, body)
	require.Equal(t, time.Duration((len(podA)-1)/50)*time.Minute, took)

	for _, rule := range []string{
		"when verb(get) do jitter(1h, 42)", "when code(200) do jitter(1h, 42)",
	} {
		first, _ := run(rule, pods+"/a")
		require.Greater(t, first, time.Duration(0))
		require.Less(t, first, time.Hour)
		again, _ := run(rule, pods+"/a")
		require.Equal(t, first, again, "the sequence depends on the seed")
		other, _ := run(rule, pods+"/b")
		require.NotEqual(t, first, other, "each object has its own sequence")
	}
	one, _ := run("when event(ADDED) do jitter(1h, 42)", pods+"?watch=1")
	request, _ := run("when verb(get) do jitter(1h, 42)", pods+"/a")
	require.Equal(t, request, one, "a frame has the sequence of its object")
}

// TestJitterIsNotConsumed tests that the random sequences of a rule start when it is added to a
// set.
func TestJitterIsNotConsumed(t *testing.T) {
	rule := faults.Rule{When: faults.Verb("get"), Do: []faults.Effect{faults.Jitter(time.Hour, 42)}}
	took := func() (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var set faults.Set
			_, err := set.Add(rule)
			require.NoError(t, err)
			start := time.Now()
			codes(&set, 3, pods+"/a")
			d = time.Since(start)
		})
		return d
	}
	require.Equal(t, took(), took())
}

func TestThrottleEndsOnDisconnect(t *testing.T) {
	left := make(chan any, 1)
	var set faults.Set
	_, err := set.AddText("when verb(get) do throttle(10, 1h)")
	require.NoError(t, err)
	h := faults.Handler(&set, newAPI())
	s := &testServer{t: t, set: &set}
	s.serve(httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { left <- recover() }()
		h.ServeHTTP(w, r)
	})))
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+pods+"/a", nil)
	require.NoError(t, err)
	resp, err := s.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.EqualValues(t, len(`{"kind":"Answer","path":""}`+pods+"/a"), resp.ContentLength)
	_, err = io.ReadFull(resp.Body, make([]byte, 10))
	require.NoError(t, err)
	leave()
	require.Equal(t, http.ErrAbortHandler, <-left)
}
