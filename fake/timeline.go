package fakeapi

import (
	"io"
	"net/http"
	"time"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/fake/internal/timeline/page"
	"example.com/fakeapi/faults"
)

// Timeline is the record of a server, the oldest entry first: requests with their responses, the
// frames of watches, the decisions of admission webhooks and policies, the hits of fault rules, and
// notes. Server.Timeline returns it.
type Timeline struct {
	// Begin is when the server started. End is when the record was taken.
	Begin, End time.Time
	// Exchanges has the requests with their responses, in the order of their arrival.
	Exchanges []Exchange
	// Hits has the hits of fault rules, in the order of time.
	Hits []faults.Hit
	// Notes has what was done besides requests, in the order of time.
	Notes []Note
	// ExchangesDropped counts the exchanges that were dropped to limit the memory. The oldest ones
	// that have ended are dropped first.
	ExchangesDropped uint64
}

// Exchange is a request and its response.
type Exchange struct {
	// Seq numbers the exchanges of a server from 1.
	Seq uint64
	// Order orders the beginnings of exchanges and the writes of frames. On virtual time, many of
	// them have the same time.
	Order uint64
	// Begin is when the request arrived. End is when the response was complete, or zero if it is
	// not yet.
	Begin, End time.Time
	// User is the name of the user, or "" if the request was not authenticated.
	User string
	// UserAgent is the header User-Agent of the request.
	UserAgent string
	// Method is the HTTP method. Verb is the verb of the API, or "" if the request is not for a
	// resource. Path is the path with the query. Server.Requests returns them with their parts.
	Method, Verb, Path string
	// StatusCode is the status code of the response, or 0 if there is none.
	StatusCode int
	// ResourceVersion is that of the object or list in the response, or "".
	ResourceVersion string
	// Request and Response are the bodies. A watch has Frames instead of a Response.
	Request, Response Body
	// Frames has the events of a watch as they were sent, after all faults. An incomplete frame is
	// the last one.
	Frames []Frame
	// FramesDropped counts the frames of this watch that were dropped to limit the memory. The
	// oldest ones are dropped first.
	FramesDropped uint64
	// Admission has the decisions of admission webhooks and policies about the write, in the order
	// in which they were made.
	Admission []AdmissionDecision
	// DecisionsDropped counts the decisions that were dropped to limit the memory. The oldest ones are
	// dropped first.
	DecisionsDropped uint64
}

// Frame is one event of a watch.
type Frame struct {
	// Time is when it was sent.
	Time time.Time
	// Order is its order among frames and exchanges. Frames of one write have the same Order.
	Order uint64
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, or "" if the frame is not an event.
	Type string
	// Namespace, Name and ResourceVersion are those of the object. For ERROR, Name is the reason of
	// the Status.
	Namespace, Name, ResourceVersion string
	// Body is the frame.
	Body Body
}

// Body is a body of an exchange or a frame, or the beginning of one.
type Body struct {
	// ContentType is the media type, without parameters.
	ContentType string
	// Data has the recorded bytes, as they were sent except for secrets; see Server.Timeline.
	Data []byte
	// Size is the number of bytes that were sent, with secrets replaced as in Data. It is more than
	// len(Data) if the body is truncated.
	Size int64
}

// AdmissionDecision is what an admission webhook or an admission policy decided about a write.
type AdmissionDecision struct {
	// Begin is when the call or the evaluation began, and Duration how long it took.
	Begin    time.Time
	Duration time.Duration
	// Order is the order of the end of the call among exchanges and frames.
	Order uint64
	// Plugin is MutatingAdmissionWebhook, ValidatingAdmissionWebhook, MutatingAdmissionPolicy or
	// ValidatingAdmissionPolicy.
	Plugin string
	// Configuration is the name of the webhook configuration or of the policy's binding. Name is that
	// of the webhook or the policy.
	Configuration, Name string
	// Operation is CREATE, UPDATE, DELETE or CONNECT. Object is what was written, such as
	// "configmaps default/a".
	Operation, Object string
	// Reinvoked reports whether this is the second call for the same write.
	Reinvoked bool
	// Outcome is allowed, denied, failed (the call or the evaluation failed, so the write was
	// refused), ignored (it failed, and the write went on because of the failurePolicy Ignore), or for
	// a policy that does not hold, warned or audited.
	Outcome string
	// Code is the HTTP status code of a denial or of a failed call, 200 if it allowed the write, or 0.
	// Message is the text of a denial or a failure.
	Code    int
	Message string
	// Changes has the changes of the object by a mutating webhook or policy.
	Changes []AdmissionChange
	// Warnings and AuditAnnotations are those of the response.
	Warnings         []string
	AuditAnnotations map[string]string
	// Dropped counts the changes, warnings and annotations that were dropped to limit the memory.
	Dropped int
}

// AdmissionChange is one change of an object, as an operation of a JSON patch.
type AdmissionChange struct {
	// Op is the operation, such as add, remove or replace. Path is a JSON pointer. Value is the JSON
	// of the new value, or the beginning of it; for move and copy it is the path of the source.
	Op, Path, Value string
}

