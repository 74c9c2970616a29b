package faults_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// TestHeaderWriterInterfaces tests that handlers can flush, hijack and send informational
// responses.
func TestHeaderWriterInterfaces(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "x")
		if strings.HasSuffix(r.URL.Path, "/b") {
			conn, _, err := w.(http.Hijacker).Hijack()
			must(err)
			conn.Close()
		}
	})
	s := newTestServer(t, next, "when verb(get) do header(X-New, a)")
	resp, body := s.get(pods + "/a")
	require.Equal(t, "a", resp.Header.Get("X-New"))
	require.Equal(t, "x", body)
	_, _, err := s.do(http.MethodGet, pods+"/b")
	require.Error(t, err)
	s = newTestServer(t, next, "when verb(get) do header(X-New, a), reset")
	_, _, err = s.do(http.MethodGet, pods+"/a")
	require.Error(t, err)
}

// headerRecorder is a ResponseWriter that records the calls of WriteHeader and Flush.
type headerRecorder struct {
	header http.Header
	calls  []string
	// hijackErr is the error of Hijack.
	hijackErr error
}

func (w *headerRecorder) Header() http.Header         { return w.header }
func (w *headerRecorder) Write(p []byte) (int, error) { return len(p), nil }
func (w *headerRecorder) Flush()                      { w.calls = append(w.calls, "flush") }

func (w *headerRecorder) WriteHeader(code int) {
	w.calls = append(w.calls, http.StatusText(code)+" "+strings.Join(w.header["Warning"], " "))
}

func (w *headerRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, w.hijackErr }

// TestHeaderIsChangedOnce tests that the header is changed when it is written, but not for
// informational responses and hijacked connections.
func TestHeaderIsChangedOnce(t *testing.T) {
	const warning = `299 - "a"`
	hijack := func(w http.ResponseWriter) { _, _, _ = w.(http.Hijacker).Hijack() }
	flush := func(w http.ResponseWriter) { w.(http.Flusher).Flush() }
	for _, c := range []struct {
		handle    func(w http.ResponseWriter)
		hijackErr error
		want      []string
	}{
		{func(http.ResponseWriter) {}, nil, []string{"OK " + warning}},
		{func(w http.ResponseWriter) { w.WriteHeader(404) }, nil, []string{"Not Found " + warning}},
		{func(w http.ResponseWriter) { w.WriteHeader(103); flush(w) }, nil, []string{"Early Hints ", "OK " + warning, "flush"}},
		{func(w http.ResponseWriter) { w.WriteHeader(201); w.WriteHeader(404) }, nil, []string{"Created " + warning, "Not Found " + warning}},
		{func(w http.ResponseWriter) { _, _ = w.Write(nil); flush(w) }, nil, []string{"OK " + warning, "flush"}},
		{hijack, nil, nil},
		{hijack, http.ErrNotSupported, []string{"OK " + warning}},
		{func(w http.ResponseWriter) { flush(w); hijack(w) }, http.ErrNotSupported, []string{"OK " + warning, "flush"}},
	} {
		var set faults.Set
		_, err := set.AddText("when verb(get) do warn(a)")
		require.NoError(t, err)
		w := &headerRecorder{header: http.Header{}, hijackErr: c.hijackErr}
		h := faults.Handler(&set, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.handle(w) }))
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, pods+"/a", nil))
		require.Equal(t, c.want, w.calls)
	}
}
