package scenario

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// trackedRequest is the ResponseWriter of a request to the server of a LiveRun. It is used by the
// goroutine that serves the request.
type trackedRequest struct {
	http.ResponseWriter
	traffic    *trafficMonitor
	client     *externalClient // nil if the request is not from an external client
	request    *http.Request
	statusCode int // 0 before WriteHeader
	written    int // bytes of the body
	logged     bool
}

// responseBufferSize is the number of bytes that net/http buffers before it sends a response. A
// shorter response that is aborted does not reach the client.
const responseBufferSize = 2048

// track starts tracking a request.
func (m *trafficMonitor) track(rw http.ResponseWriter, r *http.Request, client *externalClient) *trackedRequest {
	t := &trackedRequest{ResponseWriter: rw, traffic: m, client: client, request: r}
	if client != nil {
		// External clients are not delayed. A loop is only detected.
		client.log.add(time.Now())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.activity++
	m.open[t] = time.Now()
	return t
}

// recordActivity counts a write.
func (t *trackedRequest) recordActivity() {
	t.traffic.mu.Lock()
	defer t.traffic.mu.Unlock()
	t.traffic.activity++
}

// logResponse logs the response, or nil for none, the first time that it is called.
func (t *trackedRequest) logResponse(answer *http.Response) {
	if t.logged {
		return
	}
	t.logged = true
	t.traffic.mu.Lock()
	delete(t.traffic.open, t)
	t.traffic.activity++
	t.traffic.mu.Unlock()
	if t.client != nil {
		t.client.log.afterResponse(requestLine(t.request, answer))
	}
}

// headerSent logs that the response header was sent.
func (t *trackedRequest) headerSent() {
	if t.statusCode == 0 {
		t.statusCode = http.StatusOK
	}
	t.logResponse(&http.Response{StatusCode: t.statusCode, Header: t.Header()})
}

// complete logs the response of a handler that has returned. A handler that writes nothing sends an
// empty 200.
func (t *trackedRequest) complete() { t.headerSent() }

// finish ends the tracking in any case.
func (t *trackedRequest) finish() {
	t.logResponse(nil)
	t.recordActivity()
}

// WriteHeader implements http.ResponseWriter.
func (t *trackedRequest) WriteHeader(code int) {
	if t.statusCode == 0 && code >= http.StatusOK {
		t.statusCode = code
	}
	t.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (t *trackedRequest) Write(p []byte) (int, error) {
	if t.written += len(p); t.written > responseBufferSize {
		t.headerSent()
	}
	defer t.recordActivity()
	return t.ResponseWriter.Write(p)
}

// FlushError implements Flush for http.ResponseController.
func (t *trackedRequest) FlushError() error {
	defer t.headerSent()
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker for fault rules that abort the connection.
func (t *trackedRequest) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err == nil {
		t.logResponse(nil)
	}
	return conn, rw, err
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (t *trackedRequest) Unwrap() http.ResponseWriter { return t.ResponseWriter }
