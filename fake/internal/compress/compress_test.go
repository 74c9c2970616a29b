package compress

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const path = "/api/v1/namespaces/default/configmaps"

// serve answers a request with a body of size bytes. A Content-Length is set unless announced is
// negative.
func serve(t *testing.T, target, accept string, announced, size int, header ...string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	body := strings.Repeat("x", size)
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	new(Compressor).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if announced >= 0 {
			w.Header().Set("Content-Length", strconv.Itoa(announced))
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		n, err := io.WriteString(w, body)
		require.NoError(t, err)
		require.Equal(t, size, n)
	})).ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" {
		return w, w.Body.String()
	}
	z, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	return w, string(plain)
}

func TestLargeAnswers(t *testing.T) {
	for _, accept := range []string{"gzip", "deflate, gzip", "br,gzip,identity"} {
		w, plain := serve(t, path, accept, Threshold+1, Threshold+1)
		require.Equal(t, "gzip", w.Header().Get("Content-Encoding"), accept)
		require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
		require.Empty(t, w.Header().Get("Content-Length"))
		require.Len(t, plain, Threshold+1)
	}
}

func TestNotCompressed(t *testing.T) {
	const large = Threshold + 1
	tests := map[string]struct {
		target, accept  string
		announced, size int
		header          []string
	}{
		"at the threshold":     {path, "gzip", Threshold, Threshold, nil},
		"of unknown size":      {path, "gzip", -1, large, nil},
		"not accepted":         {path, "", large, large, nil},
		"other encodings":      {path, "deflate, gzipped, *", large, large, nil},
		"with a parameter":     {path, "gzip;q=1", large, large, nil},
		"no resource":          {"/openapi/v2", "gzip", large, large, nil},
		"no resource, by name": {"/apiary", "gzip", large, large, nil},
		"encoded already":      {path, "gzip", large, large, []string{"Content-Encoding", "br"}},
		"a watch":              {path + "?watch=1", "gzip", -1, large, nil},
		"a watch from nothing": {path + "?watch=1&sendInitialEvents=false", "gzip", -1, large, nil},
		"without bookmarks":    {path + "?watch=1&sendInitialEvents=true", "gzip", -1, large, nil},
		"not from now":         {path + "?watch=1&allowWatchBookmarks=true&resourceVersion=5", "gzip", -1, large, nil},
		"no watch":             {path + "?sendInitialEvents=true&allowWatchBookmarks=true", "gzip", -1, large, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, plain := serve(t, tt.target, tt.accept, tt.announced, tt.size, tt.header...)
			require.NotEqual(t, "gzip", w.Header().Get("Content-Encoding"))
			require.Empty(t, w.Header().Get("Vary"))
			require.Len(t, plain, tt.size)
		})
	}
}

// A flush before the first write sends the header, so that the body is as the header says.
func TestFlushBeforeWrite(t *testing.T) {
	for target, want := range map[string]string{path: "", path + "?watch=1&allowWatchBookmarks=true&sendInitialEvents=true": "gzip"} {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		new(Compressor).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			require.NoError(t, http.NewResponseController(w).Flush())
			_, err := io.WriteString(w, strings.Repeat("x", Threshold+1))
			require.NoError(t, err)
		})).ServeHTTP(w, r)
		require.Equal(t, want, w.Result().Header.Get("Content-Encoding"), target)
		require.Equal(t, want == "gzip", strings.HasPrefix(w.Body.String(), "\x1f\x8b"), target)
	}
}

// A response that is shorter than its Content-Length is aborted with gzip, too.
func TestShort(t *testing.T) {
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { serve(t, path, "gzip", Threshold+2, Threshold+1) })
}

// Each flush of a streaming list can be read at once and completely.
func TestStream(t *testing.T) {
	var c Compressor
	step := make(chan string)
	srv := httptest.NewServer(c.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		for text := range step {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	})))
	t.Cleanup(srv.Close)
	end := sync.OnceFunc(func() { close(step) })
	t.Cleanup(end)
	r, err := http.NewRequest(http.MethodGet, srv.URL+path+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=1", nil)
	require.NoError(t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	go func() { step <- "first" }()
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	require.Equal(t, "Accept-Encoding", resp.Header.Get("Vary"))
	z, err := gzip.NewReader(resp.Body)
	require.NoError(t, err)
	for _, text := range []string{"second", "third"} {
		got := make([]byte, 5)
		_, err = io.ReadFull(z, got)
		require.NoError(t, err)
		step <- text
		if text == "second" {
			require.Equal(t, "first", string(got))
		}
	}
	end()
	rest, err := io.ReadAll(z)
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(rest, []byte("third")), "%q", rest)
}
