package faults_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/faults"
)

const expiredFrame = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 5 (6)","reason":"Expired","code":410}}` + "\n"

func TestWatchIsNotBuffered(t *testing.T) {
	for _, rule := range []string{"# no rule", "when event(DELETED) do drop", "when event(ADDED) && name(z*) do end"} {
		a := newAPI()
		w := newTestServer(t, a, rule).watch("")
		for _, e := range []string{podA, bookmark, podB} { // each arrives before the next one is sent
			a.events <- e
			w.expectLines(e)
		}
		close(a.events)
		rest, err := w.readAll()
		require.NoError(t, err)
		require.Empty(t, rest)
	}
}

func TestWatchDrop(t *testing.T) {
	for pieces := range 3 { // also with frames split into several writes
		a := newAPI(podA, initialEventsEndEvent, bookmark, podB, bookmark)
		a.writeSize = pieces * 50
		s := newTestServer(t, a)
		_, err := s.set.Add(faults.DropBookmarks())
		require.NoError(t, err)
		w := s.watch("")
		close(a.events)
		rest, err := w.readAll()
		require.NoError(t, err)
		require.Equal(t, podA+initialEventsEndEvent+podB, rest)
		require.Len(t, s.set.Hits(), 2)
		require.Equal(t, "drop-bookmarks: stream watch pods BOOKMARK in ns: drop", s.set.Hits()[0].String())
	}
}

// The initial events of a streaming list end with their bookmark, or when frames are sent that no
// rule could match.
func TestWatchInitialEvents(t *testing.T) {
	const rule = "when initialEvents && event(ADDED) do duplicate"
	const streamingList = "&sendInitialEvents=true&allowWatchBookmarks=1"
	for query, want := range map[string]string{
		streamingList:             podA + podA + initialEventsEndEvent + podB,
		"":                        podA + initialEventsEndEvent + podB,
		"&sendInitialEvents=true": podA + initialEventsEndEvent + podB,
		"&allowWatchBookmarks=1":  podA + initialEventsEndEvent + podB,
	} {
		a := newAPI(podA, initialEventsEndEvent, podB, podB)
		w := newTestServer(t, a, rule).watch(query)
		close(a.events)
		rest, err := w.readAll()
		require.NoError(t, err)
		require.Equal(t, want+podB, rest, query)
	}

	a := newAPI()
	s := newTestServer(t, a)
	w := s.watch(streamingList)
	a.events <- podA
	w.expectLines(podA)
	s.add(rule)
	a.events <- podB
	w.expectLines(podB)
	close(a.events)
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Empty(t, rest)
}

func TestWatchManyFramesInOneWrite(t *testing.T) {
	a := newAPI(podA + bookmark + podB + podA + "unfinished")
	w := newTestServer(t, a, "when event(BOOKMARK) do drop", "when event(ADDED) && name(b) do duplicate").watch("")
	close(a.events)
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Equal(t, podA+podB+podB+podA+"unfinished", rest)
}

func TestWatchEffects(t *testing.T) {
	for _, c := range []struct {
		rule, want string
		broken     bool
	}{
		{"when initialEventsEnd do drop", podA + podB + bookmark, false},
		{"when event(ADDED) && name(b) do end", podA, false},
		{"when event(ADDED) && nth(2) do error(410)", podA + expiredFrame, false},
		{"when event(ADDED) && nth(2) do reset", podA, true},
		{"when event(ADDED) && nth(2) do truncate(20)", podA + podB[:20], true},
		{"when event(ADDED) && nth(2) do truncate(" + strconv.Itoa(len(podB)) + ")", podA + podB + initialEventsEndEvent + bookmark, false},
		{"when event(ADDED) && namespace(ns) do duplicate", podA + podA + podB + podB + initialEventsEndEvent + bookmark, false},
		{"when event(ADDED) && nth(2) do duplicate, delay(1ms)", podA + podB + podB + initialEventsEndEvent + bookmark, false},
		{"when verb(watch) && nth(2) do drop", podA + initialEventsEndEvent + bookmark, false},
		{"when verb(watch) && query(resourceVersion, 5) do error(410)", expiredFrame, false},
		{"when verb(watch) do end", "", false},
		{faults.Expire410().String(), expiredFrame, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := newAPI(podA, podB, initialEventsEndEvent, bookmark)
			s := newTestServer(t, a, c.rule)
			w := s.watch("&resourceVersion=5")
			require.Equal(t, 200, w.resp.StatusCode)
			require.Equal(t, "application/json", w.resp.Header.Get("Content-Type"))
			require.Equal(t, []string{"chunked"}, w.resp.TransferEncoding)
			require.Empty(t, w.resp.Header.Get("Retry-After"))
			if strings.HasSuffix(c.want, bookmark) {
				close(a.events) // otherwise the rule ends the stream
			}
			rest, err := w.readAll()
			require.Equal(t, c.want, rest)
			if c.broken {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			} else {
				require.NoError(t, err)
			}
			require.NotEmpty(t, s.set.Hits())
		})
	}
}

