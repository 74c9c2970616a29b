package timeline_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

const (
	pods       = "/api/v1/namespaces/ns/pods"
	watchPath  = pods + "?watch=1&resourceVersion=5"
	addedEvent = `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"ns","resourceVersion":"6"}}}` + "\n"
)

func noHits() []faults.Hit { return nil }

// newTestRecorder returns the recorder of a handler, and a function that sends requests to it.
func newTestRecorder(next http.HandlerFunc) (*timeline.Recorder, func(method, path, body string) *httptest.ResponseRecorder) {
	r := timeline.NewRecorder(noHits)
	h := r.Handler(next)
	return r, func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("User-Agent", "test/1")
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
		h.ServeHTTP(w, request)
		return w
	}
}

// isStream returns a handler that writes watch events in JSON, each with one Write.
func isStream(writes ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, p := range writes {
			_, _ = io.WriteString(w, p)
		}
	}
}

func TestExchange(t *testing.T) {
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusOK) // net/http logs the second one and ignores it
		_, _ = w.Write(body[:10])
		_, _ = w.Write(body[10:])
	})
	const object = `{"metadata":{"name":"a","resourceVersion":"7"}}`
	require.Equal(t, object, send("POST", pods+"?dryRun=All", object).Body.String())
	got := r.Timeline()
	require.Len(t, got.Exchanges, 1)
	e := got.Exchanges[0]
	require.False(t, e.Begin.Before(got.Begin) || e.End.Before(e.Begin) || got.End.Before(e.End))
	body := timeline.Body{ContentType: "application/json", Data: []byte(object), Size: int64(len(object))}
	require.Equal(t, timeline.Exchange{
		Seq: 1, Order: 1, Begin: e.Begin, End: e.End, UserAgent: "test/1", Method: "POST", Verb: "create", Path: pods + "?dryRun=All",
		Info:       e.Info,
		StatusCode: 201, ResourceVersion: "7", Request: body, Response: body,
	}, e)
}

// A path that is not a resource has no verb, the response to a HEAD no body, and a response that
// was never written no code. A handler that panics ends its exchange.
func TestUnusualExchanges(t *testing.T) {
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
		if request.Method == "DELETE" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "ok")
	})
	send("GET", "/livez", "")
	send("HEAD", pods+"/a", "")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { send("DELETE", pods+"/a", "") })
	got := r.Timeline().Exchanges
	require.Len(t, got, 3)
	require.Empty(t, got[0].Verb)
	require.EqualValues(t, 2, got[0].Response.Size)
	require.Equal(t, "get", got[1].Verb)
	require.Zero(t, got[1].Response.Size)
	require.Zero(t, got[2].StatusCode)
	require.False(t, got[2].End.IsZero())
}

// A body is recorded up to its limit, and its size is recorded.
func TestLongBodies(t *testing.T) {
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(w, request.Body)
	})
	long := strings.Repeat("0123456789", 10_000)
	send("PUT", pods+"/a", long)
	e := r.Timeline().Exchanges[0]
	for _, b := range []timeline.Body{e.Request, e.Response} {
		require.EqualValues(t, len(long), b.Size)
		require.Equal(t, long[:timeline.MaxBodyBytes], string(b.Data))
	}
}

// The metadata of a list of custom resources follows its items. A truncated list has its
// resourceVersion in the timeline.
func TestLongListOfCustomResources(t *testing.T) {
	const item = `{"apiVersion":"e.com/v1","kind":"Gear","metadata":{"name":"a","resourceVersion":"1"}}`
	for _, items := range []int{1, 90, 91, 92, 93, 1000} {
		for _, size := range []int{7, 900, 100_000} { // of each Write
			list := `{"apiVersion":"e.com/v1","items":[` + strings.TrimSuffix(strings.Repeat(item+",", items), ",") +
				`],"kind":"GearList","metadata":{"continue":"","resourceVersion":"34"}}` + "\n"
			r, send := newTestRecorder(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for part := range slices.Chunk([]byte(list), size) {
					_, _ = w.Write(part)
				}
			})
			require.Equal(t, list, send("GET", "/apis/e.com/v1/gears", "").Body.String())
			require.Equal(t, "34", r.Timeline().Exchanges[0].ResourceVersion, "%d %d", items, size)
		}
	}
}

// The latest exchanges and the active ones are kept. Dropped ones are counted.
func TestExchangesAreBounded(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == pods {
			isStream(addedEvent)(w, request)
			held <- struct{}{}
			<-hold
		}
	})
	var done sync.WaitGroup
	done.Go(func() { send("GET", watchPath, "") })
	<-held
	for i := range timeline.MaxExchanges + 10 {
		send("GET", fmt.Sprintf("/%d", i), "")
	}
	got := r.Timeline()
	require.Len(t, got.Exchanges, timeline.MaxExchanges+1)
	require.EqualValues(t, 10, got.ExchangesDropped)
	require.Equal(t, watchPath, got.Exchanges[0].Path)
	require.Len(t, got.Exchanges[0].Frames, 1)
	require.Equal(t, "/10", got.Exchanges[1].Path)
	require.EqualValues(t, 12, got.Exchanges[1].Seq)
	close(hold)
	done.Wait()
	got = r.Timeline()
	require.Len(t, got.Exchanges, timeline.MaxExchanges)
	require.EqualValues(t, 11, got.ExchangesDropped)
}

