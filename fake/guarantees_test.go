package fakeapi_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// A seed that failed is run again with -guarantees.first=SEED -guarantees.seeds=1.
var (
	guaranteesFirst = flag.Uint64("guarantees.first", 0, "first seed of TestWatchGuarantees")
	guaranteesSeeds = flag.Uint64("guarantees.seeds", 40, "number of seeds of TestWatchGuarantees")
)

// What etcd promises of a watch holds for every watcher, however often it is cut
// off and resumed: events are ordered, unique and complete, a bookmark tells the
// truth, and initial events are the list at their revision. Per seed, writers and
// watchers do random things; what the writers were told is what the watchers must
// have seen.
func TestWatchGuarantees(t *testing.T) {
	seeds := *guaranteesSeeds
	if testing.Short() {
		seeds = min(seeds, 8)
	}
	var total tally
	t.Run("seeds", func(t *testing.T) {
		for seed := *guaranteesFirst; seed < *guaranteesFirst+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { guaranteed(t, seed, &total) })
			})
		}
	})
	if seeds < 8 {
		return // too few for everything to occur
	}
	for _, what := range []string{
		"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "selected DELETED", "Exact list", "partial initial events",
		"resumed from an event", "resumed from a bookmark", "dry run", "no-op", "refused",
	} {
		require.Positive(t, total.of(what), "no %s has occurred", what)
	}
}

// tally counts what has occurred, so that a check of nothing is noticed.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (n *tally) add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.counts == nil {
		n.counts = map[string]int{}
	}
	n.counts[what]++
}

// take gives all that has occurred, and forgets it.
func (n *tally) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Sorted(maps.Keys(n.counts))
	n.counts = nil
	return all
}

func (n *tally) of(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[what]
}

// world is the server of one seed, and what the writers did to it.
type world struct {
	t      *testing.T
	srv    *fakeapi.Server
	kind   kind
	total  *tally
	since  uint64
	base   []thing
	calm   chan struct{} // closed when the writers are done: nothing is cut any more
	finish chan struct{} // closed when the watchers shall end

	mu        sync.Mutex
	writes    []write
	committed uint64 // the newest revision that a writer knows of
	expired   []uint64
	forgetful bool // history is being forgotten
}

// Namespaces and names whose keys sort by bytes, not by parts: "n-1/a" comes
// before "n/a".
func places() (namespaces, names []string) {
	return []string{"n", "n-1", "o"}, []string{"a", "a-b", "b", "c"}
}

// newWorld starts a server with a few objects in three namespaces.
func newWorld(t *testing.T, seed uint64, rng *rand.Rand, total *tally) *world {
	w := &world{t: t, total: total, kind: kinds()[seed%2], calm: make(chan struct{}), finish: make(chan struct{})}
	namespaces, names := places()
	var objects, fixtures []runtime.Object
	for _, ns := range namespaces {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		for _, name := range names[:2] {
			fixtures = append(fixtures, w.kind.object(ns, name, map[string]string{"app": "x"}))
		}
	}
	intervals := []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second}
	w.srv = fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed), fakeapi.WithObjects(append(objects, fixtures...)...),
		fakeapi.WithBookmarkInterval(intervals[rng.IntN(len(intervals))]))
	w.since = w.revision()
	w.committed = w.since
	w.base = w.list(w.kind.collection(""), jsonMedia, nil)
	require.Len(t, w.base, len(fixtures))
	w.forgetful = rng.IntN(3) == 0
	return w
}

// guaranteed runs one seed.
func guaranteed(t *testing.T, seed uint64, total *tally) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t, seed, rng, total)
	var writers, watchers sync.WaitGroup
	for i := range 4 {
		a := &author{world: w, rng: rand.New(rand.NewPCG(seed, uint64(100+i))), name: fmt.Sprint("w", i)}
		writers.Go(func() { a.work(40) })
	}
	writers.Go(func() { w.makeNoise(rand.New(rand.NewPCG(seed, 2)), 20) })
	if w.forgetful {
		writers.Go(func() { w.forget(rand.New(rand.NewPCG(seed, 3))) })
	}
	var lives []*life
	for i, v := range viewpoints(w, rng) {
		o := newObserver(w, v, rand.New(rand.NewPCG(seed, uint64(200+i))))
		lives = append(lives, &o.life)
		watchers.Go(o.live)
	}
	writers.Wait()
	close(w.calm)
	time.Sleep(5 * time.Second) // two bookmarks and more
	close(w.finish)
	watchers.Wait()

	c, complaints := newChronicle(w.kind.name, w.base, w.since, w.revision(), w.writes)
	c.expired = w.expired
	for _, l := range lives {
		w.count(l)
		complaints = append(complaints, c.check(*l)...)
	}
	if len(complaints) > 0 {
		t.Errorf("rerun with -run TestWatchGuarantees -guarantees.first=%d -guarantees.seeds=1\n%s", seed, strings.Join(complaints, "\n"))
	}
}

// forget makes the server forget its history now and then.
func (w *world) forget(rng *rand.Rand) {
	for range 4 {
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		w.srv.Compact()
		if rng.IntN(2) == 0 {
			w.srv.ForgetHistory()
			w.mu.Lock()
			w.expired = append(w.expired, w.revision())
			w.mu.Unlock()
		}
	}
}

// count notes what a life had in it.
func (w *world) count(l *life) {
	for i, s := range l.spans {
		if i > 0 && !s.initial {
			before := l.spans[i-1].seen
			if len(before) > 0 && before[len(before)-1].event == "BOOKMARK" {
				w.total.add("resumed from a bookmark")
			} else {
				w.total.add("resumed from an event")
			}
		}
		ended := false
		for _, g := range s.seen {
			w.total.add(string(g.event))
			if ended = ended || g.ends; g.event == "DELETED" && strings.Contains(l.name, "labelSelector") {
				w.total.add("selected DELETED")
			}
		}
		if s.exact != nil {
			w.total.add("Exact list")
		}
		if s.initial && s.bookmarks && !ended && len(s.seen) > 0 {
			w.total.add("partial initial events")
		}
	}
}
