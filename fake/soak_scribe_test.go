package fakeapi_test

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
)

// scribe writes down what happens, by a watch of each kind that no fault hits. It is not
// believed: what it has missed is missed in the count of revisions, and what it has made up
// is nothing that a client has done; see soak_record_test.go.
type scribe struct {
	*soak
	stop func()
	done sync.WaitGroup
	upTo atomic.Uint64 // everything up to here was seen, of all kinds

	mu     sync.Mutex
	seen   map[string][]glimpse // by kind, in this round
	number uint64               // of them all
}

func newScribe(s *soak) *scribe {
	ctx, stop := context.WithCancel(s.t.Context())
	x := &scribe{soak: s, stop: stop, seen: map[string][]glimpse{}}
	for _, k := range s.kinds {
		x.done.Go(func() { x.follow(ctx, k) })
	}
	return x
}

// close ends the watches, and returns when they have ended.
func (x *scribe) close() {
	x.stop()
	x.done.Wait()
}

// count is how many changes were seen in this round.
func (x *scribe) count() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.number
}

// take gives what was seen in this round, and begins the next.
func (x *scribe) take() (seen map[string][]glimpse) {
	x.mu.Lock()
	defer x.mu.Unlock()
	seen = x.seen
	x.seen, x.number = map[string][]glimpse{}, 0
	return seen
}

// follow watches a kind, request after request.
func (x *scribe) follow(ctx context.Context, k kind) {
	for pos := x.since.Load(); ctx.Err() == nil; {
		err := x.watch(ctx, k, &pos)
		if err != nil && ctx.Err() == nil {
			x.errorf("scribe: the watch of %s from %d: %v", k.name, pos, err)
			return
		}
	}
}

// watch is one request, which ends when the server has had enough of it.
func (x *scribe) watch(ctx context.Context, k kind, pos *uint64) error {
	*pos = max(*pos, x.upTo.Load())
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {strconv.FormatUint(*pos, 10)}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.auditor[0].url+k.collection("")+"?"+query.Encode(), nil)
	require.NoError(x.t, err)
	resp, err := x.auditor[0].http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it is answered with %s", resp.Status)
	}
	next := tongue{k, jsonMedia}.frames(resp.Body)
	for {
		g, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if g.event == watch.Error {
			return fmt.Errorf("%v %s", g, g.message)
		}
		*pos = g.rev
		if g.event != watch.Bookmark {
			x.mu.Lock()
			x.seen[k.name] = append(x.seen[k.name], g)
			x.number++
			x.mu.Unlock()
		}
	}
}

// verbOf is what was done if a watch shows this.
func verbOf(event watch.EventType) string {
	return map[watch.EventType]string{watch.Added: "create", watch.Modified: "update", watch.Deleted: "delete"}[event]
}

// recorded are the writes of all kinds, as the scribe has seen them.
func recorded(seen map[string][]glimpse) (writes []write) {
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		for _, g := range seen[name] {
			writes = append(writes, write{thing: g.thing, kind: name, verb: verbOf(g.event)})
		}
	}
	return writes
}
