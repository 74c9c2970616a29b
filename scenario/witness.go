package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// witness gets to see the requests of one client.
type witness interface {
	// before is called before a request is sent, and may hold it.
	before(ctx context.Context) error
	// after is called with the line that tells request and answer.
	after(line string)
}

// witnessed is a network with a witness.
type witnessed struct {
	next    http.RoundTripper
	witness witness
	// where names the server that requests go to, "" for the first; nil for a client
	// that does not move.
	where func() string
}

func (t witnessed) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.witness.before(r.Context()); err != nil {
		return nil, err
	}
	at := ""
	if t.where != nil {
		at = t.where()
	}
	answer, err := t.next.RoundTrip(r)
	line := requestLine(r, answer)
	if at != "" {
		line += " on " + at
	}
	t.witness.after(line)
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

// stepsWitness notes the requests of steps.
type stepsWitness struct {
	e *Env
	// last tells that a request waits until nobody else has anything to do. It is for
	// requests that the goroutine of the steps makes, and in a bubble.
	last bool
}

// before has the request come after all that server and clients do at this instant. One
// that client-go sends again when a Retry-After has passed may come at the very time when
// a client acts or a bookmark is due, and in which order timers of the same virtual time
// wake is random.
func (w stepsWitness) before(context.Context) error {
	if w.last {
		w.e.settle()
	}
	return nil
}

func (w stepsWitness) after(line string) { w.e.log.note(time.Now(), line) }

// atOnce is how many requests a client can make without a pause. One that makes
// more is taken to be in a loop that never waits, in which no time would pass.
const atOnce = 5000

// lane holds the requests of a client under test, in the order of the answers.
// The fields are guarded by the transcript's mutex.
type lane struct {
	log    *Transcript
	client string
	lines  []string

	last  time.Time // of the latest request
	count int       // requests at that time
	loops bool      // too many were made at one time
}

// before slows a client down that makes requests without any pause, so that time
// goes on and the scenario can fail.
func (l *lane) before(ctx context.Context) error {
	if l.add(time.Now()) {
		return nil
	}
	return sleep(ctx, time.Second)
}

// add counts a request and reports whether that is fine.
func (l *lane) add(now time.Time) bool {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	if now.After(l.last) {
		l.last, l.count = now, 0
	}
	l.count++
	l.loops = l.loops || l.count > atOnce
	return l.count <= atOnce
}

// kept is how many requests of a client a transcript has.
const kept = 1000

func (l *lane) after(line string) {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	switch {
	case l.log.closed || len(l.lines) > kept:
	case len(l.lines) == kept:
		l.lines = append(l.lines, "...")
	default:
		l.lines = append(l.lines, line)
		l.log.live(fmt.Sprintf("%9s    client %s: %s", l.log.since(time.Now()), l.client, line))
	}
}
