package perturb

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/scenario"
)

// request is a request of a controller.
type request struct {
	faults.Op
	client string
	begin  time.Time
	// end is when the response arrived, and code its status code, 0 for none. Both are zero before.
	end  time.Time
	code int
	// before and after are the revisions of the store when the request was sent and answered.
	before, after uint64
}

// isMutating reports whether a request may write.
func (r *request) isMutating() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// isWrite reports whether a request has changed something.
func (r *request) isWrite() bool { return r.isMutating() && r.code/100 == 2 && r.after > r.before }

// mayHaveMade reports whether the request can have made a change. One that has no response yet can
// have made any later change.
func (r *request) mayHaveMade(c *change) bool {
	key := c.key()
	if r.before >= c.revision || r.after < c.revision && r.after != 0 || resourceText(r.Op) != key.resource || r.Namespace != key.namespace {
		return false
	}
	switch r.Verb {
	case "create": // one with a name is of a subresource
		return r.Name == "" && c.before == nil || r.Name == key.name && c.before != nil
	case "update", "patch":
		return r.Name == key.name
	case "delete":
		return r.Name == key.name && c.before != nil
	case "deletecollection":
		return c.before != nil
	}
	return false
}

// maxRequests limits the requests that a run records.
const maxRequests = 20_000

// requestLog has the requests of the controllers of a run, and how the controllers ended.
type requestLog struct {
	mu       sync.Mutex // guards all below
	server   *fakeapi.Server
	requests []*request
	// exits has the errors that controllers returned, and panics what they panicked with.
	exits, panics []string
	// returned has when controllers returned without an error.
	returned map[string]time.Time
}

// wrap returns a client that is c and records its requests in l.
func (l *requestLog) wrap(c scenario.Client) scenario.Client {
	return func(ctx context.Context, config *rest.Config) (err error) {
		name := config.UserAgent
		config.DisableCompression = true // it costs time and changes nothing
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return recordingTransport{l, name, next} })
		defer func() {
			if recovered := recover(); recovered != nil {
				err = fmt.Errorf("panic: %v", recovered)
				l.addPanic(fmt.Sprintf("%s: %v\n%s", name, recovered, debug.Stack()))
			} else if err != nil && ctx.Err() == nil {
				l.addExit(fmt.Sprintf("%s: %v", name, err))
			} else if err == nil && ctx.Err() == nil {
				l.addReturn(name)
			}
		}()
		return c(ctx, config)
	}
}

func (l *requestLog) addPanic(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.panics = append(l.panics, text)
}

func (l *requestLog) addExit(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exits = append(l.exits, text)
}

func (l *requestLog) addReturn(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.returned[client] = time.Now()
}

// recordingTransport records the requests of a controller.
type recordingTransport struct {
	log    *requestLog
	client string
	next   http.RoundTripper
}

func (t recordingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	made := &request{Op: faults.NewOp(r), client: t.client, begin: time.Now()}
	if !t.log.add(made) {
		return t.next.RoundTrip(r)
	}
	answer, err := t.next.RoundTrip(r)
	code := 0
	if answer != nil {
		code = answer.StatusCode
	}
	t.log.end(made, code)
	return answer, err
}

func (l *requestLog) add(r *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requests) == maxRequests {
		return false
	}
	r.before = revision(l.server)
	l.requests = append(l.requests, r)
	return true
}

func (l *requestLog) end(r *request, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.end, r.code, r.after = time.Now(), code, revision(l.server)
}

// copy returns the requests until now.
func (l *requestLog) copy() *requestLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &requestLog{requests: make([]*request, len(l.requests))}
	for i, r := range l.requests {
		made := *r
		c.requests[i] = &made
	}
	return c
}

// since returns the number of requests that began at or after a time, by client.
func (l *requestLog) since(at time.Time) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := map[string]int{}
	for i := len(l.requests) - 1; i >= 0 && !l.requests[i].begin.Before(at); i-- {
		counts[l.requests[i].client]++
	}
	return counts
}

// revision returns the revision of a server, 0 without one.
func revision(s *fakeapi.Server) uint64 {
	if s == nil {
		return 0
	}
	n, _ := strconv.ParseUint(s.ResourceVersion(), 10, 64) // it is a number
	return n
}
