package scenario

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestObserver observes the requests of one client.
type requestObserver interface {
	// beforeRequest is called before a request is sent, and may delay it.
	beforeRequest(ctx context.Context) error
	// afterResponse is called with the line of the request and its response.
	afterResponse(line string)
}

// observedTransport reports requests to an observer.
type observedTransport struct {
	next     http.RoundTripper
	observer requestObserver
	// server returns the label of the server that receives the requests. It is nil for a client
	// that cannot be moved.
	server func() string
}

func (t observedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.observer.beforeRequest(r.Context()); err != nil {
		return nil, err
	}
	at := ""
	if t.server != nil {
		at = t.server()
	}
	answer, err := t.next.RoundTrip(r)
	line := requestLine(r, answer)
	if at != "" {
		line += " on " + at
	}
	t.observer.afterResponse(line)
	return answer, err
}

// requestLine describes a request and its response: "GET /api/v1/pods?limit=2 200". It does not
// include errors, because the error for a broken connection may differ between two runs.
func requestLine(r *http.Request, answer *http.Response) string {
	line := r.Method + " " + r.URL.Path
	if query := shortQuery(r.URL.RawQuery); query != "" {
		line += "?" + query
	}
	if answer == nil {
		return line + " no answer"
	}
	line += fmt.Sprintf(" %d", answer.StatusCode)
	if after := answer.Header.Get("Retry-After"); after != "" {
		line += " Retry-After " + after
	}
	return line
}

// shortQuery replaces continue tokens, which are long, and access tokens, which are secrets, by
// "...".
func shortQuery(raw string) string {
	parts := strings.Split(raw, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if plain, _ := url.QueryUnescape(name); value != "" && (plain == "continue" || plain == "access_token") {
			parts[i] = name + "=..."
		}
	}
	return strings.Join(parts, "&")
}

// stepObserver adds the requests of steps to the transcript.
type stepObserver struct {
	e *Env
	// waitIdle delays requests until everything else is idle. It requires a bubble and requests
	// from the goroutine of the steps.
	waitIdle bool
}

// beforeRequest orders the request after everything that the server and clients do at this instant.
// A request that client-go repeats after Retry-After may be due at the same time as a bookmark or
// an action of a client, and the order of timers with the same virtual time is random.
func (o stepObserver) beforeRequest(context.Context) error {
	if o.waitIdle {
		o.e.waitIdle()
	}
	return nil
}

func (o stepObserver) afterResponse(line string) { o.e.log.note(time.Now(), line) }
