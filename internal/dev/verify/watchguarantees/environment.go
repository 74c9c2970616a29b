package watchguarantees

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

// environment has the server of one seed, and the writes to it.
type environment struct {
	t             *testing.T
	srv           *fakeapi.Server
	kind          harness.Kind
	counter       *harness.Counter
	startRevision uint64
	initial       []harness.Object
	writersDone   chan struct{} // closed when the writers are done; no watch is interrupted any more
	stopWatchers  chan struct{} // closed to end the watchers

	mu             sync.Mutex
	writes         []Write
	newest         uint64 // the newest revision that a writer has received
	forgottenAt    []uint64
	forgetsHistory bool // history is forgotten during the run
}

// namespacesAndNames returns namespaces and names whose keys are ordered by bytes, not by parts:
// "n-1/a" is before "n/a".
func namespacesAndNames() (namespaces, names []string) {
	return []string{"n", "n-1", "o"}, []string{"a", "a-b", "b", "c"}
}

// newEnvironment starts a server with a few objects in three namespaces.
func newEnvironment(t *testing.T, seed uint64, rng *rand.Rand, total *harness.Counter) *environment {
	e := &environment{t: t, counter: total, kind: harness.KindsReturningDeleted()[seed%2], writersDone: make(chan struct{}), stopWatchers: make(chan struct{})}
	namespaces, names := namespacesAndNames()
	var objects, fixtures []runtime.Object
	for _, ns := range namespaces {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		for _, name := range names[:2] {
			fixtures = append(fixtures, e.kind.New(ns, name, map[string]string{"app": "x"}))
		}
	}
	intervals := []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, time.Second}
	e.srv = fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed), fakeapi.WithObjects(append(objects, fixtures...)...),
		fakeapi.WithBookmarkInterval(intervals[rng.IntN(len(intervals))]))
	e.startRevision = e.revision()
	e.newest = e.startRevision
	e.initial, _ = e.list(e.kind.CollectionPath(""), harness.JSON, nil)
	require.Len(t, e.initial, len(fixtures))
	e.forgetsHistory = rng.IntN(3) == 0
	return e
}

func runSeed(t *testing.T, seed uint64, total *harness.Counter) {
	rng := rand.New(rand.NewPCG(seed, 1))
	e := newEnvironment(t, seed, rng, total)
	var writers, watchers sync.WaitGroup
	for i := range 4 {
		a := &writer{environment: e, rng: rand.New(rand.NewPCG(seed, uint64(100+i))), name: fmt.Sprint("w", i)}
		writers.Go(func() { a.run(40) })
	}
	writers.Go(func() { e.writeOtherKind(rand.New(rand.NewPCG(seed, 2)), 20) })
	if e.forgetsHistory {
		writers.Go(func() { e.forgetHistory(rand.New(rand.NewPCG(seed, 3))) })
	}
	var logs []*WatchLog
	for i, spec := range randomWatchSpecs(rng) {
		w := newWatcher(e, spec, rand.New(rand.NewPCG(seed, uint64(200+i))))
		logs = append(logs, &w.WatchLog)
		watchers.Go(w.run)
	}
	writers.Wait()
	close(e.writersDone)
	time.Sleep(5 * time.Second) // at least two bookmarks
	close(e.stopWatchers)
	watchers.Wait()

	history, violations := NewHistory(e.kind.Name, e.initial, e.startRevision, e.revision(), e.writes)
	history.ForgottenAt = e.forgottenAt
	for _, l := range logs {
		e.countEvents(l)
		violations = append(violations, history.Check(*l)...)
	}
	if len(violations) > 0 {
		t.Errorf("rerun with -run TestWatchGuarantees -first=%d -seeds=1\n%s", seed, strings.Join(violations, "\n"))
	}
}

// forgetHistory makes the server forget its history a few times.
func (e *environment) forgetHistory(rng *rand.Rand) {
	for range 4 {
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		e.srv.Compact()
		if rng.IntN(2) == 0 {
			e.srv.ForgetHistory()
			e.mu.Lock()
			e.forgottenAt = append(e.forgottenAt, e.revision())
			e.mu.Unlock()
		}
	}
}

// countEvents counts what a log covers.
func (e *environment) countEvents(l *WatchLog) {
	for i, r := range l.Requests {
		if i > 0 && !r.Initial {
			before := l.Requests[i-1].Events
			if len(before) > 0 && before[len(before)-1].Type == "BOOKMARK" {
				e.counter.Add("resumed from a bookmark")
			} else {
				e.counter.Add("resumed from an event")
			}
		}
		ended := false
		for _, event := range r.Events {
			e.counter.Add(string(event.Type))
			if ended = ended || event.InitialEventsEnd; event.Type == "DELETED" && strings.Contains(l.Name, "labelSelector") {
				e.counter.Add("selected DELETED")
			}
		}
		if r.ExactList != nil {
			e.counter.Add("Exact list")
		}
		if r.Initial && r.Bookmarks && !ended && len(r.Events) > 0 {
			e.counter.Add("partial initial events")
		}
	}
}

func (e *environment) revision() uint64 {
	rev, err := strconv.ParseUint(e.srv.ResourceVersion(), 10, 64)
	require.NoError(e.t, err)
	return rev
}

// list reads a collection. It returns false if the server has forgotten the revision.
func (e *environment) list(path, media string, query url.Values) ([]harness.Object, bool) {
	endpoint := harness.Endpoint{URL: e.srv.URL(), Client: e.srv.Client()}
	list, code, err := endpoint.List(e.t, harness.Encoding{Kind: e.kind, MediaType: media}, path, query)
	require.NoError(e.t, err)
	if code == http.StatusGone {
		return nil, false
	}
	require.Equal(e.t, http.StatusOK, code)
	return list.Objects, true
}

func (e *environment) do(r *http.Request) (int, []byte) {
	resp, err := e.srv.Client().Do(r)
	require.NoError(e.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(e.t, err)
	return resp.StatusCode, body
}

func (e *environment) recordWrite(kind, verb string, o harness.Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes = append(e.writes, Write{Kind: kind, Verb: verb, Object: o})
	e.newest = max(e.newest, o.Revision)
}

// newestRevision returns the newest revision that a writer has received.
func (e *environment) newestRevision() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newest
}

// writeOtherKind writes objects of another kind, whose revisions the watchers see in bookmarks
// only.
func (e *environment) writeOtherKind(rng *rand.Rand, n int) {
	for i := range n {
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
		code, body := e.request("POST", "/api/v1/namespaces/n/configmaps", harness.JSON, fmt.Sprintf(`{"metadata":{"name":"noise-%d","labels":{"app":"x"}}}`, i))
		require.Equal(e.t, http.StatusCreated, code)
		e.recordWrite("ConfigMap", "create", e.decode(body))
	}
}

func (e *environment) request(method, path, contentType, body string) (int, []byte) {
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.srv.URL()+path, bytes.NewReader([]byte(body)))
	require.NoError(e.t, err)
	r.Header.Set("Content-Type", contentType)
	return e.do(r)
}

func (e *environment) decode(body []byte) harness.Object {
	obj, _, err := harness.Encoding{Kind: e.kind, MediaType: harness.JSON}.Decode(body)
	require.NoError(e.t, err)
	o, err := harness.ObjectFrom(obj)
	require.NoError(e.t, err)
	return o
}
