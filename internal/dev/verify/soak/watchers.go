package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// resumingWatcher is a watcher that runs over all rounds. It resumes on the server or on the
// replica when its watch ends, and lists again after a 410.
type resumingWatcher struct {
	*environment
	rng       *rand.Rand
	encoding  harness.Encoding
	namespace string
	endpoints []harness.Endpoint
	name      string
	stop      context.CancelFunc
	done      chan struct{}

	mu            sync.Mutex
	log           watchguarantees.WatchLog // of this round
	position      uint64                   // the revision to resume from
	positionKnown bool                     // position is valid
	mayLag        bool                     // the current watch is of the replica
}

func newResumingWatcher(e *environment, id int) *resumingWatcher {
	ctx, stop := context.WithCancel(e.t.Context())
	w := &resumingWatcher{environment: e, rng: e.newRand(40, id), stop: stop, done: make(chan struct{}), endpoints: e.newEndpoints(fmt.Sprint("watcher-", id))}
	w.position, w.positionKnown = e.roundStart.Load(), id%2 == 0
	w.encoding = harness.Encoding{Kind: e.kinds[id%len(e.kinds)], MediaType: harness.JSON}
	if !w.encoding.Kind.Custom && w.rng.IntN(2) == 0 {
		w.encoding.MediaType = harness.Protobuf
	}
	if id%4 == 0 {
		w.namespace = groupNamespace(id % groupCount)
	}
	w.name = fmt.Sprintf("watcher %d of %s as %s", id, w.path(), w.encoding.MediaType)
	w.log = watchguarantees.WatchLog{Name: w.name, Matches: func(o harness.Object) bool {
		return strings.HasPrefix(o.Key, w.namespace) // all namespaces have names of the same length
	}}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			w.watchOnce(ctx)
		}
	}()
	return w
}

// close stops the watcher and waits until it has ended.
func (w *resumingWatcher) close() {
	w.stop()
	<-w.done
}

func (w *resumingWatcher) path() string { return w.encoding.Kind.CollectionPath(w.namespace) }

// caughtUpTo returns the revision up to which all events were seen, and whether that is at least
// rev.
func (w *resumingWatcher) caughtUpTo(rev uint64) (pos uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.position, w.positionKnown && w.position >= rev
}

// drain returns the log of this round and starts the next one.
func (w *resumingWatcher) drain() watchguarantees.WatchLog {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log.Requests = []watchguarantees.WatchRequest{{From: w.position, Bookmarks: true}}
	return log
}

// sleep sleeps for some milliseconds.
func (w *resumingWatcher) sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(1+w.rng.IntN(20)) * time.Millisecond):
	}
}

// watchOnce sends one watch request, with or without a list before it.
func (w *resumingWatcher) watchOnce(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := w.rng.IntN(len(w.endpoints))
	endpoint := w.endpoints[server]
	w.mu.Lock()
	w.mayLag = server == 1
	req := watchguarantees.WatchRequest{From: w.position, Initial: !w.positionKnown, Bookmarks: true}
	w.mu.Unlock()
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}}
	switch {
	case !req.Initial:
		query.Set("resourceVersion", strconv.FormatUint(req.From, 10))
	case w.rng.IntN(2) == 0:
		if !w.list(endpoint, &req) {
			w.sleep(ctx)
			return
		}
		query.Set("resourceVersion", strconv.FormatUint(w.position, 10))
	default:
		w.setInitialQuery(query, &req)
	}
	if w.rng.IntN(3) == 0 {
		query.Set("timeoutSeconds", "1")
	}
	defer w.cancelLater(cancel)()
	if !w.readWatch(ctx, endpoint, query, req) {
		w.sleep(ctx)
	}
}

