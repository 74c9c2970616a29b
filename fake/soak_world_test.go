package fakeapi_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// How many clients there are of each sort: a hundred, and the informers.
const (
	soakGroups    = 15 // of soakActors each, who share three objects
	soakActors    = 4
	soakOnlookers = 20
	soakSentries  = 20
)

// unharmed is the user agent of those that no fault hits.
const unharmed = "unharmed"

// soak is one server, with a replica, over all the rounds that it lives for.
type soak struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	total *tally
	// outside runs a check where the time is real.
	outside func(func() []string) []string

	srv     *fakeapi.Server
	replica *fakeapi.Replica
	auditor []door // both, where no fault is
	wires   []*gated
	kinds   []kind
	clock   atomic.Int64
	told    atomic.Uint64
	sent    tally         // writes, by method and resource
	gate    chan struct{} // a place for everybody who writes

	groups    []*group
	onlookers []*onlooker
	sentries  []*sentry
	informers []*follower
	scribe    *scribe
	trouble   *mischief
	calm      atomic.Bool // nobody writes, and nothing is broken

	round   int
	ops     int                // that each client does in a round
	since   atomic.Uint64      // the revision at which the round began,
	base    map[string][]thing // and the objects of each kind then
	expired []uint64
	first   holdings
	errors  tally // answers that must not be
}

// group are clients that share an arena, and what was there when the round began.
type group struct {
	*arena
	clients []*client
	begin   map[string]state
}

// newSoak starts a server, a replica, and all who live as long as they do.
func newSoak(t *testing.T, seed uint64, total *tally, outside func(func() []string) []string, opts ...fakeapi.Option) *soak {
	s := &soak{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 5)), total: total, outside: outside, kinds: soakKinds(),
		gate: make(chan struct{}, soakGroups*soakActors), ops: 10,
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(gearCRD), crd))
	fixtures := []runtime.Object{crd}
	for i := range soakGroups {
		fixtures = append(fixtures, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: soakNamespace(i)}})
	}
	opts = append([]fakeapi.Option{
		fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(seed), fakeapi.WithObjects(fixtures...),
		fakeapi.WithHistory(0, soakHistory), fakeapi.WithBookmarkInterval(time.Second),
		fakeapi.WithWatchTimeout(time.Duration(1+s.rng.IntN(20)) * time.Second),
	}, opts...)
	s.srv = fakeapi.Start(t, opts...)
	var err error
	s.replica, err = s.srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	s.auditor = s.doors(unharmed)
	s.since.Store(s.revision())
	s.told.Store(s.since.Load())
	s.base = s.inventory()
	s.trouble = newMischief(s)
	s.scribe = newScribe(s)
	for i := range soakGroups {
		s.groups = append(s.groups, s.newGroup(i))
	}
	for i := range soakOnlookers {
		s.onlookers = append(s.onlookers, newOnlooker(s, i))
	}
	for i := range soakSentries {
		s.sentries = append(s.sentries, newSentry(s, i))
	}
	s.informers = newInformers(s)
	return s
}

// soakHistory is how many changes the server remembers.
const soakHistory = 3000

func soakNamespace(group int) string { return fmt.Sprintf("g%02d", group) }

func (s *soak) newGroup(i int) *group {
	g := &group{begin: map[string]state{}, arena: &arena{
		t: s.t, kind: s.kinds[i%len(s.kinds)], namespace: soakNamespace(i), losing: true, errorf: s.errorf,
		clock: &s.clock, told: &s.told, excuse: excused,
	}}
	g.verbs = soakVerbs(g.kind)
	for _, key := range g.keys() {
		g.begin[key] = nothing(s.since.Load())
	}
	for j := range soakActors {
		id := i*soakActors + j
		g.clients = append(g.clients, newClient(g.arena, id, s.random(10, id), s.doors(fmt.Sprint("client-", id))...))
	}
	return g
}