// Frames are split wherever the writes are split. The last one may be incomplete.
func TestFrames(t *testing.T) {
	const other = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}` + "\n"
	all := addedEvent + other + "no event\n" + addedEvent + addedEvent[:40]
	for piece := 1; piece <= len(all); piece += 31 {
		var writes []string
		for rest := all; rest != ""; {
			n := min(piece, len(rest))
			writes, rest = append(writes, rest[:n]), rest[n:]
		}
		r, send := newTestRecorder(isStream(writes...))
		require.Equal(t, all, send("GET", watchPath, "").Body.String())
		e := r.Timeline().Exchanges[0]
		require.Equal(t, "watch", e.Verb)
		require.Zero(t, e.Response.Size)
		require.Len(t, e.Frames, 5)
		var bodies []string
		for _, f := range e.Frames {
			require.Equal(t, "application/json", f.Body.ContentType)
			require.EqualValues(t, len(f.Body.Data), f.Body.Size)
			require.False(t, f.Time.Before(e.Begin) || f.Time.After(e.End))
			bodies = append(bodies, string(f.Body.Data))
		}
		require.Equal(t, all, strings.Join(bodies, ""))
		first, last := e.Frames[0], e.Frames[4]
		require.Equal(t, []string{"ADDED", "ns", "a", "6"}, []string{first.Type, first.Namespace, first.Name, first.ResourceVersion})
		require.Equal(t, []string{"BOOKMARK", "", "9"}, []string{e.Frames[1].Type, e.Frames[1].Name, e.Frames[1].ResourceVersion})
		require.Empty(t, e.Frames[2].Type)
		require.Equal(t, "ADDED", last.Type, "as far as it was sent")
	}
}

// The latest frames are kept, and the last ones of a burst. Dropped frames are counted.
func TestFramesAreBounded(t *testing.T) {
	event := func(i int) string {
		return fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"name":"p%d","labels":{"a":%q}}}}`+"\n", i, strings.Repeat("x", 800))
	}
	const n = 3000
	for name, together := range map[string]int{"one by one": 1, "a few": 10, "large writes": 70} {
		t.Run(name, func(t *testing.T) {
			var writes []string
			for i := 0; i < n; {
				var b bytes.Buffer
				for range min(together, n-i) {
					b.WriteString(event(i))
					i++
				}
				writes = append(writes, b.String())
			}
			r, send := newTestRecorder(isStream(writes...))
			send("GET", watchPath, "")
			e := r.Timeline().Exchanges[0]
			require.NotEmpty(t, e.Frames)
			require.LessOrEqual(t, len(e.Frames), timeline.MaxFramesPerWatch)
			require.EqualValues(t, n-len(e.Frames), e.FramesDropped)
			for i, f := range e.Frames {
				require.Equal(t, fmt.Sprintf("p%d", n-len(e.Frames)+i), f.Name)
			}
		})
	}
}

// A flush ends a burst: all frames after it are kept.
func TestFlushEndsBurst(t *testing.T) {
	large := strings.Repeat(addedEvent, 400)
	r, send := newTestRecorder(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, large)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, large)
	})
	require.True(t, send("GET", watchPath, "").Flushed)
	require.Len(t, r.Timeline().Exchanges[0].Frames, timeline.MaxFramesPerWatch)
}

// A frame for many watches uses its memory once. Different frames are dropped if together they are
// too large.
func TestBytesOfFramesAreBounded(t *testing.T) {
	const size, watches = 7 << 10, 24
	frames := func(same bool) (kept int, forgotten uint64) {
		r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
			var writes []string
			for i := range timeline.MaxFramesPerWatch {
				name := fmt.Sprint("p", i)
				if !same {
					name += request.URL.Query().Get("x")
				}
				writes = append(writes, fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"name":%q},"data":%q}}`+"\n", name, strings.Repeat("x", size)))
			}
			isStream(writes...)(w, request)
		})
		for i := range watches {
			send("GET", fmt.Sprintf("%s&x=x%d", watchPath, i), "")
		}
		for _, e := range r.Timeline().Exchanges {
			require.EqualValues(t, timeline.MaxFramesPerWatch, uint64(len(e.Frames))+e.FramesDropped)
			kept += len(e.Frames)
			forgotten += e.FramesDropped
		}
		return kept, forgotten
	}
	kept, forgotten := frames(true)
	require.Equal(t, watches*timeline.MaxFramesPerWatch, kept)
	require.Zero(t, forgotten)
	kept, forgotten = frames(false)
	require.LessOrEqual(t, kept*size, timeline.MaxFrameBytes)
	require.Greater(t, kept*size, timeline.MaxFrameBytes/4)
	require.NotZero(t, forgotten)
}

// http.ResponseController works through the recorder.
func TestResponseController(t *testing.T) {
	r := timeline.NewRecorder(noHits)
	server := httptest.NewServer(r.Handler(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		c := http.NewResponseController(w)
		if err := c.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		if request.URL.Path == "/flush" {
			w.(http.Flusher).Flush()
			return
		}
		conn, _, err := c.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		_ = conn.Close()
	})))
	defer server.Close()
	for path, code := range map[string]int{"/flush": 200, "/hijack": 204} {
		answer, err := server.Client().Get(server.URL + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, answer.StatusCode)
	}
}

// Timeline may be called while requests are served.
func TestTimelineWhileServing(t *testing.T) {
	r, send := newTestRecorder(func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		isStream(addedEvent[:30], addedEvent[30:], addedEvent)(w, request)
	})
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 150 {
				send("GET", watchPath, "")
				send("PUT", pods+"/a", "{}")
			}
		})
	}
	for range 5 {
		for _, e := range r.Timeline().Exchanges {
			require.LessOrEqual(t, len(e.Frames), 2)
		}
	}
	done.Wait()
	require.EqualValues(t, 1200-timeline.MaxExchanges, r.Timeline().ExchangesDropped)
}