// TestResetDeliversEarlierFrames tests that frames that were written and not flushed are sent
// before the reset.
func TestResetDeliversEarlierFrames(t *testing.T) {
	w := newTestServer(t, newAPI(podA+podB), "when event(ADDED) && name(b) do reset").watch("")
	rest, err := w.readAll()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, podA, rest)
}

// TestErrorEventIsSentAtOnce tests that the client gets the event before the handler returns.
func TestErrorEventIsSentAtOnce(t *testing.T) {
	received := make(chan struct{})
	w := newTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, podA)
		<-received
	}), "when event(ADDED) do error(410)").watch("&resourceVersion=5")
	w.expectLines(expiredFrame)
	close(received)
}

// TestEndedWatchStopsHandler tests that the handler returns after a rule has ended the watch.
func TestEndedWatchStopsHandler(t *testing.T) {
	a := newAPI(podA)
	w := newTestServer(t, a, "when event(ADDED) do end").watch("")
	_, err := w.readAll()
	require.NoError(t, err)
	eventually(t, func() bool { return a.finishedWatches.Load() == 1 })
}

// TestRuleAppliesToRunningWatch tests rules that are added and removed while a watch runs.
func TestRuleAppliesToRunningWatch(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a)
	w := s.watch("&resourceVersion=5")
	send := func(e string) { a.events <- e }
	send(podA)
	w.expectLines(podA)
	remove := s.add("when event(BOOKMARK) do drop")
	send(bookmark)
	send(podB)
	w.expectLines(podB)
	remove()
	remove()
	send(bookmark)
	w.expectLines(bookmark)
	s.add("when verb(watch) && during(stream) && first(1) do error(410)")
	send(podA)
	w.expectLines(expiredFrame)
	_, err := w.readAll()
	require.NoError(t, err)
}

// TestRuleRemovedMidFrame tests that a frame of which a part is buffered is sent completely.
func TestRuleRemovedMidFrame(t *testing.T) {
	var set faults.Set
	remove, err := set.AddText("when event(ADDED) do drop")
	require.NoError(t, err)
	w := httptest.NewRecorder()
	faults.Handler(&set, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, podA+podB[:30])
		remove()
		_, _ = io.WriteString(w, podB[30:40])
		_, _ = io.WriteString(w, podB[40:]+bookmark)
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil))
	require.Equal(t, podB+bookmark, w.Body.String())
}

// TestRuleAddedMidFrame tests that the rest of a frame is passed on and the next frame is matched.
func TestRuleAddedMidFrame(t *testing.T) {
	a := newAPI()
	s := newTestServer(t, a)
	w := s.watch("")
	a.events <- podA[:30]
	head := make([]byte, 30)
	_, err := io.ReadFull(w.r, head)
	require.NoError(t, err)
	s.add("when event(ADDED) do drop")
	a.events <- podA[30:40]
	more := make([]byte, 10) // it is not buffered until the frame is complete
	_, err = io.ReadFull(w.r, more)
	require.NoError(t, err)
	head = append(head, more...)
	a.events <- podA[40:]
	a.events <- podB
	close(a.events)
	rest, err := w.readAll()
	require.NoError(t, err)
	require.Equal(t, podA, string(head)+rest)
}

// TestWatchWaits tests that a frame waits and earlier frames do not, and that the watch ends when
// the client disconnects.
func TestWatchWaits(t *testing.T) {
	for _, effect := range []string{"hang", "delay(1h)", "jitter(1h, 42)"} {
		a := newAPI(podA+podB, bookmark)
		w := newTestServer(t, a, "when event(ADDED) && name(b) do "+effect).watch("")
		w.expectLines(podA)
		require.Zero(t, a.finishedWatches.Load())
		require.NoError(t, w.resp.Body.Close())
		eventually(t, func() bool { return a.finishedWatches.Load() == 1 })
	}
}

func TestWatchDelayOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set faults.Set
		_, err := set.AddText("when event(ADDED) && every(2) do delay(1m)")
		require.NoError(t, err)
		a := newClosedAPI(podA, podB, podA, podB)
		start := time.Now()
		w := httptest.NewRecorder()
		faults.Handler(&set, a).ServeHTTP(w, httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil))
		require.Equal(t, podA+podB+podA+podB, w.Body.String())
		require.Equal(t, 2*time.Minute, time.Since(start))
	})
}

func TestWatchProtobuf(t *testing.T) {
	x, y := protobufEvent("ADDED", "x", "ns", nil), protobufEvent("ADDED", "y", "ns", nil)
	bookmark := protobufEvent("BOOKMARK", "", "", nil)
	end := protobufEvent("BOOKMARK", "", "", map[string]string{"k8s.io/initial-events-end": "true"})
	for pieces := range 9 {
		a := newAPI(x, bookmark+y, end)
		a.writeSize = pieces
		close(a.events)
		s := newTestServer(t, asProtobuf(a))
		rest, err := s.watch("").readAll()
		require.NoError(t, err)
		require.Equal(t, x+bookmark+y+end, rest)

		a = newAPI(x, bookmark+y, end)
		a.writeSize = pieces
		s = newTestServer(t, asProtobuf(a), faults.DropBookmarks().String(), "when event(ADDED) && name(y) do duplicate",
			"when initialEventsEnd do error(410)")
		rest, err = s.watch("&resourceVersion=5").readAll()
		require.NoError(t, err)
		frame, found := strings.CutPrefix(rest, x+y+y)
		require.True(t, found)
		requireExpired(t, frame)
	}
}