// random gives the random numbers of one client.
func (s *soak) random(sort, id int) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, uint64(sort*1000+id)))
}

// errorf notes that a client was answered as it must not be.
func (s *soak) errorf(format string, args ...any) { s.errors.add(fmt.Sprintf(format, args...)) }

// doors are the ways to the server and to the replica, with connections of their own.
func (s *soak) doors(agent string) (doors []door) {
	for _, srv := range s.servers() {
		config := srv.RESTConfig()
		g := &gated{soak: s, agent: agent, next: &http.Transport{DialContext: config.Dial}}
		s.wires = append(s.wires, g)
		doors = append(doors, door{srv.URL(), &http.Client{Transport: g, Timeout: soakPatience}})
	}
	return doors
}

func (s *soak) servers() []*fakeapi.Server { return []*fakeapi.Server{s.srv, s.replica.Server} }

// soakPatience is after how long, in virtual time, a request counts as never answered.
const soakPatience = 5 * time.Minute

// gated sends the requests of one client through one door. Whoever writes takes a place at
// the gate, so that all of them can be asked to wait, and nobody gets so far ahead that the
// scribe could miss something.
type gated struct {
	*soak
	agent string
	next  *http.Transport
}

func (g *gated) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", g.agent)
	if r.Method == http.MethodGet {
		return g.next.RoundTrip(r)
	}
	within(time.Second, func() bool { return g.revision()-g.since.Load() <= g.scribe.count()+soakHistory/4 })
	g.gate <- struct{}{}
	defer func() { <-g.gate }()
	g.sent.add(r.Method + " " + g.plural(r.URL.Path))
	return g.next.RoundTrip(r)
}

// plural is the resource that a path is about.
func (s *soak) plural(path string) string {
	for _, k := range s.kinds {
		if strings.Contains(path, "/"+k.plural) {
			return k.plural
		}
	}
	return ""
}

func (s *soak) revision() uint64 {
	rev, err := strconv.ParseUint(s.srv.ResourceVersion(), 10, 64)
	require.NoError(s.t, err)
	return rev
}

// inventory is all that there is of each kind.
func (s *soak) inventory() map[string][]thing {
	all := map[string][]thing{}
	for _, k := range s.kinds {
		list, code, err := s.auditor[0].list(s.t, tongue{k, jsonMedia}, k.collection(""), nil)
		require.NoError(s.t, err)
		require.Equal(s.t, http.StatusOK, code)
		all[k.name] = list.things
	}
	return all
}

// listing is one page, or all, of a list.
type listing struct {
	things []thing
	rev    uint64
	next   string
}

// list reads a collection. What is wrong with an answer is an error; the code is 0 if there
// was none.
func (d door) list(t *testing.T, l tongue, path string, query url.Values) (list listing, code int, err error) {
	code, body, err := d.get(t, l.media, path, query)
	if err != nil {
		return list, 0, nil // a fault has left nothing of it
	}
	if code != http.StatusOK {
		return list, code, nil
	}
	obj, _, err := l.decode(body)
	if err != nil {
		return list, code, err
	}
	m, err := meta.ListAccessor(obj)
	if err != nil {
		return list, code, err
	}
	list.next = m.GetContinue()
	if list.rev, err = strconv.ParseUint(m.GetResourceVersion(), 10, 64); err != nil {
		return list, code, err
	}
	items, err := meta.ExtractList(obj)
	if err != nil {
		return list, code, err
	}
	for _, item := range items {
		o, err := thingOf(item)
		if err != nil {
			return list, code, err
		}
		list.things = append(list.things, o)
	}
	return list, code, nil
}

// get makes a request that reads.
func (d door) get(t *testing.T, media, path string, query url.Values) (code int, body []byte, err error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+path+"?"+query.Encode(), nil)
	require.NoError(t, err)
	r.Header.Set("Accept", media)
	resp, err := d.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}
