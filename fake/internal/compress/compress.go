// Package compress answers in gzip where a Kubernetes API server does (HT-02, HT-03, SI-17): large
// answers of the resource API, and streaming lists.
//
// It stands outside of all that looks into answers, such as fault rules and the timeline, so that
// those see them as they are. What compresses is kept for the next answer, and its level is the
// cheapest, as in a real server.
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

// Threshold is the size in bytes up to which an answer goes out as it is.
const Threshold = 128 << 10

const encoding = "gzip"

// Compressor compresses answers. The zero value is ready. It may be used by any number of requests
// at once.
type Compressor struct {
	idle         sync.Pool // of *gzip.Writer
	watchListOff atomic.Bool
}

// SetWatchList says whether the server has streaming lists, which is the default. It makes them of watches that do not ask for it (SI-10).
func (c *Compressor) SetWatchList(on bool) { c.watchListOff.Store(!on) }

// Handler compresses those answers of next that announce a Content-Length above Threshold, and the
// watches that begin with all that is there, each for clients that accept it.
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

// accepts reads Accept-Encoding as a real server does: gzip by its name, with no parameter.
func accepts(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(item) == encoding {
			return true
		}
	}
	return false
}

// isStreamingList reports whether a request is for a watch that begins with all that is there and ends that with a bookmark (SI-17). One
// that asks for bookmarks, and neither for a state nor for something else, is one by default (SI-10).
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
		panic(err) // there is this level
	}
	return z
}

func (c *Compressor) putWriter(z *gzip.Writer) {
	z.Reset(nil)
	c.idle.Put(z)
}

// responseWriter is an answer that may be compressed.
type responseWriter struct {
	http.ResponseWriter
	compressor *Compressor
	stream     bool // of a streaming list

	decided, compress bool
	zip               *gzip.Writer // nil while there is nothing to compress
	contentLength     int          // the size that the answer has by its header
	written           int
}

// Unwrap is for http.ResponseController.
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

// Flush sends what was written.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController. A stream ends its gzip member with each flush, and
// begins another when there is more: a watch at rest holds no compressor.
func (w *responseWriter) FlushError() error {
	if w.zip != nil {
		// Before the end of a member: Go's reader gives what comes with the end only when it has seen
		// the next one begin.
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

// end completes the answer. One that is shorter than it was announced to be ends in disorder, as it
// would without gzip.
func (w *responseWriter) end() {
	if w.compress && !w.stream && w.written < w.contentLength {
		panic(http.ErrAbortHandler)
	}
	if w.zip != nil {
		_ = w.close() // the client may be gone; nobody is left to tell
	}
}
