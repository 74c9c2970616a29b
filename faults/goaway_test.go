package faults_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// newKeepAliveServer returns a testServer whose client reuses connections, over HTTP/1.1 or HTTP/2.
func newKeepAliveServer(t *testing.T, http2 bool, next http.Handler, rules ...string) *testServer {
	srv := &testServer{t: t, set: &faults.Set{}}
	srv.add(rules...)
	s := httptest.NewUnstartedServer(faults.Handler(srv.set, next))
	s.EnableHTTP2 = http2
	s.StartTLS()
	srv.serve(s)
	srv.client.Transport.(*http.Transport).DisableKeepAlives = false
	return srv
}

// send sends a request and returns the response and the connection.
func (s *testServer) send(method string) (resp *http.Response, used httptrace.GotConnInfo) {
	s.t.Helper()
	ctx := httptrace.WithClientTrace(s.t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { used = i }})
	r, err := http.NewRequestWithContext(ctx, method, s.url+pods, http.NoBody)
	require.NoError(s.t, err)
	resp, err = s.client.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(s.t, err)
	return resp, used
}

// requireNewConnection sends requests over HTTP/2 until one uses a new connection. The client may
// send some before it has seen the GOAWAY.
func (s *testServer) requireNewConnection() {
	s.t.Helper()
	eventually(s.t, func() bool {
		_, used := s.send(http.MethodGet)
		return !used.Reused
	})
}

// TestGoAway tests that the request is served, in both phases and also by a later effect, and that
// the next request uses another connection.
func TestGoAway(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		for rule, code := range map[string]int{
			"when verb(create) do goaway":                      201,
			"when verb(create) && during(committed) do goaway": 201,
			"when code(201) do goaway, status(503)":            503,
			"when verb(create) do goaway, status(429)":         429,
		} {
			t.Run(name+" "+rule, func(t *testing.T) {
				s := newKeepAliveServer(t, http2, newAPI(), rule)
				_, first := s.send(http.MethodGet)
				require.False(t, first.Reused)
				// Without the effect, connections are reused. Over HTTP/1.1 they are not if the client is busy
				// at the end of the request, where its goroutines wait 50 milliseconds for each other.
				eventually(t, func() bool {
					_, used := s.send(http.MethodGet)
					return used.Reused
				})
				resp, last := s.send(http.MethodPost)
				require.Equal(t, name, resp.Proto)
				require.Equal(t, code, resp.StatusCode)
				require.Equal(t, !http2, resp.Close, "Connection: close is a header of HTTP/1.1")
				if http2 {
					s.requireNewConnection()
				} else {
					_, next := s.send(http.MethodGet)
					require.NotSame(t, last.Conn, next.Conn)
				}
				require.Len(t, s.set.Hits(), 1)
			})
		}
	}
}

// TestGoAwayLeavesStreams tests that watches continue after a GOAWAY on their connection.
func TestGoAwayLeavesStreams(t *testing.T) {
	for name, rule := range map[string]string{
		"its own":   "when verb(watch) do goaway",
		"another's": "when verb(list) && first(1) do goaway",
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(podA)
			srv := newKeepAliveServer(t, true, a, rule)
			s := srv.watch("")
			s.expectLines(podA)
			if name != "its own" {
				_, used := srv.send(http.MethodGet)
				require.True(t, used.Reused)
			}
			srv.requireNewConnection()
			a.events <- podB
			s.expectLines(podB)
			close(a.events)
			rest, err := s.readAll()
			require.NoError(t, err)
			require.Empty(t, rest)
		})
	}
}

// TestGoAwayLeavesUpgrades tests that the Connection header of an upgrade is unchanged.
func TestGoAwayLeavesUpgrades(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("when always do goaway")
	require.NoError(t, err)
	switching := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
	})
	r := httptest.NewRequest(http.MethodGet, pods+"/a/exec", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	w := httptest.NewRecorder()
	faults.Handler(&set, switching).ServeHTTP(w, r)
	require.Equal(t, []string{"Upgrade"}, w.Header()["Connection"])
}
