// Package timeline records what clients and the server did: requests and responses, the frames of
// each watch, the decisions of admission webhooks and policies, and the hits of fault rules, with
// their times. Its memory is limited. A Timeline is the record as values, and as compact text.
package timeline

import (
	"time"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// Timeline is the record of a server, the oldest entry first.
type Timeline struct {
	// Begin is when the server started, End when the record was taken.
	Begin, End time.Time
	// Exchanges has the requests with their responses, in the order of their arrival.
	Exchanges []Exchange
	// Hits has the hits of fault rules, in the order of time.
	Hits []faults.Hit
	// Notes has what was done besides requests, in the order of time.
	Notes []Note
	// ExchangesDropped counts the exchanges that were dropped to limit the memory, the oldest ones
	// that had ended.
	ExchangesDropped uint64
}

// Exchange is one request and its response.
type Exchange struct {
	// Seq numbers the exchanges of a server from 1.
	Seq uint64
	// Order orders the beginnings of exchanges and the writes of frames. On virtual time, many of
	// them have the same time.
	Order uint64
	// Begin is when the request arrived. End is when the response was complete, or zero if it is
	// not yet.
	Begin, End time.Time
	// Info is the parsed request line.
	Info requestinfo.RequestInfo
	// User is the name of the user, or "" if the request was not authenticated.
	User string
	// UserAgent is the user agent of the request.
	UserAgent string
	// Method is the HTTP method. Verb is the API verb (get, list, watch, create, update, patch,
	// delete, deletecollection), or "" if the request is not for a resource.
	Method, Verb string
	// Path is the path with the query.
	Path string
	// StatusCode is the status code of the response, or 0 if there is none.
	StatusCode int
	// ResourceVersion is that of the object or list in the response, or "".
	ResourceVersion string
	// Request and Response are the bodies. A watch has Frames instead of a Response.
	Request, Response Body
	// Frames has the events of a watch as they were sent, after all faults. An incomplete frame is
	// the last one.
	Frames []Frame
	// FramesDropped counts the frames of this watch that were dropped to limit the memory, the
	// oldest ones.
	FramesDropped uint64
	// Admission has the decisions of admission webhooks and policies about the write, in the order
	// in which they were made.
	Admission []AdmissionDecision
	// DecisionsDropped counts the decisions that were dropped to limit the memory, the oldest ones.
	DecisionsDropped uint64
}

// Frame is one event of a watch.
type Frame struct {
	Time time.Time
	// Order is the frame's order among frames and exchanges. Frames of one write have the same
	// Order.
	Order uint64
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, or "" if the frame is not an event.
	Type string
	// Namespace and Name are those of the object. For ERROR, Name is the reason of the Status.
	Namespace, Name string
	ResourceVersion string
	Body            Body
}

// Body is a body, or the beginning of one.
type Body struct {
	// ContentType is the media type, without parameters.
	ContentType string
	// Data has the recorded bytes, as they were sent except for secrets.
	Data []byte
	// Size is the number of bytes that were sent, with secrets replaced as in Data. It is more than
	// len(Data) if the body is truncated.
	Size int64
}
