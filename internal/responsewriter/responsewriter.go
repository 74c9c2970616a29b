// Package responsewriter has http.ResponseWriters for handlers that need to know or to hold back
// what the handlers below them write.
package responsewriter

import (
	"bufio"
	"bytes"
	"maps"
	"net"
	"net/http"
)

// Buffer holds a response back until SendTo is called. Make one with NewBuffer.
type Buffer struct {
	// Code is the status code, 0 as long as none has been written.
	Code int
	// Body is the body.
	Body bytes.Buffer

	header http.Header
}

// NewBuffer returns an empty Buffer. Its header starts as a copy of header.
func NewBuffer(header http.Header) *Buffer {
	if header = header.Clone(); header == nil {
		header = http.Header{}
	}
	return &Buffer{header: header}
}

// Header implements http.ResponseWriter.
func (b *Buffer) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter. Informational codes (1xx) are dropped.
func (b *Buffer) WriteHeader(code int) {
	if b.Code == 0 && code >= http.StatusOK {
		b.Code = code
	}
}

// Write implements http.ResponseWriter.
func (b *Buffer) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.Body.Write(p)
}

// Flush implements http.Flusher. It does nothing.
func (b *Buffer) Flush() {}

// SendHeaderTo writes the header and the code to w. It replaces the header of w.
func (b *Buffer) SendHeaderTo(w http.ResponseWriter) {
	header := w.Header()
	clear(header)
	maps.Copy(header, b.header)
	if b.Code != 0 {
		w.WriteHeader(b.Code)
	}
}

// SendTo writes the response to w. It replaces the header of w. Errors are those of a client that
// has closed its connection and are ignored.
func (b *Buffer) SendTo(w http.ResponseWriter) {
	b.SendHeaderTo(w)
	_, _ = w.Write(b.Body.Bytes())
}

// Recorder is implemented by ResponseWriters that record the outcome of a response.
type Recorder interface {
	http.ResponseWriter
	// StatusCode returns the status code that was written, or 0 if none was. It may be 0 for a
	// response that starts with its body.
	StatusCode() int
	// Hijacked reports whether the connection was hijacked.
	Hijacked() bool
}

// Status is a Recorder that passes everything on. The zero value needs a ResponseWriter.
type Status struct {
	http.ResponseWriter
	code     int
	hijacked bool
}

var _ Recorder = (*Status)(nil)

// Unwrap returns the ResponseWriter, for http.ResponseController.
func (s *Status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *Status) WriteHeader(code int) {
	if s.code == 0 && code >= http.StatusOK {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

// Hijack implements http.Hijacker for http.ResponseController.
func (s *Status) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(s.ResponseWriter).Hijack()
	s.hijacked = s.hijacked || err == nil
	return conn, rw, err
}

// StatusCode implements Recorder.
func (s *Status) StatusCode() int { return s.code }

// Hijacked implements Recorder.
func (s *Status) Hijacked() bool { return s.hijacked }
