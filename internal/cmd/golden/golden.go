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

// Case is a recording: requests and what a server answered.
type Case struct {
	// Name is the name of the file without .json. Group is the family of the
	// case, Desc what it is about.
	Name  string `json:"name"`
	Group string `json:"group"`
	Desc  string `json:"desc"`

	// CompareRV: resourceVersions are equal where the recorded ones were.
	CompareRV bool `json:"compareRV"`
	// CRDs are the files, beside the case, with definitions of custom resources
	// that the server must have before.
	CRDs []string `json:"crds"`
	// TookMs is how long the recording took, in milliseconds.
	TookMs int `json:"tookMs"`
	// Steps happen one after the other.
	Steps []Step `json:"steps"`
}

// Step is a request with its answer, or a compaction.
type Step struct {
	// Note is a comment. Skip says why the step is not to be played.
	Note string `json:"note"`
	Skip string `json:"skip"`
	// Setup: of the answer only the code is compared; it is read for its symbols.
	Setup bool `json:"setup"`
	// SettleMs is a pause before the step, in milliseconds.
	SettleMs int `json:"settleMs"`
	// Compact: there is no request; the history of the server is compacted.
	Compact bool `json:"compact"`

	// Request is what is sent, Response what must come back.
	Request  Request  `json:"request"`
	Response Response `json:"response"`

	// Watch says how the answer, a stream, is read; nil if it is none.
	Watch *Watch `json:"watch"`
	// During are steps that happen once the stream's headers are here, before its
	// events are read.
	During []Step `json:"during"`
}

// Request has at most one of the four forms of a body.
type Request struct {
	Method string `json:"method"`
	// Path is path and query, behind the base URL.
	Path string `json:"path"`
	// Headers are sent besides Accept: application/json and User-Agent: replay/1.0,
	// or in their place; one with the value "" is not sent.
	Headers map[string]string `json:"headers"`

	// Body is JSON and sent without white space, its keys as they stand in the
	// file, twice if they are there twice.
	Body json.RawMessage `json:"body"`
	// BodyText is sent as it is, BodyHex as the bytes that it spells.
	BodyText string `json:"bodyText"`
	BodyHex  string `json:"bodyHex"`
	// BodyFill is a large body in few words.
	BodyFill *Fill `json:"bodyFill"`
}

// Fill is the text Before, then Char Count times, then After.
type Fill struct {
	Before string `json:"before"`
	Char   string `json:"char"`
	Count  int    `json:"count"`
	After  string `json:"after"`
}

// Watch is how long, in milliseconds, and for how many events at most a stream
// was read.
type Watch struct {
	ForMs     int `json:"forMs"`
	MaxEvents int `json:"maxEvents"`
}

// Response is an answer with symbols in the place of values.
type Response struct {
	Code    int                 `json:"code"`
	Headers map[string][]string `json:"headers"`

	// BodyAs is the form of Body: "" is JSON; package exchange has the others. A nil Body is an empty one.
	BodyAs string `json:"bodyAs"`
	Body   any    `json:"body"`

	// Events and End (ServerClosed, OpenAtDeadline or ClientStopped) belong to a
	// watch.
	Events []any  `json:"events"`
	End    string `json:"end"`
	// Waited is how long the answer took, if that was long. It is not compared.
	Waited string `json:"waited"`
}

// The ends of a watch.
const (
	ServerClosed   = "server closed"                      // the server ended it
	OpenAtDeadline = "open at deadline"                   // forMs were over
	ClientStopped  = "client stopped after wanted events" // all wanted events had come
)

// Load reads the cases in the *.json files at the top of a file system, by name.
// A file that is not a case as described here is an error, and so is a folder
// without any.
func Load(fsys fs.FS) ([]Case, error) {
	names, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("golden: there is no *.json file")
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

// checkSteps finds what would make a step pass or fail for no good reason.
func checkSteps(steps []Step) error {
	for i, s := range steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d of its list: %w", i+1, err)
		}
		if err := checkSteps(s.During); err != nil {
			return fmt.Errorf("step %d of its list, during: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check() error {
	switch {
	case s.Compact || s.Skip != "":
		return nil
	case s.Request.Method == "" || !strings.HasPrefix(s.Request.Path, "/"):
		return fmt.Errorf("%q %q is no request", s.Request.Method, s.Request.Path)
	case s.Response.Code == 0:
		return errors.New("it has no answer")
	case !slices.Contains([]string{"", httpdiff.AsText, httpdiff.AsSummary, httpdiff.AsProtobuf, httpdiff.AsHex}, s.Response.BodyAs):
		return fmt.Errorf("there is no form %q of a body", s.Response.BodyAs)
	case !slices.Contains([]string{"", ServerClosed, OpenAtDeadline, ClientStopped}, s.Response.End):
		return fmt.Errorf("there is no end %q of a watch", s.Response.End)
	case s.Watch == nil && (len(s.During) > 0 || len(s.Response.Events) > 0 || s.Response.End != ""):
		return errors.New("it has a part of a watch, but is none")
	}
	return nil
}

// Requests are those of all steps, in the order in which they are sent.
func (c Case) Requests() []Request { return requestsOf(c.Steps) }

func requestsOf(steps []Step) (all []Request) {
	for _, s := range steps {
		if s.Skip == "" && !s.Compact {
			all = append(append(all, s.Request), requestsOf(s.During)...)
		}
	}
	return all
}

// Compacts reports whether the case can only be played where [Player].Compact is given.
func (c Case) Compacts() bool { return compacts(c.Steps) }

func compacts(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Skip == "" && (s.Compact || compacts(s.During)) })
}
