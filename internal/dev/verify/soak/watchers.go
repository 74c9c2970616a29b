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

// resumingWatcher is a watcher that lives over all the rounds: it resumes when it was cut off, goes
// from door to door, and lists again after a 410.
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
	position      uint64                   // what it can resume from,
	positionKnown bool                     // if it knows that
	mayLag        bool                     // it watches a view that may be
}

func newResumingWatcher(s *environment, id int) *resumingWatcher {
	ctx, stop := context.WithCancel(s.t.Context())
	o := &resumingWatcher{environment: s, rng: s.newRand(40, id), stop: stop, done: make(chan struct{}), endpoints: s.newEndpoints(fmt.Sprint("sentry-", id))}
	o.position, o.positionKnown = s.roundStart.Load(), id%2 == 0
	o.encoding = harness.Encoding{Kind: s.kinds[id%len(s.kinds)], MediaType: harness.JSON}
	if !o.encoding.Kind.Custom && o.rng.IntN(2) == 0 {
		o.encoding.MediaType = harness.Protobuf
	}
	if id%4 == 0 {
		o.namespace = groupNamespace(id % groupCount)
	}
	o.name = fmt.Sprintf("sentry %d of %s as %s", id, o.path(), o.encoding.MediaType)
	o.log = watchguarantees.WatchLog{Name: o.name, Matches: func(t harness.Object) bool {
		return strings.HasPrefix(t.Key, o.namespace) // all names of namespaces are of one length
	}}
	go func() {
		defer close(o.done)
		for ctx.Err() == nil {
			o.watchOnce(ctx)
		}
	}()
	return o
}

// close ends the watch, and returns when it has ended.
func (o *resumingWatcher) close() {
	o.stop()
	<-o.done
}

func (o *resumingWatcher) path() string { return o.encoding.Kind.CollectionPath(o.namespace) }

// caughtUpTo tells up to where everything was seen, and whether that is up to a revision.
func (o *resumingWatcher) caughtUpTo(rev uint64) (pos uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.position, o.positionKnown && o.position >= rev
}

// drain gives what was seen in this round, and begins the next.
func (o *resumingWatcher) drain() watchguarantees.WatchLog {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.log
	o.log.Requests = []watchguarantees.WatchRequest{{From: o.position, Bookmarks: true}}
	return l
}

// sleep waits a little, as long as there is trouble.
func (o *resumingWatcher) sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(1+o.rng.IntN(20)) * time.Millisecond):
	}
}

// watchOnce is one watch, with a list before it or without.
func (o *resumingWatcher) watchOnce(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	through := o.rng.IntN(len(o.endpoints))
	d := o.endpoints[through]
	o.mu.Lock()
	o.mayLag = through == 1
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

// setInitialQuery asks for a streaming list: of what is newest, of what is not older than it has
// seen, or of whatever there is.
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

// list reads a list to watch from, as clients without streaming lists do. What it shows
// is noted like the initial events of a watch.
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

// cancelLater turns away from the watch after a while, now and then, as long as there is trouble.
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

// readWatch reads one watch to its end; false if it was refused.
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
			o.errorf("%s: undeserved %s: %s", o.name, resp.Status, query.Encode())
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

// recordEvent notes a frame; false if it is the last.
func (o *resumingWatcher) recordEvent(g harness.Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counter.Add("sentry's " + string(g.Type))
	if g.Type == watch.Error {
		begun := o.positionKnown
		o.positionKnown = false
		switch {
		case strings.Contains(g.Message, injectedMessage):
			return false // of a fault; to go on elsewhere is all that it means
		case !begun && o.mayLag && g.Code == http.StatusGone:
			return false // a view that is behind has nothing to go on from once all is forgotten
		}
	}
	now := &o.log.Requests[len(o.log.Requests)-1]
	now.Events = append(now.Events, g)
	if g.Type == watch.Error {
		return false
	}
	switch {
	case g.InitialEventsEnd: // a view that lags may be older than what was seen before
		o.position, o.positionKnown = g.Revision, true
	case o.positionKnown:
		o.position = max(o.position, g.Revision)
	}
	return true
}

// checkWatches holds the lives of all sentries against the records.
func checkWatches(records map[string]*watchguarantees.History, lives map[string][]watchguarantees.WatchLog) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		for _, l := range lives[name] {
			complaints = append(complaints, records[name].Check(l)...)
		}
	}
	return complaints
}
