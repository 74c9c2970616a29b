package fakeapi

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// requestsKept bounds the memory of a requestLog.
const requestsKept = 1000

// seenRequest is a request that the server got.
type seenRequest struct {
	// Seq numbers them from 1.
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	// Path has the query with it.
	Path string `json:"path"`
	// Code is what was answered; 0 while nothing is, and if nothing ever was.
	Code      int    `json:"code"`
	UserAgent string `json:"userAgent"`
}

// String is one line, without number and time.
func (s seenRequest) String() string {
	return fmt.Sprintf("%3d %s %s %q", s.Code, s.Method, s.Path, s.UserAgent)
}

// requestLog is a ring of the latest requests.
type requestLog struct {
	mu   sync.Mutex // guards all below
	ring []seenRequest
	seq  uint64
}

func (l *requestLog) add(r *http.Request) (seq uint64) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	s := seenRequest{Seq: l.seq, Time: now, Method: r.Method, Path: r.URL.RequestURI(), UserAgent: r.UserAgent()}
	if len(l.ring) < requestsKept {
		l.ring = append(l.ring, s)
	} else {
		l.ring[l.place(l.seq)] = s
	}
	return l.seq
}

// place is where a request lies once the ring is full, and before that as well.
func (l *requestLog) place(seq uint64) int { return int((seq - 1) % requestsKept) }

// answered notes the code of a request, if it is still known.
func (l *requestLog) answered(seq uint64, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.place(seq); at < len(l.ring) && l.ring[at].Seq == seq {
		l.ring[at].Code = code
	}
}

// list gives the requests, the oldest first.
func (l *requestLog) list() []seenRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]seenRequest, 0, len(l.ring))
	oldest := 0
	if len(l.ring) == requestsKept {
		oldest = l.place(l.seq + 1)
	}
	return append(append(all, l.ring[oldest:]...), l.ring[:oldest]...)
}

// record notes every request that next serves.
func (l *requestLog) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&recorded{ResponseWriter: w, log: l, seq: l.add(r)}, r)
	})
}

// recorded is the ResponseWriter of a request that is recorded.
type recorded struct {
	http.ResponseWriter
	log  *requestLog
	seq  uint64
	code int // 0 until the header is written
}

// Unwrap is for http.ResponseController.
func (w *recorded) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorded) note(code int) {
	if w.code == 0 && code >= http.StatusOK {
		w.code = code
		w.log.answered(w.seq, code)
	}
}

func (w *recorded) WriteHeader(code int) {
	w.note(code)
	w.ResponseWriter.WriteHeader(code)
}

func (w *recorded) Write(p []byte) (int, error) {
	w.note(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// FlushError is Flush for http.ResponseController.
func (w *recorded) FlushError() error {
	w.note(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}
