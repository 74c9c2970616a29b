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

func newResumingWatcher(s *environment, id int) *resumingWatcher {
	ctx, stop := context.WithCancel(s.t.Context())
	o := &resumingWatcher{environment: s, rng: s.newRand(40, id), stop: stop, done: make(chan struct{}), endpoints: s.newEndpoints(fmt.Sprint("watcher-", id))}
	o.position, o.positionKnown = s.roundStart.Load(), id%2 == 0
	o.encoding = harness.Encoding{Kind: s.kinds[id%len(s.kinds)], MediaType: harness.JSON}
	if !o.encoding.Kind.Custom && o.rng.IntN(2) == 0 {
		o.encoding.MediaType = harness.Protobuf
	}
	if id%4 == 0 {
		o.namespace = groupNamespace(id % groupCount)
	}
	o.name = fmt.Sprintf("watcher %d of %s as %s", id, o.path(), o.encoding.MediaType)
	o.log = watchguarantees.WatchLog{Name: o.name, Matches: func(t harness.Object) bool {
		return strings.HasPrefix(t.Key, o.namespace) // all namespaces have names of the same length
	}}
	go func() {
		defer close(o.done)
		for ctx.Err() == nil {
			o.watchOnce(ctx)
		}
	}()
	return o
}

// close stops the watcher and waits until it has ended.
func (o *resumingWatcher) close() {
	o.stop()
	<-o.done
}

func (o *resumingWatcher) path() string { return o.encoding.Kind.CollectionPath(o.namespace) }

// caughtUpTo returns the revision up to which all events were seen, and whether that is at least
// rev.
func (o *resumingWatcher) caughtUpTo(rev uint64) (pos uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.position, o.positionKnown && o.position >= rev
}

// drain returns the log of this round and starts the next one.
func (o *resumingWatcher) drain() watchguarantees.WatchLog {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.log
	o.log.Requests = []watchguarantees.WatchRequest{{From: o.position, Bookmarks: true}}
	return l
}

// sleep sleeps for some milliseconds.
func (o *resumingWatcher) sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(1+o.rng.IntN(20)) * time.Millisecond):
	}
}

// watchOnce sends one watch request, with or without a list before it.
func (o *resumingWatcher) watchOnce(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := o.rng.IntN(len(o.endpoints))
	d := o.endpoints[server]
	o.mu.Lock()
	o.mayLag = server == 1
	s := watchguarantees.WatchRequest{From: o.position, Initial: !o.positionKnown, Bookmarks: true}
	o.mu.Unlock()
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}}
	switch {
	case !s.Initial:
		query.Set("resourceVersion", strconv.FormatUint(s.From, 10))
	case o.rng.IntN(2) == 0:
		if !o.list(d, &s) {
			o.sleep(ctx)
			return
		}
		query.Set("resourceVersion", strconv.FormatUint(o.position, 10))
	default:
		o.setInitialQuery(query, &s)
	}
	if o.rng.IntN(3) == 0 {
		query.Set("timeoutSeconds", "1")
	}
	defer o.cancelLater(cancel)()
	if !o.readWatch(ctx, d, query, s) {
		o.sleep(ctx)
	}
}

// setInitialQuery sets the parameters of a streaming list: of the newest state, of one that is not
// older than the position, or of any state.
func (o *resumingWatcher) setInitialQuery(query url.Values, s *watchguarantees.WatchRequest) {
	query.Set("sendInitialEvents", "true")
	query.Set("resourceVersionMatch", "NotOlderThan")
	switch o.rng.IntN(3) {
	case 0:
		s.MinRevision = max(o.environment.newestRevision.Load(), o.roundStart.Load())
	case 1:
		s.MinRevision = max(o.position, o.roundStart.Load())
		query.Set("resourceVersion", strconv.FormatUint(o.position, 10))
	default:
		s.MinRevision = o.roundStart.Load()
		query.Set("resourceVersion", "0")
	}
}

// list reads a list to watch from, as clients without streaming lists do. It is recorded like
// initial events.
func (o *resumingWatcher) list(d harness.Endpoint, s *watchguarantees.WatchRequest) bool {
	query, atLeast := url.Values{}, o.environment.newestRevision.Load()
	if o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		atLeast = 0
	}
	list, code, err := d.List(o.t, o.encoding, o.path(), query)
	if err != nil {
		o.errorf("%s: unreadable list: %v", o.name, err)
	}
	if code != http.StatusOK || err != nil {
		return false
	}
	s.MinRevision = max(atLeast, o.roundStart.Load())
	for _, item := range list.Objects {
		s.Events = append(s.Events, harness.Event{Type: watch.Added, Object: item})
	}
	s.Events = append(s.Events, harness.Event{Type: watch.Bookmark, InitialEventsEnd: true, Object: harness.Object{Revision: list.Revision}})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.position, o.positionKnown = list.Revision, true
	return true
}

// cancelLater cancels half of the watches after some time, unless the environment is quiet by then.
// stop cancels that.
func (o *resumingWatcher) cancelLater(cancel func()) (stop func()) {
	if o.rng.IntN(2) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(time.Duration(o.rng.IntN(200))*time.Millisecond, func() {
		if !o.quiet.Load() {
			cancel()
		}
	})
	return func() { timer.Stop() }
}

// readWatch sends a watch request and reads it to its end. It returns false if the request failed.
func (o *resumingWatcher) readWatch(ctx context.Context, d harness.Endpoint, query url.Values, s watchguarantees.WatchRequest) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+o.path()+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", o.encoding.MediaType)
	resp, err := d.Client.Do(r)
	o.mu.Lock()
	o.log.Requests = append(o.log.Requests, s)
	o.mu.Unlock()
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		if lost, undone := expectedFailure(resp.StatusCode); !lost && !undone {
			o.errorf("%s: unexpected %s: %s", o.name, resp.Status, query.Encode())
		}
		return false
	}
	next := o.encoding.EventReader(resp.Body)
	for {
		g, err := next()
		if errors.Is(err, harness.ErrMalformed) {
			o.errorf("%s: %v", o.name, err)
		}
		if err != nil || !o.recordEvent(g) {
			return err == nil
		}
	}
}

// recordEvent records an event. It returns false if it is the last one.
func (o *resumingWatcher) recordEvent(g harness.Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counter.Add("watcher's " + string(g.Type))
	if g.Type == watch.Error {
		wasKnown := o.positionKnown
		o.positionKnown = false
		switch {
		case strings.Contains(g.Message, injectedMessage):
			return false // from a fault: continue with the next request
		case !wasKnown && o.mayLag && g.Code == http.StatusGone:
			return false // a lagging view cannot continue once history is forgotten
		}
	}
	now := &o.log.Requests[len(o.log.Requests)-1]
	now.Events = append(now.Events, g)
	if g.Type == watch.Error {
		return false
	}
	switch {
	case g.InitialEventsEnd: // a lagging view may be older than the position
		o.position, o.positionKnown = g.Revision, true
	case o.positionKnown:
		o.position = max(o.position, g.Revision)
	}
	return true
}

// checkWatches checks the logs of all watchers.
func checkWatches(records map[string]*watchguarantees.History, logs map[string][]watchguarantees.WatchLog) (violations []string) {
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		for _, l := range logs[name] {
			violations = append(violations, records[name].Check(l)...)
		}
	}
	return violations
}
