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

func newRecorder(s *environment) *recorder {
	ctx, stop := context.WithCancel(s.t.Context())
	x := &recorder{environment: s, stop: stop, events: map[string][]harness.Event{}}
	for _, k := range s.kinds {
		x.done.Go(func() { x.watchKind(ctx, k) })
	}
	return x
}

// close stops the watches and waits until they have ended.
func (x *recorder) close() {
	x.stop()
	x.done.Wait()
}

// count returns the number of changes that were seen in this round.
func (x *recorder) count() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.total
}

// drain returns the events of this round and starts the next one.
func (x *recorder) drain() (seen map[string][]harness.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seen = x.events
	x.events, x.total = map[string][]harness.Event{}, 0
	return seen
}

// watchKind watches a kind with one request after the other.
func (x *recorder) watchKind(ctx context.Context, k harness.Kind) {
	for pos := x.roundStart.Load(); ctx.Err() == nil; {
		err := x.watchOnce(ctx, k, &pos)
		if err != nil && ctx.Err() == nil {
			x.errorf("recorder: the watch of %s from %d: %v", k.Name, pos, err)
			return
		}
	}
}

// watchOnce sends one watch request and reads it until the server ends it.
func (x *recorder) watchOnce(ctx context.Context, k harness.Kind, pos *uint64) error {
	*pos = max(*pos, x.skippedTo.Load())
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {strconv.FormatUint(*pos, 10)}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.faultFree[0].URL+k.CollectionPath("")+"?"+query.Encode(), nil)
	require.NoError(x.t, err)
	resp, err := x.faultFree[0].Client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the response is %s", resp.Status)
	}
	next := harness.Encoding{Kind: k, MediaType: harness.JSON}.EventReader(resp.Body)
	for {
		g, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if g.Type == watch.Error {
			return fmt.Errorf("%v %s", g, g.Message)
		}
		*pos = g.Revision
		if g.Type != watch.Bookmark {
			x.mu.Lock()
			x.events[k.Name] = append(x.events[k.Name], g)
			x.total++
			x.mu.Unlock()
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
		for _, g := range seen[name] {
			writes = append(writes, watchguarantees.Write{Object: g.Object, Kind: name, Verb: verbFor(g.Type)})
		}
	}
	return writes
}
