// Package compress compresses responses with gzip where a Kubernetes API server does (HT-02, HT-03,
// SI-17): large responses of the resource API, and streaming lists.
//
// Its handler is outside of the fault rules and the timeline, which read and write uncompressed
// bytes. Writers are pooled, and use the fastest compression level, as in a real server.
package compress

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/fakeapi/internal/requestinfo"
)

// Threshold is the size in bytes up to which a response is not compressed.
const Threshold = 128 << 10

const encoding = "gzip"

// Compressor compresses responses. The zero value is ready for use. It is safe for concurrent use.
type Compressor struct {
	idle         sync.Pool // *gzip.Writer
	watchListOff atomic.Bool
}

// SetWatchList sets whether the server has streaming lists, which is the default. It then treats
// some watches as streaming lists that do not ask for it (SI-10).
func (c *Compressor) SetWatchList(on bool) { c.watchListOff.Store(!on) }

// Handler compresses responses of next whose Content-Length is above Threshold, and streaming
// lists, for clients that accept gzip.
func (c *Compressor) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requestinfo.FromRequest(r).Prefix == "" || !accepts(r.Header.Get("Accept-Encoding")) {
			next.ServeHTTP(w, r)
			return
		}
		z := &responseWriter{ResponseWriter: w, compressor: c, stream: isStreamingList(r, !c.watchListOff.Load())}
		next.ServeHTTP(z, r)
		z.end()
	})
}

// accepts reports whether an Accept-Encoding header has gzip, by its name and without a parameter,
// as a real server reads it.
func accepts(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(item) == encoding {
			return true
		}
	}
	return false
}

// isStreamingList reports whether a request is a watch that begins with all objects and a bookmark
// (SI-17). A watch with bookmarks that sets neither a resourceVersion nor sendInitialEvents is one
// by default (SI-10).
func isStreamingList(r *http.Request, byDefault bool) bool {
	if !strings.Contains(r.URL.RawQuery, "allowWatchBookmarks=") {
		return false
	}
	query := r.URL.Query()
	if !requestinfo.BoolParam(query["allowWatchBookmarks"]) || requestinfo.FromRequest(r).Verb != requestinfo.Watch {
		return false
	}
	if sendInitialEvents, set := query["sendInitialEvents"]; set {
		return requestinfo.BoolParam(sendInitialEvents)
	}
	revision := query.Get("resourceVersion")
	return byDefault && query.Get("resourceVersionMatch") == "" && (revision == "" || revision == "0")
}

func (c *Compressor) getWriter(w http.ResponseWriter) *gzip.Writer {
	if z, ok := c.idle.Get().(*gzip.Writer); ok {
		z.Reset(w)
		return z
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return z
}

func (c *Compressor) putWriter(z *gzip.Writer) {
	z.Reset(nil)
	c.idle.Put(z)
}

// responseWriter compresses the response if it is large enough.
type responseWriter struct {
	http.ResponseWriter
	compressor *Compressor
	stream     bool // the request is a streaming list

	decided, compress bool
	zip               *gzip.Writer // nil while there is nothing to compress
	contentLength     int          // the Content-Length header
	written           int
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(code int) {
	if !w.decided && code >= http.StatusOK {
		w.decided = true
		w.decide(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *responseWriter) decide(code int) {
	h := w.Header()
	if h.Get("Content-Encoding") != "" {
		return
	}
	size, err := strconv.Atoi(h.Get("Content-Length"))
	long := err == nil && size > Threshold
	if w.stream = w.stream && code == http.StatusOK; !w.stream && !long {
		return
	}
	w.compress, w.contentLength = true, size
	h.Del("Content-Length")
	h.Set("Content-Encoding", encoding)
	h.Add("Vary", "Accept-Encoding")
}

// Write implements io.Writer.
func (w *responseWriter) Write(p []byte) (int, error) {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
	if !w.compress {
		return w.ResponseWriter.Write(p)
	}
	if w.zip == nil {
		w.zip = w.compressor.getWriter(w.ResponseWriter)
	}
	n, err := w.zip.Write(p)
	w.written += n
	return n, err
}

// Flush implements http.Flusher.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController. Each flush of a stream ends the gzip member; the
// next write begins another, so that an idle watch holds no gzip.Writer.
func (w *responseWriter) FlushError() error {
	if !w.decided { // the flush sends the header
		w.WriteHeader(http.StatusOK)
	}
	if w.zip != nil {
		// Flush before closing the member: Go's reader returns the data at the end of a member only
		// after it has read the header of the next one.
		if err := w.zip.Flush(); err != nil {
			return err
		}
		if w.stream {
			if err := w.close(); err != nil {
				return err
			}
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *responseWriter) close() error {
	err := w.zip.Close()
	w.compressor.putWriter(w.zip)
	w.zip = nil
	return err
}

// end completes the response. A response shorter than its Content-Length is aborted, as it is
// without gzip.
func (w *responseWriter) end() {
	if w.compress && !w.stream && w.written < w.contentLength {
		panic(http.ErrAbortHandler)
	}
	if w.zip != nil {
		_ = w.close() // the client may have disconnected
	}
}
