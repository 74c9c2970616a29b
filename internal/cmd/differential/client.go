package differential

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// Side is one of the two servers.
type Side struct {
	// Name is the name of the side in reports.
	Name string
	// BaseURL is the URL of the server, without a slash at the end.
	BaseURL string
	// Client sends the requests and has the credentials.
	Client *http.Client
}

// requestTimeout is the limit of a request that is not a watch. A server waits up to three seconds
// for a resourceVersion that it has not reached.
const requestTimeout = 30 * time.Second

// client sends the steps of one sequence to one side.
type client struct {
	side Side
	*memory
}

// newClient returns a client for a namespace and a group.
func newClient(side Side, namespace, group string) *client {
	return &client{side: side, memory: newMemory(namespace, group)}
}

// response is a response to a step.
type response struct {
	code   int
	header http.Header
	body   []byte
	err    error
	stream *stream // of a watch
}

// send sends a step. The stream of a watch is read until ctx ends.
func (c *client) send(ctx context.Context, s Step) *response {
	cancel := context.CancelFunc(func() {})
	if !s.Watch {
		ctx, cancel = context.WithTimeout(ctx, requestTimeout)
	}
	defer func() { cancel() }()
	r, err := http.NewRequestWithContext(ctx, s.Method, c.side.BaseURL+c.expand(s.url()), bytes.NewReader(c.memory.body(s)))
	if err != nil {
		return &response{err: err}
	}
	if s.Body == "" && s.Resend == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.Header.Set("User-Agent", "differential")
	if s.ContentType != "" {
		r.Header.Set("Content-Type", s.ContentType)
	}
	if s.Accept != "" {
		r.Header.Set("Accept", s.Accept)
	}
	got, err := c.side.Client.Do(r)
	if err != nil {
		return &response{err: err}
	}
	answer := &response{code: got.StatusCode, header: got.Header}
	if s.Watch && got.StatusCode == http.StatusOK {
		answer.stream = newStream(got)
		return answer
	}
	defer func() { _ = got.Body.Close() }()
	body, err := httpdiff.ReadBody(got)
	if err != nil {
		return &response{err: err}
	}
	if answer.isJSON() && got.StatusCode < http.StatusMultipleChoices {
		c.add(s.resource(), body)
	}
	answer.body = body
	return answer
}

// isJSON reports whether the body is JSON of an object in its own form.
func (r *response) isJSON() bool {
	return r.header.Get("Content-Type") == runtime.ContentTypeJSON
}

// resource returns the resource of the path of a step.
func (s Step) resource() string {
	_, rest, _ := strings.Cut(s.Path, "/namespaces/{ns}/")
	resource, _, _ := strings.Cut(rest, "/")
	return resource
}

// summary returns the status code and, of a Status, its reason and message.
func (r *response) summary() string {
	if r.err != nil {
		return "no response: " + r.err.Error()
	}
	if r.stream != nil {
		return fmt.Sprintf("%d watch", r.code)
	}
	if status, ok := httpdiff.DecodeBody(r.header, r.body).(map[string]any); ok && status["kind"] == "Status" {
		return fmt.Sprintf("%d %v: %v", r.code, status["reason"], status["message"])
	}
	return fmt.Sprintf("%d %.300s", r.code, strings.TrimSpace(string(r.body)))
}

// stream is the body of a watch. It is read in a goroutine.
type stream struct {
	contentType string

	mu      sync.Mutex // guards the fields below
	content []byte
	ended   bool
}

func newStream(from *http.Response) *stream {
	s := &stream{contentType: from.Header.Get("Content-Type")}
	go func() {
		defer func() { _ = from.Body.Close() }()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Body.Read(buffer)
			s.mu.Lock()
			s.content = append(s.content, buffer[:n]...)
			s.ended = err == io.EOF
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// events returns the events that have been read, without bookmarks, which servers send when they
// want to, except for the one that ends the initial events. It also reports whether the server has
// ended the stream.
func (s *stream) events() (events []any, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, event := range httpdiff.DecodeEvents(s.contentType, s.content) {
		if one, ok := event.(map[string]any); ok && one["type"] == "BOOKMARK" && !strings.Contains(jsonText(one), "initial-events-end") {
			continue
		}
		events = append(events, event)
	}
	return events, s.ended
}
