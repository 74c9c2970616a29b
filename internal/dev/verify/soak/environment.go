package soak

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/linearizability"
)

// The numbers of clients of each type: a hundred in total, and the informers.
const (
	groupCount      = 15 // groups of clientsPerGroup clients that use the same three objects
	clientsPerGroup = 4
	readerCount     = 20
	watcherCount    = 20
)

// faultFreeAgent is the user agent of clients that no fault applies to.
const faultFreeAgent = "no-faults"

// environment is a server with a replica and the clients of both, over all rounds.
type environment struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	counter *harness.Counter
	// outsideBubble runs a check outside of the synctest bubble, on real time.
	outsideBubble func(func() []string) []string
	// sharesProcess is set if other environments run at the same time. What the process uses is not
	// checked then.
	sharesProcess bool

	srv            *fakeapi.Server
	replica        *fakeapi.Replica
	faultFree      []harness.Endpoint // server and replica, without faults
	transports     []*throttledTransport
	kinds          []harness.Kind
	clock          atomic.Int64
	newestRevision atomic.Uint64
	sent           harness.Counter // writes by method and resource
	writeSlots     chan struct{}   // writers acquire one for each request

	groups    []*group
	readers   []*reader
	watchers  []*resumingWatcher
	informers []*informer
	recorder  *recorder
	faults    *faultInjector
	quiet     atomic.Bool // there are no writes and no faults

	round       int
	opsPerRound int                         // per client
	roundStart  atomic.Uint64               // the revision at which the round began
	initial     map[string][]harness.Object // the objects of each kind at that revision
	forgottenAt []uint64
	baseline    resourceUsage
	errors      harness.Counter // violations that clients have seen
}

// group is a number of clients that use the same objects, with the states at the start of the
// round.
type group struct {
	*linearizability.Workload
	clients       []*linearizability.Client
	initialStates map[string]linearizability.State
}

// newEnvironment starts a server, a replica and the clients.
func newEnvironment(t *testing.T, seed uint64, total *harness.Counter, outside func(func() []string) []string, opts ...fakeapi.Option) *environment {
	e := &environment{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 5)), counter: total, outsideBubble: outside, kinds: kinds(),
		writeSlots: make(chan struct{}, groupCount*clientsPerGroup), opsPerRound: 10,
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(gearCRD), crd))
	fixtures := []runtime.Object{crd}
	for i := range groupCount {
		fixtures = append(fixtures, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: groupNamespace(i)}})
	}
	opts = append([]fakeapi.Option{
		fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed), fakeapi.WithObjects(fixtures...),
		fakeapi.WithLimits(fakeapi.Limits{HistoryChanges: historyLimit}), fakeapi.WithBookmarkInterval(time.Second),
		fakeapi.WithWatchTimeout(time.Duration(1+e.rng.IntN(20)) * time.Second),
	}, opts...)
	e.srv = fakeapi.Start(t, opts...)
	var err error
	e.replica, err = e.srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	e.faultFree = e.newEndpoints(faultFreeAgent)
	e.roundStart.Store(e.revision())
	e.newestRevision.Store(e.roundStart.Load())
	e.initial = e.listAll()
	e.faults = newFaultInjector(e)
	e.recorder = newRecorder(e)
	for i := range groupCount {
		e.groups = append(e.groups, e.newGroup(i))
	}
	for i := range readerCount {
		e.readers = append(e.readers, newReader(e, i))
	}
	for i := range watcherCount {
		e.watchers = append(e.watchers, newResumingWatcher(e, i))
	}
	e.informers = newInformers(e)
	return e
}

// historyLimit is the number of changes that the server remembers.
const historyLimit = 3000

func groupNamespace(group int) string { return fmt.Sprintf("g%02d", group) }

func (e *environment) newGroup(i int) *group {
	g := &group{initialStates: map[string]linearizability.State{}, Workload: &linearizability.Workload{
		T: e.t, Kind: e.kinds[i%len(e.kinds)], Namespace: groupNamespace(i), LosesReplies: true, Errorf: e.errorf,
		Clock: &e.clock, NewestRevision: &e.newestRevision, ClassifyFault: expectedFailure,
	}}
	g.Verbs = clientVerbs(g.Kind)
	for _, key := range g.Keys() {
		g.initialStates[key] = linearizability.Absent(e.roundStart.Load())
	}
	for j := range clientsPerGroup {
		id := i*clientsPerGroup + j
		g.clients = append(g.clients, linearizability.NewClient(g.Workload, id, e.newRand(10, id), e.newEndpoints(fmt.Sprint("client-", id))...))
	}
	return g
}

// newRand returns the random numbers of one client.
func (e *environment) newRand(class, id int) *rand.Rand {
	return rand.New(rand.NewPCG(e.seed, uint64(class*1000+id)))
}

// errorf records a violation that a client has seen.
func (e *environment) errorf(format string, args ...any) { e.errors.Add(fmt.Sprintf(format, args...)) }

// newEndpoints returns endpoints of the server and of the replica, with connections of their own.
func (e *environment) newEndpoints(agent string) (endpoints []harness.Endpoint) {
	for _, srv := range e.servers() {
		config := srv.RESTConfig()
		transport := &throttledTransport{environment: e, userAgent: agent, next: &http.Transport{DialContext: config.Dial}}
		e.transports = append(e.transports, transport)
		endpoints = append(endpoints, harness.Endpoint{URL: srv.URL(), Client: &http.Client{Transport: transport, Timeout: requestTimeout}})
	}
	return endpoints
}

func (e *environment) servers() []*fakeapi.Server { return []*fakeapi.Server{e.srv, e.replica.Server} }

// requestTimeout is the virtual time after which a request fails.
const requestTimeout = 5 * time.Minute

// throttledTransport sends the requests of a client. Each write acquires a write slot, so that all
// writers can be paused, and waits if the recorder is far behind, so that it does not lose events.
type throttledTransport struct {
	*environment
	userAgent string
	next      *http.Transport
}

func (t *throttledTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", t.userAgent)
	if req.Method == http.MethodGet {
		return t.next.RoundTrip(req)
	}
	waitUntil(time.Second, func() bool { return t.revision()-t.roundStart.Load() <= t.recorder.count()+historyLimit/4 })
	t.writeSlots <- struct{}{}
	defer func() { <-t.writeSlots }()
	t.sent.Add(req.Method + " " + t.resourceOf(req.URL.Path))
	return t.next.RoundTrip(req)
}

// resourceOf returns the plural of the resource in a path.
func (e *environment) resourceOf(path string) string {
	for _, k := range e.kinds {
		if strings.Contains(path, "/"+k.Plural) {
			return k.Plural
		}
	}
	return ""
}

func (e *environment) revision() uint64 {
	rev, err := strconv.ParseUint(e.srv.ResourceVersion(), 10, 64)
	require.NoError(e.t, err)
	return rev
}

// listAll returns all objects by kind.
func (e *environment) listAll() map[string][]harness.Object {
	all := map[string][]harness.Object{}
	for _, k := range e.kinds {
		list, code, err := e.faultFree[0].List(e.t, harness.Encoding{Kind: k, MediaType: harness.JSON}, k.CollectionPath(""), nil)
		require.NoError(e.t, err)
		require.Equal(e.t, http.StatusOK, code)
		all[k.Name] = list.Objects
	}
	return all
}