// setInitialQuery sets the parameters of a streaming list: of the newest state, of one that is not
// older than the position, or of any state.
func (w *resumingWatcher) setInitialQuery(query url.Values, req *watchguarantees.WatchRequest) {
	query.Set("sendInitialEvents", "true")
	query.Set("resourceVersionMatch", "NotOlderThan")
	switch w.rng.IntN(3) {
	case 0:
		req.MinRevision = max(w.environment.newestRevision.Load(), w.roundStart.Load())
	case 1:
		req.MinRevision = max(w.position, w.roundStart.Load())
		query.Set("resourceVersion", strconv.FormatUint(w.position, 10))
	default:
		req.MinRevision = w.roundStart.Load()
		query.Set("resourceVersion", "0")
	}
}

// list reads a list to watch from, as clients without streaming lists do. It is recorded like
// initial events.
func (w *resumingWatcher) list(endpoint harness.Endpoint, req *watchguarantees.WatchRequest) bool {
	query, atLeast := url.Values{}, w.environment.newestRevision.Load()
	if w.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		atLeast = 0
	}
	list, code, err := endpoint.List(w.t, w.encoding, w.path(), query)
	if err != nil {
		w.errorf("%s: unreadable list: %v", w.name, err)
	}
	if code != http.StatusOK || err != nil {
		return false
	}
	req.MinRevision = max(atLeast, w.roundStart.Load())
	for _, item := range list.Objects {
		req.Events = append(req.Events, harness.Event{Type: watch.Added, Object: item})
	}
	req.Events = append(req.Events, harness.Event{Type: watch.Bookmark, InitialEventsEnd: true, Object: harness.Object{Revision: list.Revision}})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.position, w.positionKnown = list.Revision, true
	return true
}

// cancelLater cancels half of the watches after some time, unless the environment is quiet by then.
// stop cancels that.
func (w *resumingWatcher) cancelLater(cancel func()) (stop func()) {
	if w.rng.IntN(2) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(time.Duration(w.rng.IntN(200))*time.Millisecond, func() {
		if !w.quiet.Load() {
			cancel()
		}
	})
	return func() { timer.Stop() }
}

// readWatch sends a watch request and reads it to its end. It returns false if the request failed.
func (w *resumingWatcher) readWatch(ctx context.Context, endpoint harness.Endpoint, query url.Values, req watchguarantees.WatchRequest) bool {
	httpReq, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URL+w.path()+"?"+query.Encode(), nil)
	require.NoError(w.t, err)
	httpReq.Header.Set("Accept", w.encoding.MediaType)
	resp, err := endpoint.Client.Do(httpReq)
	w.mu.Lock()
	w.log.Requests = append(w.log.Requests, req)
	w.mu.Unlock()
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		if lost, undone := expectedFailure(resp.StatusCode); !lost && !undone {
			w.errorf("%s: unexpected %s: %s", w.name, resp.Status, query.Encode())
		}
		return false
	}
	next := w.encoding.EventReader(resp.Body)
	for {
		event, err := next()
		if errors.Is(err, harness.ErrMalformed) {
			w.errorf("%s: %v", w.name, err)
		}
		if err != nil || !w.recordEvent(event) {
			return err == nil
		}
	}
}

// recordEvent records an event. It returns false if it is the last one.
func (w *resumingWatcher) recordEvent(event harness.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counter.Add("watcher's " + string(event.Type))
	if event.Type == watch.Error {
		wasKnown := w.positionKnown
		w.positionKnown = false
		switch {
		case strings.Contains(event.Message, injectedMessage):
			return false // from a fault: continue with the next request
		case !wasKnown && w.mayLag && event.Code == http.StatusGone:
			return false // a lagging view cannot continue once history is forgotten
		}
	}
	req := &w.log.Requests[len(w.log.Requests)-1]
	req.Events = append(req.Events, event)
	if event.Type == watch.Error {
		return false
	}
	switch {
	case event.InitialEventsEnd: // a lagging view may be older than the position
		w.position, w.positionKnown = event.Revision, true
	case w.positionKnown:
		w.position = max(w.position, event.Revision)
	}
	return true
}

// checkWatches checks the logs of all watchers.
func checkWatches(records map[string]*watchguarantees.History, logs map[string][]watchguarantees.WatchLog) (violations []string) {
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		for _, log := range logs[name] {
			violations = append(violations, records[name].Check(log)...)
		}
	}
	return violations
}