// Timeline returns the requests that the server received and what their clients got, after all
// faults. It has the latest 1000 requests and those that have not ended, the first 8 KiB of each
// body, the latest 128 frames of each watch, 16 MiB of all frames, and the latest 100 decisions of
// admission about each request with 16 KiB of texts. The rest is dropped and counted. Requests of
// the control API are not included. Replicas and forks have their own timelines. With
// WithoutTimeline it has only the hits of fault rules.
//
// A timeline is printed and stored, so it has no secrets: REDACTED replaces the values of Secrets
// (data, stringData and the annotation of kubectl apply), the tokens of TokenRequests and
// TokenReviews, the query parameter access_token, and in responses for these resources the messages
// of errors that may quote the request. The same holds for the changes, messages, warnings and
// audit annotations of admission about these resources. A body that may have secrets and cannot be
// parsed is left out. Of the headers, only User-Agent is recorded.
func (s *Server) Timeline() Timeline {
	record := s.recorder.Timeline()
	t := Timeline{Begin: record.Begin, End: record.End, Hits: record.Hits, ExchangesDropped: record.ExchangesDropped}
	for _, n := range record.Notes {
		t.Notes = append(t.Notes, Note(n))
	}
	for _, x := range record.Exchanges {
		e := Exchange{
			Seq: x.Seq, Order: x.Order, Begin: x.Begin, End: x.End, User: s.userName(x.User, x.StatusCode), UserAgent: x.UserAgent,
			Method: x.Method, Verb: x.Verb, Path: x.Path, StatusCode: x.StatusCode, ResourceVersion: x.ResourceVersion,
			Request: Body(x.Request), Response: Body(x.Response), FramesDropped: x.FramesDropped, DecisionsDropped: x.DecisionsDropped,
		}
		for _, f := range x.Frames {
			e.Frames = append(e.Frames, Frame{
				Time: f.Time, Order: f.Order, Type: f.Type, Namespace: f.Namespace, Name: f.Name,
				ResourceVersion: f.ResourceVersion, Body: Body(f.Body),
			})
		}
		for _, d := range x.Admission {
			e.Admission = append(e.Admission, newAdmissionDecision(d))
		}
		t.Exchanges = append(t.Exchanges, e)
	}
	return t
}

// record returns t in the form of the package that formats it.
func (t Timeline) record() timeline.Timeline {
	record := timeline.Timeline{Begin: t.Begin, End: t.End, Hits: t.Hits, ExchangesDropped: t.ExchangesDropped}
	for _, n := range t.Notes {
		record.Notes = append(record.Notes, timeline.Note(n))
	}
	for _, e := range t.Exchanges {
		x := timeline.Exchange{
			Seq: e.Seq, Order: e.Order, Begin: e.Begin, End: e.End, User: e.User, UserAgent: e.UserAgent,
			Method: e.Method, Verb: e.Verb, Path: e.Path, StatusCode: e.StatusCode, ResourceVersion: e.ResourceVersion,
			Request: timeline.Body(e.Request), Response: timeline.Body(e.Response), FramesDropped: e.FramesDropped, DecisionsDropped: e.DecisionsDropped,
		}
		for _, f := range e.Frames {
			x.Frames = append(x.Frames, timeline.Frame{
				Time: f.Time, Order: f.Order, Type: f.Type, Namespace: f.Namespace, Name: f.Name,
				ResourceVersion: f.ResourceVersion, Body: timeline.Body(f.Body),
			})
		}
		for _, d := range e.Admission {
			x.Admission = append(x.Admission, d.record())
		}
		record.Exchanges = append(record.Exchanges, x)
	}
	return record
}

// newAdmissionDecision returns a decision of the package that records it.
func newAdmissionDecision(d timeline.AdmissionDecision) AdmissionDecision {
	decision := AdmissionDecision{
		Begin: d.Begin, Duration: d.Duration, Order: d.Order, Plugin: d.Plugin, Configuration: d.Configuration, Name: d.Name,
		Operation: d.Operation, Object: d.Object, Reinvoked: d.Reinvoked, Outcome: d.Outcome, Code: d.Code, Message: d.Message,
		Warnings: d.Warnings, AuditAnnotations: d.AuditAnnotations, Dropped: d.Dropped,
	}
	for _, c := range d.Changes {
		decision.Changes = append(decision.Changes, AdmissionChange(c))
	}
	return decision
}

// record returns d in the form of the package that formats it.
func (d AdmissionDecision) record() timeline.AdmissionDecision {
	record := timeline.AdmissionDecision{
		Begin: d.Begin, Duration: d.Duration, Order: d.Order, Plugin: d.Plugin, Configuration: d.Configuration, Name: d.Name,
		Operation: d.Operation, Object: d.Object, Reinvoked: d.Reinvoked, Outcome: d.Outcome, Code: d.Code, Message: d.Message,
		Warnings: d.Warnings, AuditAnnotations: d.AuditAnnotations, Dropped: d.Dropped,
	}
	for _, c := range d.Changes {
		record.Changes = append(record.Changes, timeline.AdmissionChange(c))
	}
	return record
}

// String returns the timeline as text, with a line for each entry. The middle of a long timeline is
// left out.
func (t Timeline) String() string { return t.record().String() }

// Tail returns the last lines of the timeline as text.
func (t Timeline) Tail(lines int) string { return t.record().Tail(lines) }

// WriteHTML writes the timeline as an HTML page without references to other files.
func (t Timeline) WriteHTML(w io.Writer, title string) error { return page.Write(w, t.record(), title) }

// withTimeline records requests and responses, unless WithoutTimeline is set.
func (s *Server) withTimeline(next http.Handler) http.Handler {
	if !s.opts.timeline {
		return next
	}
	return s.recorder.Handler(next)
}
