// Package timeline remembers what clients and server did: requests and answers,
// the frames of each watch, what fault rules hit, and when. It records in bounded
// memory, and gives what it has as values, as compact text and as one HTML page.
package timeline

import (
	"time"

	"example.com/fakeapi/faults"
)

// Timeline is what a server remembers of its life, the oldest first.
type Timeline struct {
	// Begin and End are when the server started and when this was taken.
	Begin, End time.Time
	// Exchanges are requests with their answers, in the order of their arrival.
	Exchanges []Exchange
	// Hits are what fault rules did, in the order of time.
	Hits []faults.Hit
	// ExchangesDropped counts the exchanges that were dropped to bound the memory; the
	// oldest of those that have ended go first.
	ExchangesDropped uint64
}

// Exchange is one request and what came of it.
type Exchange struct {
	// Seq numbers the exchanges of a server from 1.
	Seq uint64
	// Order numbers the beginnings of exchanges and the writes of frames together, as
	// they came: on virtual time much happens at one moment.
	Order uint64
	// Begin is when the request came. End is when the answer was complete; it is
	// zero while it is not.
	Begin, End time.Time
	// UserAgent is the user agent of the request.
	UserAgent string
	// Method is that of HTTP, Verb that of the API: get, list, watch, create,
	// update, patch, delete, deletecollection; "" for what is no resource.
	Method, Verb string
	// Path has the query with it.
	Path string
	// StatusCode is what was answered; 0 while nothing is, and if nothing ever was.
	StatusCode int
	// ResourceVersion is that of the answer's object or list; "" where the answer
	// has none.
	ResourceVersion string
	// Request and Answer are the bodies. A watch has frames instead of an answer.
	Request, Response Body
	// Frames are the events of a watch as they were sent, after all faults. A frame
	// that was not complete is the last.
	Frames []Frame
	// FramesDropped counts the frames of this watch that were dropped to bound
	// the memory; the oldest go first.
	FramesDropped uint64
}

// Frame is one event of a watch.
type Frame struct {
	Time time.Time
	// Order is its place among frames and exchanges; those that were sent together
	// have the same.
	Order uint64
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; "" for bytes that are
	// no event.
	Type string
	// Namespace and Name are those of the object; for ERROR the Name is the reason
	// of the Status.
	Namespace, Name string
	ResourceVersion string
	Body            Body
}

// Body is what was sent, or the beginning of it.
type Body struct {
	// ContentType is the media type, without parameters.
	ContentType string
	// Data are the bytes that were kept, as they were sent.
	Data []byte
	// Size is how many bytes there were; it is more than len(Data) if the rest was
	// not kept.
	Size int64
}
