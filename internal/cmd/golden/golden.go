package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Case is a recording of requests and the responses of a server.
type Case struct {
	// Name is the name of the file without .json. Group is the group of related cases, Desc a
	// description.
	Name  string `json:"name"`
	Group string `json:"group"`
	Desc  string `json:"desc"`

	// CompareRV requires resourceVersions to be equal where the recorded ones were.
	CompareRV bool `json:"compareRV"`
	// CRDs are files in the folder of the case with CustomResourceDefinitions that the server must
	// have before the case is played.
	CRDs []string `json:"crds"`
	// TookMs is the duration of the recording in milliseconds.
	TookMs int `json:"tookMs"`
	// Steps are played in order.
	Steps []Step `json:"steps"`
}

// Step is a request with its response, or a compaction.
type Step struct {
	// Note is a comment. Skip is the reason why the step is not played, if any.
	Note string `json:"note"`
	Skip string `json:"skip"`
	// Setup is set if only the status code of the response is compared. The rest is read for
	// placeholder values.
	Setup bool `json:"setup"`
	// SettleMs is a pause before the step, in milliseconds.
	SettleMs int `json:"settleMs"`
	// Compact is set for a step without a request that compacts the server's history.
	Compact bool `json:"compact"`

	// Server is ToWebhook for a request to the webhook of the case, and "" otherwise.
	Server string `json:"server"`
	// Request is the request to send, Response the expected response.
	Request  Request  `json:"request"`
	Response Response `json:"response"`

	// Watch configures how a response stream is read. It is nil if the response is not a stream.
	Watch *Watch `json:"watch"`
	// During are steps that run after the headers of the stream have arrived and before its events
	// are read.
	During []Step `json:"during"`
}

// ToWebhook is the Server of a step whose request is for the [Webhook].
const ToWebhook = "hooks"

// Request is a request. At most one of the body fields is set.
type Request struct {
	Method string `json:"method"`
	// Path is the path and the query, relative to the base URL.
	Path string `json:"path"`
	// Headers are added to Accept: application/json and User-Agent: replay/1.0, or replace them. A
	// header with the value "" is not sent.
	Headers map[string]string `json:"headers"`

	// Body is sent as JSON without white space. The order of keys and duplicate keys are preserved.
	Body json.RawMessage `json:"body"`
	// BodyText is sent unchanged, BodyHex as the bytes that it encodes.
	BodyText string `json:"bodyText"`
	BodyHex  string `json:"bodyHex"`
	// BodyFill describes a large body.
	BodyFill *Fill `json:"bodyFill"`
}

// Fill is the text Before, then Char repeated Count times, then After.
type Fill struct {
	Before string `json:"before"`
	Char   string `json:"char"`
	Count  int    `json:"count"`
	After  string `json:"after"`
}

// Watch limits the time in milliseconds for which a stream is read, and the number of events.
type Watch struct {
	ForMs     int `json:"forMs"`
	MaxEvents int `json:"maxEvents"`
}

// Response is a response with placeholders.
type Response struct {
	Code    int                 `json:"code"`
	Headers map[string][]string `json:"headers"`

	// BodyAs is the form of Body. "" is JSON; package httpdiff defines the others. A nil Body is
	// empty.
	BodyAs string `json:"bodyAs"`
	Body   any    `json:"body"`

	// Events and End (ServerClosed, OpenAtDeadline or ClientStopped) are set for a watch.
	Events []any  `json:"events"`
	End    string `json:"end"`
	// Waited is the time the response took, if it was long. It is not compared.
	Waited string `json:"waited"`
}

// How a watch ended.
const (
	ServerClosed   = "server closed"                      // the server ended it
	OpenAtDeadline = "open at deadline"                   // ForMs elapsed
	ClientStopped  = "client stopped after wanted events" // all wanted events had arrived
)

// Load reads the cases from the *.json files in the root of fsys, sorted by name. It returns an
// error if a file is not a valid case or if there is no file.
func Load(fsys fs.FS) ([]Case, error) {
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("golden: no *.json file found")
	}
	slices.Sort(names)
	cases := make([]Case, 0, len(names))
	for _, name := range names {
		c, err := loadCase(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("golden: %s: %w", name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func loadCase(fsys fs.FS, name string) (c Case, err error) {
	content, err := fs.ReadFile(fsys, name)
	if err != nil {
		return c, err
	}
	if err := httpdiff.DecodeStrictly(content, &c); err != nil {
		return c, err
	}
	if want := strings.TrimSuffix(path.Base(name), ".json"); c.Name != want {
		return c, fmt.Errorf("the name of the case is %q, not %q", c.Name, want)
	}
	return c, checkSteps(c.Steps)
}

// checkSteps returns an error if a step is invalid and could pass or fail for the wrong reason.
func checkSteps(steps []Step) error {
	for i, s := range steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if err := checkSteps(s.During); err != nil {
			return fmt.Errorf("step %d, during: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check() error {
	switch {
	case s.Compact || s.Skip != "":
		return nil
	case s.Request.Method == "" || !strings.HasPrefix(s.Request.Path, "/"):
		return fmt.Errorf("%q %q is not a request", s.Request.Method, s.Request.Path)
	case s.Server != "" && s.Server != ToWebhook:
		return fmt.Errorf("unknown server %q", s.Server)
	case s.Response.Code == 0:
		return errors.New("the response has no code")
	case !slices.Contains([]string{"", httpdiff.AsText, httpdiff.AsSummary, httpdiff.AsProtobuf, httpdiff.AsHex}, s.Response.BodyAs):
		return fmt.Errorf("unknown form %q of a body", s.Response.BodyAs)
	case !slices.Contains([]string{"", ServerClosed, OpenAtDeadline, ClientStopped}, s.Response.End):
		return fmt.Errorf("unknown end %q of a watch", s.Response.End)
	case s.Watch == nil && (len(s.During) > 0 || len(s.Response.Events) > 0 || s.Response.End != ""):
		return errors.New("during, events and end require a watch")
	}
	return nil
}

// Requests returns the requests of all steps, in the order in which they are sent.
func (c Case) Requests() []Request { return requestsOf(c.Steps) }

func requestsOf(steps []Step) (all []Request) {
	for _, s := range steps {
		if s.Skip == "" && !s.Compact {
			all = append(append(all, s.Request), requestsOf(s.During)...)
		}
	}
	return all
}

// Compacts reports whether the case requires [Player].Compact.
func (c Case) Compacts() bool { return compacts(c.Steps) }

func compacts(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Skip == "" && (s.Compact || compacts(s.During)) })
}

// NeedsWebhook reports whether the case requires [Player].Webhook.
func (c Case) NeedsWebhook() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Skip == "" && s.Server == ToWebhook }) ||
		slices.ContainsFunc(c.Requests(), func(r Request) bool { return strings.Contains(string(r.Body), "$hooks") })
}
