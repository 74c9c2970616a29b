package timeline_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/fakeapi/fake/internal/timeline"
)

// discardResponseWriter is a ResponseWriter that discards its input.
type discardResponseWriter struct{ header http.Header }

func (w discardResponseWriter) Header() http.Header         { return w.header }
func (w discardResponseWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w discardResponseWriter) WriteHeader(int)             {}

// BenchmarkRecord measures what recording adds to a request: a response of 1 KiB, and a frame of 1
// KiB for one more watch.
func BenchmarkRecord(b *testing.B) {
	w := discardResponseWriter{http.Header{"Content-Type": {"application/json"}}}
	kib := []byte(strings.Repeat("x", 1023) + "\n")
	b.Run("answer", func(b *testing.B) {
		h := timeline.NewRecorder(noHits).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(kib) }))
		request := httptest.NewRequest("GET", pods+"/a", nil)
		b.ReportAllocs()
		for b.Loop() {
			h.ServeHTTP(w, request)
		}
	})
	b.Run("frame", func(b *testing.B) {
		b.ReportAllocs()
		h := timeline.NewRecorder(noHits).Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for b.Loop() {
				_, _ = w.Write(kib)
			}
		}))
		h.ServeHTTP(w, httptest.NewRequest("GET", watchPath, nil))
	})
}
