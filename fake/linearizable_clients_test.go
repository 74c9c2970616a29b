package fakeapi_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// arena is where clients meet, and what they did there.
type arena struct {
	t         *testing.T
	kind      kind
	namespace string
	verbs     []string // what they do, each as often as it is here
	losing    bool     // replies get lost
	errorf    func(format string, args ...any)
	clock     *atomic.Int64
	// excuse tells what an answer means that is a fault's: a reply that was lost, or a
	// request that was not carried out. nil if there are none.
	excuse func(code int) (lost, undone bool)
	told   *atomic.Uint64 // the newest revision that anybody was told of

	mu      sync.Mutex
	history []porcupine.Operation
}

// door is one way to a server.
type door struct {
	url  string
	http *http.Client
}

// arenaKinds are answered with the object at its end, the last with a Status.
func arenaKinds() []kind {
	return append(kinds(), kind{name: "ConfigMap", plural: "configmaps", object: func(namespace, name string, labels map[string]string) runtime.Object {
		return &corev1.ConfigMap{ObjectMeta: metaOf(namespace, name, labels)}
	}})
}

// newArena is one in the namespace default, for the verbs that every kind has.
func newArena(t *testing.T, k kind) *arena {
	return &arena{
		t: t, kind: k, namespace: "default", errorf: t.Errorf, clock: new(atomic.Int64), told: new(atomic.Uint64),
		verbs: []string{"create", "get", "list", "put", "put", "put", "merge", "json", "apply", "delete"},
	}
}

func (r *arena) keys() []string { return []string{"a", "b", "c"} }

// fight lets clients do n random things each.
func (r *arena) fight(seed uint64, clients, n int, d door) {
	var all sync.WaitGroup
	for i := range clients {
		c := newClient(r, i, rand.New(rand.NewPCG(seed, uint64(i))), d)
		all.Go(func() {
			for range n {
				c.act()
			}
		})
	}
	all.Wait()
}

func (r *arena) record(ops ...porcupine.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, ops...)
	for _, op := range ops {
		if a := op.Output.(tell); !op.Input.(question).dry {
			raise(r.told, max(a.rv, a.at))
		}
	}
}

// raise makes a number as large as another.
func raise(n *atomic.Uint64, to uint64) {
	for now := n.Load(); now < to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}

// client does one thing after the other, with what it was told last.
type client struct {
	*arena
	id, serial int
	rng        *rand.Rand
	doors      []door // it goes through any of them
	known      map[string]tell
}

func newClient(r *arena, id int, rng *rand.Rand, doors ...door) *client {
	return &client{arena: r, id: id, rng: rng, doors: doors, known: map[string]tell{}}
}

// act does something at random.
func (c *client) act() {
	verb := c.verbs[c.rng.IntN(len(c.verbs))]
	switch verb {
	case "sweep":
		c.sweep()
		return
	case "page":
		c.page()
		return
	}
	q := question{key: c.keys()[c.rng.IntN(3)], verb: verb}
	last := c.known[q.key]
	if !q.reads() {
		c.serial++
		q.dry = c.rng.IntN(4) == 0
	}
	c.fill(&q, last)
	c.do(q)
}

// fill says what a write is to set, and what it insists on.
func (c *client) fill(q *question, last tell) {
	fresh, mine := c.fresh()
	switch q.verb {
	case "create":
		q.set = fresh
	case "put":
		c.put(q, last, fresh)
	case "merge", "strategic":
		if q.set = mine; c.rng.IntN(2) == 0 {
			q.set = fresh
		}
		if c.rng.IntN(3) == 0 {
			q.rv = last.rv
		}
	case "json": // the test holds only for those who have just looked
		c.do(question{key: q.key, verb: "get"})
		last = c.known[q.key]
		q.set = map[string]string{"serial": fresh["serial"]}
		q.test = cmp.Or(annotations(cmp.Or(last.content, "{}"))["serial"], "of nobody")
	case "apply": // one client, one set of fields: none is ever given up
		q.set = c.applied(fresh, mine)
	case "status", "scale":
		q.set = map[string]string{"/" + map[string]string{"status": "status", "scale": "replicas"}[q.verb]: c.number()}
		if c.rng.IntN(2) == 0 && last.rv != 0 {
			q.rv, q.uid, q.put, q.base = last.rv, last.uid, true, last.content
		}
	case "delete":
		q.rv, q.uid = []uint64{0, last.rv, 0}[c.rng.IntN(3)], []string{"", last.uid, ""}[c.rng.IntN(3)]
	}
}

