package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// TestHeaders tests the header of responses of the handler and of later effects.
func TestHeaders(t *testing.T) {
	next := staticHandler("application/json", "{}\n", "Warning", `299 - "mine"`, "X-Old", "1")
	for _, phase := range []string{"verb(get)", "code(200)"} {
		for _, rest := range []string{"", ", delay(0s)", ", status(429)", ", raw(200, text/plain, ok)", ", truncate(1000)"} {
			if strings.HasPrefix(rest, ", trunc") {
				phase = "code(200)"
			}
			s := newTestServer(t, next, "when "+phase+` do header(x-new, a), header(X-New, b, c), header(X-Old), warn("a \"b\"", d), skew(1h)`+rest)
			resp, body := s.get(pods + "/a")
			require.Equal(t, []string{"b", "c"}, resp.Header.Values("X-New"), rest)
			require.Empty(t, resp.Header.Values("X-Old"))
			warnings := []string{`299 - "a \"b\""`, `299 - "d"`}
			if body == "{}\n" { // the response of the handler
				warnings = append([]string{`299 - "mine"`}, warnings...)
			}
			require.Equal(t, warnings, resp.Header.Values("Warning"), rest)
			date, err := http.ParseTime(resp.Header.Get("Date"))
			require.NoError(t, err)
			require.InDelta(t, time.Hour.Seconds(), time.Until(date).Seconds(), 120)
		}
	}
}

// TestHeaderOfEmptyResponse tests a handler that does not write the header.
func TestHeaderOfEmptyResponse(t *testing.T) {
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, url := range []string{pods + "/a", pods + "?watch=1"} {
		resp, _ := newTestServer(t, silent, "when verb(get, watch) do header(X-New, a), header(Date)").get(url)
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, "a", resp.Header.Get("X-New"))
		require.Empty(t, resp.Header.Values("Date"))
	}
}

func TestHeaderOfWatch(t *testing.T) {
	a := newAPI()
	w := newTestServer(t, a, "when verb(watch) do header(X-New, a), skew(-1h)").watch("")
	require.Equal(t, "a", w.resp.Header.Get("X-New")) // before the first event
	a.events <- podA
	w.expectLines(podA)
}

func TestConnectionClose(t *testing.T) {
	s := newTestServer(t, newAPI(), "when name(b) do header(Connection, close)")
	transport := s.client.Transport.(*http.Transport)
	transport.DisableKeepAlives = false
	resp, _ := s.get(pods + "/a")
	require.False(t, resp.Close)
	resp, _ = s.get(pods + "/b")
	require.True(t, resp.Close)
}

// TestConnectionCloseOverHTTP2 tests that the header becomes a GOAWAY: the client opens another
// connection, and open streams continue.
func TestConnectionCloseOverHTTP2(t *testing.T) {
	a := newAPI()
	srv := &testServer{t: t, set: &faults.Set{}}
	srv.add("when name(b) && verb(get) do header(Connection, close)")
	s := httptest.NewUnstartedServer(faults.Handler(srv.set, a))
	s.EnableHTTP2 = true
	s.StartTLS()
	srv.serve(s)
	reused := func(path string) (was bool) {
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { was = i.Reused }}
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, srv.url+path, nil)
		require.NoError(t, err)
		resp, err := srv.client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, 2, resp.ProtoMajor)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return was
	}
	w := srv.watch("")
	for range 3 {
		require.True(t, reused(pods+"/a"))
	}
	require.True(t, reused(pods+"/b"), "the response before the GOAWAY")
	eventually(t, func() bool { return !reused(pods + "/a") })
	a.events <- podA
	w.expectLines(podA)
}

// TestRequestEffects tests that the handler gets the changed request, and rules match the original
// one.
func TestRequestEffects(t *testing.T) {
	seen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %q", r.URL.RawQuery, r.RequestURI, r.Header.Values("X-In"))
	})
	s := newTestServer(t, seen, "when verb(list) do ignore(limit, continue), requestHeader(x-in, a, b)",
		"when code(200) && query(limit, 5) do header(X-Saw, limit)")
	resp, body := s.get(pods + "?limit=5&labelSelector=a%3Db")
	require.Equal(t, `labelSelector=a%3Db `+pods+`?labelSelector=a%3Db ["a" "b"]`, body)
	require.Equal(t, "limit", resp.Header.Get("X-Saw"))

	original := httptest.NewRequest(http.MethodGet, pods+"?limit=5", nil)
	faults.Handler(s.set, seen).ServeHTTP(httptest.NewRecorder(), original)
	require.Equal(t, "limit=5", original.URL.RawQuery)
	require.Empty(t, original.Header)
}

func TestRedirect(t *testing.T) {
	other := httptest.NewServer(staticHandler("text/plain", "the other server"))
	defer other.Close()
	s := newTestServer(t, newAPI(), `when verb(get, create) do redirect("`+other.URL+`")`)
	resp, body := s.get(pods + "/a?x=y")
	require.Equal(t, "the other server", body)
	require.Equal(t, pods+"/a?x=y", resp.Request.URL.RequestURI())

	s = newTestServer(t, newAPI(), `when verb(get, create) do redirect("")`)
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, body = s.get(pods + "/a?x=y")
	require.Equal(t, 307, resp.StatusCode)
	require.Equal(t, pods+"/a?x=y", resp.Header.Get("Location"))
	require.Contains(t, body, "Temporary Redirect")
}

// TestLateHeader tests that the header is sent with the first frame.
func TestLateHeader(t *testing.T) {
	const slow = "when event(ADDED) && first(1) do delay(5s)"
	require.Zero(t, sendRequests(t, slow, watchRequest).headerTime)
	g := sendRequests(t, "when verb(watch) do lateHeader\n"+slow, watchRequest)
	require.Equal(t, 6*time.Second, g.headerTime)
	require.Equal(t, allFrames, g.body)

	newTestServer(t, newAPI(podA), "when verb(watch) do lateHeader").watch("").expectLines(podA) // the watch goes on
}
