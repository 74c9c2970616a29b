package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/fakeapi/fake/internal/negotiate"
)

// seenRequest is a request as the control API tells it.
type seenRequest struct {
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	// Path has the query with it.
	Path string `json:"path"`
	// Code is what was answered; 0 while nothing is, and if nothing ever was.
	Code      int    `json:"code"`
	UserAgent string `json:"userAgent"`
}

// String is one line, without number and time.
func (s seenRequest) String() string {
	return fmt.Sprintf("%3d %s %s %q", s.Code, s.Method, s.Path, s.UserAgent)
}

func (c *control) listRequests(w http.ResponseWriter, r *http.Request) error {
	var seen []seenRequest
	for _, e := range c.server.Timeline().Exchanges {
		seen = append(seen, seenRequest{e.Seq, e.Begin, e.Method, e.Path, e.StatusCode, e.UserAgent})
	}
	return tell(w, r, http.StatusOK, "requests", seen)
}

// toldBody is a body as the control API tells it: as text if it is text.
type toldBody struct {
	ContentType string `json:"contentType,omitempty"`
	Size        int64  `json:"size"`
	Text        string `json:"text,omitempty"`
	Data        []byte `json:"data,omitempty"`
}

func tellBody(b Body) *toldBody {
	if b.Size == 0 {
		return nil
	}
	told := &toldBody{ContentType: b.ContentType, Size: b.Size}
	if utf8.Valid(b.Data) {
		told.Text = string(b.Data)
	} else {
		told.Data = b.Data
	}
	return told
}

// toldFrame is a frame as the control API tells it.
type toldFrame struct {
	Time            time.Time `json:"time"`
	Type            string    `json:"type"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Body            *toldBody `json:"body"`
}

// toldExchange is an exchange as the control API tells it.
type toldExchange struct {
	seenRequest
	End             *time.Time  `json:"end,omitempty"`
	Verb            string      `json:"verb,omitempty"`
	ResourceVersion string      `json:"resourceVersion,omitempty"`
	Request         *toldBody   `json:"request,omitempty"`
	Answer          *toldBody   `json:"answer,omitempty"`
	Frames          []toldFrame `json:"frames,omitempty"`
	FramesForgotten uint64      `json:"framesForgotten,omitempty"`
}

func tellExchange(e Exchange) toldExchange {
	told := toldExchange{
		seenRequest: seenRequest{e.Seq, e.Begin, e.Method, e.Path, e.StatusCode, e.UserAgent},
		Verb:        e.Verb, ResourceVersion: e.ResourceVersion,
		Request: tellBody(e.Request), Answer: tellBody(e.Response), FramesForgotten: e.FramesDropped,
	}
	if !e.End.IsZero() {
		told.End = &e.End
	}
	for _, f := range e.Frames {
		told.Frames = append(told.Frames, toldFrame{f.Time, f.Type, f.Namespace, f.Name, f.ResourceVersion, tellBody(f.Body)})
	}
	return told
}

// toldTimeline is a timeline as the control API tells it.
type toldTimeline struct {
	Begin     time.Time      `json:"begin"`
	End       time.Time      `json:"end"`
	Forgotten uint64         `json:"forgotten,omitempty"`
	Exchanges []toldExchange `json:"exchanges"`
	Hits      []toldHit      `json:"hits"`
}

func tellTimeline(t Timeline) toldTimeline {
	told := toldTimeline{Begin: t.Begin, End: t.End, Forgotten: t.ExchangesDropped, Exchanges: []toldExchange{}, Hits: toldHits(t.Hits)}
	for _, e := range t.Exchanges {
		told.Exchanges = append(told.Exchanges, tellExchange(e))
	}
	return told
}

// showTimeline answers with Server.Timeline: text, or JSON for those who accept
// that, or the page for browsers.
func (c *control) showTimeline(w http.ResponseWriter, r *http.Request) error {
	t := c.server.Timeline()
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		var page strings.Builder
		if err := t.WriteHTML(&page, "Timeline of "+c.server.URL()); err != nil {
			return err
		}
		return sendText(w, http.StatusOK, "text/html; charset=utf-8", page.String())
	}
	if !strings.Contains(r.Header.Get("Accept"), negotiate.TypeJSON) {
		return sendText(w, http.StatusOK, "text/plain; charset=utf-8", t.String())
	}
	body, err := json.Marshal(tellTimeline(t))
	if err != nil {
		return err
	}
	return sendText(w, http.StatusOK, negotiate.TypeJSON, string(body)+"\n")
}
