package scenario

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// trackedRequest is one request on the wire with its answer. All but what it tells the wire
// belongs to the goroutine that serves it.
type trackedRequest struct {
	http.ResponseWriter
	traffic    *trafficMonitor
	client     *externalClient // nil for a request of no guest
	request    *http.Request
	statusCode int // 0 until the header is written
	written    int // of what was written behind it
	logged     bool
}

// responseBufferSize is how much of an answer net/http keeps back before it sends anything:
// one that is broken off with less reaches no client.
const responseBufferSize = 2048

// track begins a request.
func (w *trafficMonitor) track(rw http.ResponseWriter, r *http.Request, g *externalClient) *trackedRequest {
	c := &trackedRequest{ResponseWriter: rw, traffic: w, client: g, request: r}
	if g != nil {
		// A client over the network is not slowed down, only found out.
		g.log.add(time.Now())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.activity++
	w.open[c] = time.Now()
	return c
}

// recordActivity notes that something was sent.
func (c *trackedRequest) recordActivity() {
	c.traffic.mu.Lock()
	defer c.traffic.mu.Unlock()
	c.traffic.activity++
}

// logResponse notes what the client has got, once.
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

// headerSent notes that the header of the answer is on its way.
func (c *trackedRequest) headerSent() {
	if c.statusCode == 0 {
		c.statusCode = http.StatusOK
	}
	c.logResponse(&http.Response{StatusCode: c.statusCode, Header: c.Header()})
}

// complete is called when the answer is. One that was written by nobody is an empty 200.
func (c *trackedRequest) complete() { c.headerSent() }

// finish is called when the request is over, well or not.
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

// FlushError is Flush for http.ResponseController.
func (c *trackedRequest) FlushError() error {
	defer c.headerSent()
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Hijack is for fault rules that break the connection.
func (c *trackedRequest) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.logResponse(nil)
	}
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (c *trackedRequest) Unwrap() http.ResponseWriter { return c.ResponseWriter }