// number is one that nobody else sets, as a text.
func (c *client) number() string { return strconv.Itoa(c.id*100_000 + c.serial) }

// fresh is what the whole of an object can be, and mine what is only this client's.
func (c *client) fresh() (fresh, mine map[string]string) {
	serial := fmt.Sprint(c.id, "-", c.serial)
	fresh, mine = map[string]string{"serial": serial}, map[string]string{fmt.Sprint("by-", c.id): serial}
	if c.kind.scaled {
		fresh["/replicas"] = c.number()
	}
	return fresh, mine
}

// applied is what a client applies: every other one leaves the serial to others.
func (c *client) applied(fresh, mine map[string]string) map[string]string {
	if c.id%2 == 0 {
		mine["serial"] = fresh["serial"]
	}
	if c.kind.scaled {
		mine["/replicas"] = fresh["/replicas"]
	}
	return mine
}

// put overwrites what the client knows, or whatever is there, or changes nothing
// (not where replies get lost: nobody could say whether that took a revision).
func (c *client) put(q *question, last tell, fresh map[string]string) {
	q.set = fresh
	if !c.kind.custom && c.rng.IntN(3) == 0 {
		return
	}
	if last.rv == 0 {
		if c.kind.custom { // its updates must say of what
			q.verb = "merge"
		}
		return
	}
	q.rv, q.uid = last.rv, last.uid
	if c.rng.IntN(4) == 0 && !c.losing {
		q.set, q.same = annotations(last.content), true
	}
}

// do asks, and records what was told.
func (c *client) do(q question) {
	called := c.clock.Add(1)
	a, done := c.send(q)
	if !done {
		return
	}
	c.record(c.operation(q, a, called))
	if a.rv != 0 && !q.dry && !q.ofScale() {
		c.known[q.key] = a
	}
}

// operation is one that ends now.
func (c *client) operation(q question, a tell, called int64) porcupine.Operation {
	op := porcupine.Operation{ClientId: c.id, Input: q, Output: a, Call: called, Return: c.clock.Add(1)}
	if a.code == 0 {
		op.Return = forever
	}
	return op
}

// forever is when what was lost has ended: at any time from when it began, or never.
const forever = 1 << 62

// stamped checks what holds across keys: no two writes share a revision, none is
// older than what anybody had been told before it began, and no uid is used
// twice. (What the revision of one key must be is in the model.)
func stamped(history []porcupine.Operation) (complaints []string) {
	complain := func(what string, op porcupine.Operation) {
		complaints = append(complaints, fmt.Sprintf("%s: %+v -> %+v", what, op.Input, op.Output))
	}
	history = slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	known := make([]uint64, len(history)+1) // the newest revision that the first n replies told of
	revisions, uids := map[uint64]bool{}, map[string]bool{}
	for i, op := range history {
		q, a := op.Input.(question), op.Output.(tell)
		if known[i+1] = known[i]; !q.dry {
			known[i+1] = max(known[i], a.rv, a.at)
		}
		if a.code == 0 || a.code >= http.StatusBadRequest || q.dry || q.verb == "get" || q.verb == "getscale" {
			continue
		}
		rev := a.rv
		if q.verb == "list" {
			rev = a.at
		}
		before, _ := slices.BinarySearchFunc(history[:i], op.Call, func(o porcupine.Operation, call int64) int { return cmp.Compare(o.Return, call) })
		if told := known[before]; rev != 0 && !q.same && rev < told {
			complain(fmt.Sprintf("at %d, after %d was told", rev, told), op)
		}
		if q.reads() || q.same || rev == 0 {
			continue
		}
		if revisions[rev] {
			complain("a revision of two writes", op)
		}
		if revisions[rev] = true; a.code != http.StatusCreated {
			continue
		}
		if uids[a.uid] {
			complain("a uid of two objects", op)
		}
		uids[a.uid] = true
	}
	return complaints
}
