package fakeapi

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/fakeapi/faults"
)

// bodyJSON is the JSON form of a body, with its text if it is valid UTF-8.
type bodyJSON struct {
	ContentType string `json:"contentType,omitempty"`
	Size        int64  `json:"size"`
	Text        string `json:"text,omitempty"`
	Data        []byte `json:"data,omitempty"`
}

func toBodyJSON(b Body) *bodyJSON {
	if b.Size == 0 {
		return nil
	}
	body := &bodyJSON{ContentType: b.ContentType, Size: b.Size}
	if utf8.Valid(b.Data) {
		body.Text = string(b.Data)
	} else {
		body.Data = b.Data
	}
	return body
}

// frameJSON is the JSON form of a frame.
type frameJSON struct {
	Time            time.Time `json:"time"`
	Type            string    `json:"type"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Body            *bodyJSON `json:"body"`
}

// decisionJSON is the JSON form of a decision of admission.
type decisionJSON struct {
	Time             time.Time         `json:"time"`
	Duration         string            `json:"duration"`
	Plugin           string            `json:"plugin"`
	Configuration    string            `json:"configuration,omitempty"`
	Name             string            `json:"name"`
	Operation        string            `json:"operation"`
	Object           string            `json:"object,omitempty"`
	Reinvoked        bool              `json:"reinvoked,omitempty"`
	Outcome          string            `json:"outcome"`
	Code             int               `json:"code,omitempty"`
	Message          string            `json:"message,omitempty"`
	Changes          []changeJSON      `json:"changes,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	Forgotten        int               `json:"forgotten,omitempty"`
}

// changeJSON is the JSON form of a change. The value is text, because it may be cut off.
type changeJSON struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}

func toDecisionJSON(d AdmissionDecision) decisionJSON {
	decision := decisionJSON{
		Time: d.Begin, Duration: d.Duration.String(), Plugin: d.Plugin, Configuration: d.Configuration, Name: d.Name,
		Operation: d.Operation, Object: d.Object, Reinvoked: d.Reinvoked, Outcome: d.Outcome, Code: d.Code, Message: d.Message,
		Warnings: d.Warnings, AuditAnnotations: d.AuditAnnotations, Forgotten: d.Dropped,
	}
	for _, c := range d.Changes {
		decision.Changes = append(decision.Changes, changeJSON(c))
	}
	return decision
}

// exchangeJSON is the JSON form of an exchange.
type exchangeJSON struct {
	Seq                uint64         `json:"seq"`
	Order              uint64         `json:"order"`
	Time               time.Time      `json:"time"`
	End                *time.Time     `json:"end,omitempty"`
	Method             string         `json:"method"`
	Verb               string         `json:"verb,omitempty"`
	Path               string         `json:"path"`
	User               string         `json:"user,omitempty"`
	UserAgent          string         `json:"userAgent"`
	Code               int            `json:"code"`
	ResourceVersion    string         `json:"resourceVersion,omitempty"`
	Request            *bodyJSON      `json:"request,omitempty"`
	Answer             *bodyJSON      `json:"answer,omitempty"`
	Frames             []frameJSON    `json:"frames,omitempty"`
	FramesForgotten    uint64         `json:"framesForgotten,omitempty"`
	Admission          []decisionJSON `json:"admission,omitempty"`
	DecisionsForgotten uint64         `json:"decisionsForgotten,omitempty"`
}

func toExchangeJSON(e Exchange) exchangeJSON {
	x := exchangeJSON{
		Seq: e.Seq, Order: e.Order, Time: e.Begin, Method: e.Method, Verb: e.Verb, Path: e.Path,
		User: e.User, UserAgent: e.UserAgent, Code: e.StatusCode, ResourceVersion: e.ResourceVersion,
		Request: toBodyJSON(e.Request), Answer: toBodyJSON(e.Response), FramesForgotten: e.FramesDropped, DecisionsForgotten: e.DecisionsDropped,
	}
	if !e.End.IsZero() {
		x.End = &e.End
	}
	for _, f := range e.Frames {
		x.Frames = append(x.Frames, frameJSON{f.Time, f.Type, f.Namespace, f.Name, f.ResourceVersion, toBodyJSON(f.Body)})
	}
	for _, d := range e.Admission {
		x.Admission = append(x.Admission, toDecisionJSON(d))
	}
	return x
}

// timelineJSON is the JSON form of a timeline.
type timelineJSON struct {
	Begin     time.Time      `json:"begin"`
	End       time.Time      `json:"end"`
	Next      uint64         `json:"next"`
	Forgotten uint64         `json:"forgotten,omitempty"`
	Exchanges []exchangeJSON `json:"exchanges"`
	Hits      []hitJSON      `json:"hits"`
	Notes     []noteJSON     `json:"notes"`
}

// noteJSON is the JSON form of a note.
type noteJSON struct {
	Order  uint64    `json:"order"`
	Time   time.Time `json:"time"`
	Source string    `json:"source"`
	Text   string    `json:"text"`
	Failed bool      `json:"failed,omitempty"`
}

func toTimelineJSON(t Timeline, next uint64) timelineJSON {
	list := timelineJSON{
		Begin: t.Begin, End: t.End, Next: next, Forgotten: t.ExchangesDropped,
		Exchanges: []exchangeJSON{}, Hits: toHitsJSON(t.Hits), Notes: []noteJSON{},
	}
	for _, n := range t.Notes {
		list.Notes = append(list.Notes, noteJSON{n.Order, n.Time, n.Source, n.Text, n.Failed})
	}
	for _, e := range t.Exchanges {
		list.Exchanges = append(list.Exchanges, toExchangeJSON(e))
	}
	return list
}

// between returns the part of the timeline that happened after one order and up to another. It has
// the requests that began then, and those with an event or a decision of that time, of which it has
// no others.
func (t Timeline) between(since, last uint64) Timeline {
	isOutside := func(order uint64) bool { return order <= since || order > last }
	part := t
	part.Exchanges = nil
	for _, e := range t.Exchanges {
		e.Frames = slices.DeleteFunc(e.Frames, func(f Frame) bool { return isOutside(f.Order) })
		e.Admission = slices.DeleteFunc(e.Admission, func(d AdmissionDecision) bool { return isOutside(d.Order) })
		if !isOutside(e.Order) || len(e.Frames)+len(e.Admission) > 0 {
			part.Exchanges = append(part.Exchanges, e)
		}
	}
	part.Hits = slices.DeleteFunc(t.Hits, func(h faults.Hit) bool { return isOutside(h.Order) })
	part.Notes = slices.DeleteFunc(t.Notes, func(n Note) bool { return isOutside(n.Order) })
	return part
}

// getTimeline responds with Server.Timeline as text, as JSON for clients that accept it, or as its
// page for browsers.
func (c *controlAPI) getTimeline(w http.ResponseWriter, r *http.Request) error {
	since, err := c.sinceParam(r)
	if err != nil {
		return err
	}
	next := c.server.recorder.Order()
	setNext(w, next)
	t := c.server.Timeline().between(since, next)
	switch {
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		var page strings.Builder
		if err := t.WriteHTML(&page, "Timeline of "+c.server.URL()); err != nil {
			return err
		}
		return sendText(w, http.StatusOK, "text/html; charset=utf-8", page.String())
	case acceptsJSON(r):
		return sendJSON(w, http.StatusOK, toTimelineJSON(t, next))
	}
	return sendText(w, http.StatusOK, "text/plain; charset=utf-8", t.String())
}
