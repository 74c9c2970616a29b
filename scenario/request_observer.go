package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// requestObserver gets to see the requests of one client.
type requestObserver interface {
	// beforeRequest is called before a request is sent, and may hold it.
	beforeRequest(ctx context.Context) error
	// afterResponse is called with the line that tells request and answer.
	afterResponse(line string)
}

// observedTransport is a network with a witness.
type observedTransport struct {
	next     http.RoundTripper
	observer requestObserver
	// server names the server that requests go to, "" for the first; nil for a client
	// that does not move.
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

// requestLine tells a request and its answer: "GET /api/v1/pods?limit=2 200".
// Errors are not told in words: how a broken connection is noticed may differ
// between two runs.
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

// shortQuery leaves continue tokens out, which are long and tell nothing.
func shortQuery(raw string) string {
	parts := strings.Split(raw, "&")
	for i, part := range parts {
		if name, value, _ := strings.Cut(part, "="); name == "continue" && value != "" {
			parts[i] = name + "=..."
		}
	}
	return strings.Join(parts, "&")
}

// stepObserver notes the requests of steps.
type stepObserver struct {
	e *Env
	// waitIdle tells that a request waits until nobody else has anything to do. It is for
	// requests that the goroutine of the steps makes, and in a bubble.
	waitIdle bool
}

// beforeRequest has the request come after all that server and clients do at this instant. One
// that client-go sends again when a Retry-After has passed may come at the very time when
// a client acts or a bookmark is due, and in which order timers of the same virtual time
// wake is random.
func (w stepObserver) beforeRequest(context.Context) error {
	if w.waitIdle {
		w.e.waitIdle()
	}
	return nil
}

func (w stepObserver) afterResponse(line string) { w.e.log.note(time.Now(), line) }

// maxBurst is how many requests a client can make without a pause. One that makes
// more is taken to be in a loop that never waits, in which no time would pass.
const maxBurst = 5000

// clientLog holds the requests of a client under test, in the order of the answers.
// The fields are guarded by the transcript's mutex.
type clientLog struct {
	log    *Transcript
	client string
	lines  []string

	last     time.Time // of the latest request
	burst    int       // requests at that time
	busyLoop bool      // too many were made at one time
}

// beforeRequest slows a client down that makes requests without any pause, so that time
// goes on and the scenario can fail.
func (l *clientLog) beforeRequest(ctx context.Context) error {
	if l.add(time.Now()) {
		return nil
	}
	return sleep(ctx, time.Second)
}

// add counts a request and reports whether that is fine.
func (l *clientLog) add(now time.Time) bool {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	if now.After(l.last) {
		l.last, l.burst = now, 0
	}
	l.burst++
	l.busyLoop = l.busyLoop || l.burst > maxBurst
	return l.burst <= maxBurst
}

// maxLoggedRequests is how many requests of a client a transcript has.
const maxLoggedRequests = 1000

func (l *clientLog) afterResponse(line string) {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	switch {
	case l.log.closed || len(l.lines) > maxLoggedRequests:
	case len(l.lines) == maxLoggedRequests:
		l.lines = append(l.lines, "...")
	default:
		l.lines = append(l.lines, line)
		l.log.emit(fmt.Sprintf("%9s    client %s: %s", l.log.elapsed(time.Now()), l.client, line))
	}
}
