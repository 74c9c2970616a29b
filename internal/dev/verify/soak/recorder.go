package soak

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/watchguarantees"
)

// recorder records all changes, with a watch of each kind that no fault applies to. The checks do
// not rely on it: events that it missed are missing in the count of revisions, and wrong events do
// not match the operations of a client. See check_writes.go.
type recorder struct {
	*environment
	stop      func()
	done      sync.WaitGroup
	skippedTo atomic.Uint64 // all events of all kinds up to this revision were seen

	mu     sync.Mutex
	events map[string][]harness.Event // by kind, of this round
	total  uint64                     // the number of events
}

func newRecorder(e *environment) *recorder {
	ctx, stop := context.WithCancel(e.t.Context())
	r := &recorder{environment: e, stop: stop, events: map[string][]harness.Event{}}
	for _, k := range e.kinds {
		r.done.Go(func() { r.watchKind(ctx, k) })
	}
	return r
}

// close stops the watches and waits until they have ended.
func (r *recorder) close() {
	r.stop()
	r.done.Wait()
}

// count returns the number of changes that were seen in this round.
func (r *recorder) count() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// drain returns the events of this round and starts the next one.
func (r *recorder) drain() (seen map[string][]harness.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen = r.events
	r.events, r.total = map[string][]harness.Event{}, 0
	return seen
}

// watchKind watches a kind with one request after the other.
func (r *recorder) watchKind(ctx context.Context, k harness.Kind) {
	for pos := r.roundStart.Load(); ctx.Err() == nil; {
		err := r.watchOnce(ctx, k, &pos)
		if err != nil && ctx.Err() == nil {
			r.errorf("recorder: the watch of %s from %d: %v", k.Name, pos, err)
			return
		}
	}
}

// watchOnce sends one watch request and reads it until the server ends it.
func (r *recorder) watchOnce(ctx context.Context, k harness.Kind, pos *uint64) error {
	*pos = max(*pos, r.skippedTo.Load())
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {strconv.FormatUint(*pos, 10)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.faultFree[0].URL+k.CollectionPath("")+"?"+query.Encode(), nil)
	require.NoError(r.t, err)
	resp, err := r.faultFree[0].Client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the response is %s", resp.Status)
	}
	next := harness.Encoding{Kind: k, MediaType: harness.JSON}.EventReader(resp.Body)
	for {
		event, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if event.Type == watch.Error {
			return fmt.Errorf("%v %s", event, event.Message)
		}
		*pos = event.Revision
		if event.Type != watch.Bookmark {
			r.mu.Lock()
			r.events[k.Name] = append(r.events[k.Name], event)
			r.total++
			r.mu.Unlock()
		}
	}
}

// verbFor returns the verb of the write that an event is about.
func verbFor(event watch.EventType) string {
	return map[watch.EventType]string{watch.Added: "create", watch.Modified: "update", watch.Deleted: "delete"}[event]
}

// writesFrom returns the writes of all kinds that the recorder has seen.
func writesFrom(seen map[string][]harness.Event) (writes []watchguarantees.Write) {
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		for _, event := range seen[name] {
			writes = append(writes, watchguarantees.Write{Object: event.Object, Kind: name, Verb: verbFor(event.Type)})
		}
	}
	return writes
}