// contentType is a ResponseWriter that changes the Content-Type.
type contentType struct {
	http.ResponseWriter
	is string
}

func (c contentType) WriteHeader(code int) {
	c.Header().Set("Content-Type", c.is)
	c.ResponseWriter.WriteHeader(code)
}
func (c contentType) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

func requireExpired(t *testing.T, frame string) {
	t.Helper()
	var event metav1.WatchEvent
	require.NoError(t, event.Unmarshal([]byte(frame[4:])))
	require.Equal(t, "ERROR", event.Type)
	var envelope runtime.Unknown
	require.NoError(t, envelope.Unmarshal(event.Object.Raw[4:]))
	require.Equal(t, runtime.TypeMeta{APIVersion: "v1", Kind: "Status"}, envelope.TypeMeta)
	var s metav1.Status
	require.NoError(t, s.Unmarshal(envelope.Raw))
	require.EqualValues(t, 410, s.Code)
	require.Equal(t, "too old resource version: 5 (6)", s.Message)
}

func TestWatchErrorBeforeStartInProtobuf(t *testing.T) {
	s := newTestServer(t, newAPI(), faults.Expire410().String())
	w := s.watch("&resourceVersion=5", "application/vnd.kubernetes.protobuf,application/json")
	require.Equal(t, "application/vnd.kubernetes.protobuf;stream=watch", w.resp.Header.Get("Content-Type"))
	require.Equal(t, "no-cache, private", w.resp.Header.Get("Cache-Control"))
	rest, err := w.readAll()
	require.NoError(t, err)
	requireExpired(t, rest)
}

// TestExpire410SkipsNewWatches tests that clients can recover.
func TestExpire410SkipsNewWatches(t *testing.T) {
	for _, query := range []string{"", "&resourceVersion=0", "&resourceVersion=5&sendInitialEvents=true"} {
		a := newAPI(podA)
		s := newTestServer(t, a, faults.Expire410().String())
		s.watch(query).expectLines(podA)
	}
}

// TestAcceptEncodingIsRemoved tests a server that compresses streaming lists.
func TestAcceptEncodingIsRemoved(t *testing.T) {
	s := newTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, podA)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, podA)
		_ = z.Close()
	}), "when event(ADDED) do duplicate")
	w := s.watch("")
	w.expectLines(podA, podA)

	original := httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil)
	original.Header.Set("Accept-Encoding", "gzip")
	faults.Handler(s.set, newClosedAPI()).ServeHTTP(httptest.NewRecorder(), original)
	require.Equal(t, "gzip", original.Header.Get("Accept-Encoding"))
}

// TestFailedWatch tests that an error response is unchanged.
func TestFailedWatch(t *testing.T) {
	s := newTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		_, _ = io.WriteString(w, podA)
	}), "when during(stream) do drop")
	w := s.watch("")
	require.Equal(t, 400, w.resp.StatusCode)
	w.expectLines(podA)
	require.Empty(t, s.set.Hits())
}

// TestReverseProxy tests that the watch ends regularly for the client, although the proxy panics
// when it cannot write.
func TestReverseProxy(t *testing.T) {
	a := newAPI(podA, bookmark, podB, podB)
	upstream := httptest.NewServer(a)
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	require.NoError(t, err)
	s := newTestServer(t, httputil.NewSingleHostReverseProxy(target),
		"when event(BOOKMARK) do drop", "when event(ADDED) && nth(2) do error(410)")
	rest, err := s.watch("&resourceVersion=5").readAll()
	require.NoError(t, err)
	require.Equal(t, podA+expiredFrame, rest)
	eventually(t, func() bool { return a.finishedWatches.Load() == 1 })
}

// TestUpgradedConnection tests that upgraded connections have the Before phase only.
func TestUpgradedConnection(t *testing.T) {
	a := newClosedAPI()
	var set faults.Set
	_, err := set.AddText("when during(stream) do drop\nwhen code(200) do reset\nwhen verb(watch) && nth(2) do status(503)")
	require.NoError(t, err)
	for _, c := range []struct {
		path string
		code int
	}{{pods + "?watch=1", 200}, {pods + "?watch=1", 503}, {pods, 200}} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		w := httptest.NewRecorder()
		faults.Handler(&set, a).ServeHTTP(w, r)
		require.Equal(t, c.code, w.Code)
		require.Equal(t, "*httptest.ResponseRecorder", a.writer.Load())
	}
}
