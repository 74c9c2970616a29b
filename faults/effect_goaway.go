package faults

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// GoAway serves the request and then closes the connection gracefully, as a server does that
// rebalances its clients (HT-10). Over HTTP/2, a GOAWAY frame is sent with the header of the
// response: the client can finish the streams of the connection, including watches, and opens a new
// connection for further requests. Over HTTP/1.1 the header has "Connection: close", and the
// connection is closed after the response. The effect also applies to the response of a later
// effect. The header of a watch is sent when the watch starts, so GoAway does not support the
// Stream phase.
func GoAway() Effect { return goAway{} }

type goAway struct{}

func (goAway) String() string { return "goaway" }
func (goAway) isFinal() bool  { return false }
func (goAway) check() error   { return nil }

func (goAway) applyBefore(x *exchange) outcome {
	if requestinfo.IsUpgrade(x.r) {
		return proceed // an upgraded connection serves no other requests
	}
	x.changeHeader(setConnectionClose)
	return proceed
}

func (e goAway) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// setConnectionClose sets the header that makes net/http close the connection, in HTTP/2 by GOAWAY.
func setConnectionClose(h http.Header) { h.Set("Connection", "close") }
