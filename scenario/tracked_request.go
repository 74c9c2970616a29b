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
func (w *trafficMonitor) track(rw http.ResponseWriter, r *http.Request, g *externalClient) *trackedRequest {
	c := &trackedRequest{ResponseWriter: rw, traffic: w, client: g, request: r}
	if g != nil {
		// External clients are not delayed. A loop is only detected.
		g.log.add(time.Now())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.activity++
	w.open[c] = time.Now()
	return c
}

// recordActivity counts a write.
func (c *trackedRequest) recordActivity() {
	c.traffic.mu.Lock()
	defer c.traffic.mu.Unlock()
	c.traffic.activity++
}

// logResponse logs the response, or nil for none, the first time that it is called.
func (c *trackedRequest) logResponse(answer *http.Response) {
	if c.logged {
		return
	}
	c.logged = true
	c.traffic.mu.Lock()
	delete(c.traffic.open, c)
	c.traffic.activity++
	c.traffic.mu.Unlock()
	if c.client != nil {
		c.client.log.afterResponse(requestLine(c.request, answer))
	}
}

// headerSent logs that the response header was sent.
func (c *trackedRequest) headerSent() {
	if c.statusCode == 0 {
		c.statusCode = http.StatusOK
	}
	c.logResponse(&http.Response{StatusCode: c.statusCode, Header: c.Header()})
}

// complete logs the response of a handler that has returned. A handler that writes nothing sends an
// empty 200.
func (c *trackedRequest) complete() { c.headerSent() }

// finish ends the tracking in any case.
func (c *trackedRequest) finish() {
	c.logResponse(nil)
	c.recordActivity()
}

// WriteHeader implements http.ResponseWriter.
func (c *trackedRequest) WriteHeader(code int) {
	if c.statusCode == 0 && code >= http.StatusOK {
		c.statusCode = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (c *trackedRequest) Write(p []byte) (int, error) {
	if c.written += len(p); c.written > responseBufferSize {
		c.headerSent()
	}
	defer c.recordActivity()
	return c.ResponseWriter.Write(p)
}

// FlushError implements Flush for http.ResponseController.
func (c *trackedRequest) FlushError() error {
	defer c.headerSent()
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker for fault rules that abort the connection.
func (c *trackedRequest) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.logResponse(nil)
	}
	return conn, rw, err
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (c *trackedRequest) Unwrap() http.ResponseWriter { return c.ResponseWriter }
