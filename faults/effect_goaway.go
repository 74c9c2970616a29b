package faults

import (
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// GoAway lets the request be served and ends its connection, in peace, as a server
// does that sends its clients elsewhere (HT-10): over HTTP/2 the answer's header comes
// with a GOAWAY frame, after which the client may finish what runs on the connection,
// watches too, and begins nothing new there; over HTTP/1.1 the header has "Connection:
// close", and the connection ends behind the answer. It goes with the header of whatever
// answers the request, which may be another effect behind this one; that of a watch is
// sent when the watch begins, so that in its stream it is too late.
func GoAway() Effect { return goAway{} }

type goAway struct{}

func (goAway) String() string { return "goaway" }
func (goAway) isFinal() bool  { return false }
func (goAway) check() error   { return nil }

func (goAway) applyBefore(x *exchange) outcome {
	if requestinfo.IsUpgrade(x.r) {
		return proceed // this connection is of no use to other requests, whatever comes
	}
	x.changeHeader(setConnectionClose)
	return proceed
}

func (e goAway) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// setConnectionClose says in a header what net/http understands, whichever the protocol.
func setConnectionClose(h http.Header) { h.Set("Connection", "close") }
