package faults

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// exchange is one request on its way through the handler.
type exchange struct {
	set *Set
	w   http.ResponseWriter
	r   *http.Request
	op  Op

	// notApplied is why the effect that acts just now cannot, although its rule has
	// matched; "" if it can.
	notApplied string
	// holdHeader holds the header back until the first byte behind it.
	holdHeader bool
}

// maxBufferedBody bounds how much of a body is kept to notice that a client leaves;
// real servers refuse bodies of more than 3 MiB.
const maxBufferedBody = 4 << 20

// sleep waits and reports whether the client is still there.
func (x *exchange) sleep(d time.Duration) bool {
	if !x.bufferBody() {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return x.r.Context().Err() == nil
	case <-x.r.Context().Done():
		return false
	}
}

// bufferBody reads the body into memory and reports whether it could. Only
// behind the end of the body does an HTTP/1.1 server watch the connection, and
// cancel the request when the client leaves.
func (x *exchange) bufferBody() bool {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return true
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, maxBufferedBody))
	if err != nil {
		return false
	}
	r := *x.r
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), x.r.Body), x.r.Body}
	x.r = &r
	return true
}

// waitForDisconnect returns when the client is gone.
func (x *exchange) waitForDisconnect() {
	if x.r.Body != nil {
		// An error here is as good as the end: what counts is the context.
		_, _ = io.Copy(io.Discard, x.r.Body)
	}
	<-x.r.Context().Done()
}

// reset breaks a connection on which nothing of the answer was sent, as hard as
// it can.
func (x *exchange) reset() outcome {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return aborted // HTTP/2, or no connection at all
	}
	tcpConn := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		tcpConn = secure.NetConn()
	}
	if tcp, ok := tcpConn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // what is lost is a RST instead of a FIN
	}
	_ = tcpConn.Close()
	return finished
}

// flush sends what was written. Where the writer cannot, it is sent later.
func (x *exchange) flush() { _ = x.tryFlush() }

func (x *exchange) tryFlush() error {
	if x.holdHeader {
		return nil
	}
	return http.NewResponseController(x.w).Flush()
}

// write sends bytes of the answer's body.
func (x *exchange) write(p []byte) (int, error) {
	x.holdHeader = x.holdHeader && len(p) == 0
	return x.w.Write(p)
}
