package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
)

// requestJSON is the JSON form of a request.
type requestJSON struct {
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	// Path has the query.
	Path string `json:"path"`
	// Code is the status code, or 0 if there is no response.
	Code      int    `json:"code"`
	UserAgent string `json:"userAgent"`
}

// String returns the request in one line, without number and time.
func (s requestJSON) String() string {
	return fmt.Sprintf("%3d %s %s %q", s.Code, s.Method, s.Path, s.UserAgent)
}

func (c *controlAPI) listRequests(w http.ResponseWriter, r *http.Request) error {
	var list []requestJSON
	for _, e := range c.server.Timeline().Exchanges {
		list = append(list, requestJSON{e.Seq, e.Begin, e.Method, e.Path, e.StatusCode, e.UserAgent})
	}
	return writeList(w, r, http.StatusOK, "requests", list)
}

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
	requestJSON
	End                *time.Time     `json:"end,omitempty"`
	Verb               string         `json:"verb,omitempty"`
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
		requestJSON: requestJSON{e.Seq, e.Begin, e.Method, e.Path, e.StatusCode, e.UserAgent},
		Verb:        e.Verb, ResourceVersion: e.ResourceVersion,
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
	Forgotten uint64         `json:"forgotten,omitempty"`
	Exchanges []exchangeJSON `json:"exchanges"`
	Hits      []hitJSON      `json:"hits"`
	Notes     []noteJSON     `json:"notes"`
}

// noteJSON is the JSON form of a note.
type noteJSON struct {
	Time   time.Time `json:"time"`
	Source string    `json:"source"`
	Text   string    `json:"text"`
	Failed bool      `json:"failed,omitempty"`
}

func toTimelineJSON(t Timeline) timelineJSON {
	list := timelineJSON{Begin: t.Begin, End: t.End, Forgotten: t.ExchangesDropped, Exchanges: []exchangeJSON{}, Hits: toHitsJSON(t.Hits), Notes: []noteJSON{}}
	for _, n := range t.Notes {
		list.Notes = append(list.Notes, noteJSON{n.Time, n.Source, n.Text, n.Failed})
	}
	for _, e := range t.Exchanges {
		list.Exchanges = append(list.Exchanges, toExchangeJSON(e))
	}
	return list
}

// getTimeline responds with Server.Timeline as text, as JSON for clients that accept it, or as its
// page for browsers.
func (c *controlAPI) getTimeline(w http.ResponseWriter, r *http.Request) error {
	t := c.server.Timeline()
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		var page strings.Builder
		if err := t.WriteHTML(&page, "Timeline of "+c.server.URL()); err != nil {
			return err
		}
		return sendText(w, http.StatusOK, "text/html; charset=utf-8", page.String())
	}
	if !strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeJSON) {
		return sendText(w, http.StatusOK, "text/plain; charset=utf-8", t.String())
	}
	body, err := json.Marshal(toTimelineJSON(t))
	if err != nil {
		return err
	}
	return sendText(w, http.StatusOK, runtime.ContentTypeJSON, string(body)+"\n")
}
