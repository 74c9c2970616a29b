package scenario

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// crossing is one request on the wire with its answer. All but what it tells the wire
// belongs to the goroutine that serves it.
type crossing struct {
	http.ResponseWriter
	wire    *wire
	guest   *guest // nil for a request of no guest
	request *http.Request
	code    int // 0 until the header is written
	size    int // of what was written behind it
	told    bool
}

// buffered is how much of an answer net/http keeps back before it sends anything:
// one that is broken off with less reaches no client.
const buffered = 2048

// cross begins a request.
func (w *wire) cross(rw http.ResponseWriter, r *http.Request, g *guest) *crossing {
	c := &crossing{ResponseWriter: rw, wire: w, guest: g, request: r}
	if g != nil {
		// A client over the network is not slowed down, only found out.
		g.lane.add(time.Now())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved++
	w.open[c] = time.Now()
	return c
}

// move notes that something was sent.
func (c *crossing) move() {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.wire.moved++
}

// tell notes what the client has got, once.
func (c *crossing) tell(answer *http.Response) {
	if c.told {
		return
	}
	c.told = true
	c.wire.mu.Lock()
	delete(c.wire.open, c)
	c.wire.moved++
	c.wire.mu.Unlock()
	if c.guest != nil {
		c.guest.lane.after(requestLine(c.request, answer))
	}
}

// sent notes that the header of the answer is on its way.
func (c *crossing) sent() {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	c.tell(&http.Response{StatusCode: c.code, Header: c.Header()})
}

// complete is called when the answer is. One that was written by nobody is an empty 200.
func (c *crossing) complete() { c.sent() }

// end is called when the request is over, well or not.
func (c *crossing) end() {
	c.tell(nil)
	c.move()
}

// WriteHeader implements http.ResponseWriter.
func (c *crossing) WriteHeader(code int) {
	if c.code == 0 && code >= http.StatusOK {
		c.code = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (c *crossing) Write(p []byte) (int, error) {
	if c.size += len(p); c.size > buffered {
		c.sent()
	}
	defer c.move()
	return c.ResponseWriter.Write(p)
}

// FlushError is Flush for http.ResponseController.
func (c *crossing) FlushError() error {
	defer c.sent()
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Hijack is for fault rules that break the connection.
func (c *crossing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.tell(nil)
	}
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (c *crossing) Unwrap() http.ResponseWriter { return c.ResponseWriter }
