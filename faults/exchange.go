package faults

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// exchange is the state of one request in the handler.
type exchange struct {
	set *Set
	w   http.ResponseWriter
	r   *http.Request
	op  Op

	// notApplied is the reason why the current effect could not be applied, or "".
	notApplied string
	// answer is the response in place of a webhook, or nil if the webhook is called.
	answer *bufferedResponse
	// holdHeader delays the response header until the first byte of the body.
	holdHeader bool
}

// maxBufferedBody limits how much of a request body is buffered to detect that the client
// disconnects. kube-apiserver rejects bodies of more than 3 MiB.
const maxBufferedBody = 4 << 20

// sleep waits for d and reports whether the client is still connected.
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

// bufferBody reads the request body into memory and reports whether it succeeded. An HTTP/1.1
// server detects that the client disconnects, and cancels the request, only after the body has been
// read.
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

// readBody returns the request body, which remains readable.
func (x *exchange) readBody() ([]byte, error) {
	body, err := io.ReadAll(x.r.Body)
	r := *x.r
	r.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(body), x.r.Body}
	x.r = &r
	return body, err
}

// waitForDisconnect returns when the client has disconnected.
func (x *exchange) waitForDisconnect() {
	if x.r.Body != nil {
		// Only the context matters: it is canceled after an error, too.
		_, _ = io.Copy(io.Discard, x.r.Body)
	}
	<-x.r.Context().Done()
}

// reset aborts a connection on which nothing of the response was sent, with a TCP reset if
// possible.
func (x *exchange) reset() outcome {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return aborted // HTTP/2, or not a network connection
	}
	tcpConn := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		tcpConn = secure.NetConn()
	}
	if tcp, ok := tcpConn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // on error the client receives a FIN instead of a RST
	}
	_ = tcpConn.Close()
	return finished
}

// flush sends what was written. If the writer does not support it, the bytes are sent later.
func (x *exchange) flush() { _ = x.tryFlush() }

func (x *exchange) tryFlush() error {
	if x.holdHeader {
		return nil
	}
	return http.NewResponseController(x.w).Flush()
}

// write writes bytes of the response body.
func (x *exchange) write(p []byte) (int, error) {
	x.holdHeader = x.holdHeader && len(p) == 0
	return x.w.Write(p)
}
