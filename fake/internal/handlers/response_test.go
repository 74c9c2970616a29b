package handlers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// failingWriter keeps what is written and returns an error, like a stream of HTTP/2 that is reset
// while its frame is being written.
type failingWriter struct{ kept []byte }

// Header implements http.ResponseWriter.
func (w *failingWriter) Header() http.Header { return http.Header{} }

// WriteHeader implements http.ResponseWriter.
func (w *failingWriter) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (w *failingWriter) Write(p []byte) (int, error) {
	w.kept = p
	return 0, errors.New("stream closed")
}

// The body of a response that could not be written is not used again.
func TestBufferOfFailedWrite(t *testing.T) {
	maps := builtin.Table().Lookup("", "v1", "configmaps")
	buffers := &sync.Pool{New: func() any { return new([]byte) }}
	reply := func(w http.ResponseWriter, name string) {
		rec := &memstore.Record{Data: []byte(`{"metadata":{"name":"` + name + `","resourceVersion":"1"}}`)}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		q := &request{w: w, r: r, res: maps, parent: maps, encoder: encode.NewEncoder(maps, negotiate.Output{}), buffers: buffers}
		require.NoError(t, q.replyRecord(http.StatusOK, rec))
	}
	for range 20 {
		w, other := &failingWriter{}, httptest.NewRecorder()
		reply(w, "aaaaaaaaa")
		reply(other, "bbbbbbbbb")
		require.Contains(t, string(w.kept), "aaaaaaaaa")
		require.Contains(t, other.Body.String(), "bbbbbbbbb")
	}
}
