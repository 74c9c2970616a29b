package linearizability

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// Workload is where clients meet, and what they did there.
type Workload struct {
	T            *testing.T
	Kind         harness.Kind
	Namespace    string
	Verbs        []string // what they do, each as often as it is here
	LosesReplies bool     // replies get lost
	Errorf       func(format string, args ...any)
	Clock        *atomic.Int64
	// excuse tells what an answer means that is a fault's: a reply that was lost, or a
	// request that was not carried out. nil if there are none.
	ClassifyFault  func(code int) (lost, undone bool)
	NewestRevision *atomic.Uint64 // the newest revision that anybody was told of

	mu      sync.Mutex
	History []porcupine.Operation
}

// Kinds are answered with the object at its end, the last with a Status.
func Kinds() []harness.Kind {
	return append(harness.KindsReturningDeleted(), harness.Kind{Name: "ConfigMap", Plural: "configmaps", New: func(namespace, name string, labels map[string]string) runtime.Object {
		return &corev1.ConfigMap{ObjectMeta: harness.NewObjectMeta(namespace, name, labels)}
	}})
}

// newWorkload is one in the namespace default, for the verbs that every kind has.
func newWorkload(t *testing.T, k harness.Kind) *Workload {
	return &Workload{
		T: t, Kind: k, Namespace: "default", Errorf: t.Errorf, Clock: new(atomic.Int64), NewestRevision: new(atomic.Uint64),
		Verbs: []string{"create", "get", "list", "put", "put", "put", "merge", "json", "apply", "delete"},
	}
}

func (r *Workload) Keys() []string { return []string{"a", "b", "c"} }

// run lets clients do n random things each.
func (r *Workload) run(seed uint64, clients, n int, d harness.Endpoint) {
	var all sync.WaitGroup
	for i := range clients {
		c := NewClient(r, i, rand.New(rand.NewPCG(seed, uint64(i))), d)
		all.Go(func() {
			for range n {
				c.DoRandom()
			}
		})
	}
	all.Wait()
}

func (r *Workload) record(ops ...porcupine.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.History = append(r.History, ops...)
	for _, op := range ops {
		if a := op.Output.(Response); !op.Input.(Request).DryRun {
			StoreMax(r.NewestRevision, max(a.ResourceVersion, a.ListRevision))
		}
	}
}

// StoreMax makes a number as large as another.
func StoreMax(n *atomic.Uint64, to uint64) {
	for now := n.Load(); now < to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}

// Client does one thing after the other, with what it was told last.
type Client struct {
	*Workload
	id, serial int
	Rand       *rand.Rand
	endpoints  []harness.Endpoint // it goes through any of them
	last       map[string]Response
}

func NewClient(r *Workload, id int, rng *rand.Rand, doors ...harness.Endpoint) *Client {
	return &Client{Workload: r, id: id, Rand: rng, endpoints: doors, last: map[string]Response{}}
}

// DoRandom does something at random.
func (c *Client) DoRandom() {
	verb := c.Verbs[c.Rand.IntN(len(c.Verbs))]
	switch verb {
	case "sweep":
		c.deleteCollection()
		return
	case "page":
		c.listPages()
		return
	}
	q := Request{Key: c.Keys()[c.Rand.IntN(3)], Verb: verb}
	last := c.last[q.Key]
	if !q.IsRead() {
		c.serial++
		q.DryRun = c.Rand.IntN(4) == 0
	}
	c.fill(&q, last)
	c.execute(q)
}

// fill says what a write is to set, and what it insists on.
func (c *Client) fill(q *Request, last Response) {
	fresh, mine := c.newContent()
	switch q.Verb {
	case "create":
		q.Set = fresh
	case "put":
		c.fillPut(q, last, fresh)
	case "merge", "strategic":
		if q.Set = mine; c.Rand.IntN(2) == 0 {
			q.Set = fresh
		}
		if c.Rand.IntN(3) == 0 {
			q.ResourceVersion = last.ResourceVersion
		}
	case "json": // the test holds only for those who have just looked
		c.execute(Request{Key: q.Key, Verb: "get"})
		last = c.last[q.Key]
		q.Set = map[string]string{"serial": fresh["serial"]}
		q.TestSerial = cmp.Or(DecodeContent(cmp.Or(last.Content, "{}"))["serial"], "of nobody")
	case "apply": // one client, one set of fields: none is ever given up
		q.Set = c.applyContent(fresh, mine)
	case "status", "scale":
		q.Set = map[string]string{"/" + map[string]string{"status": "status", "scale": "replicas"}[q.Verb]: c.uniqueNumber()}
		if c.Rand.IntN(2) == 0 && last.ResourceVersion != 0 {
			q.ResourceVersion, q.UID, q.Put, q.Base = last.ResourceVersion, last.UID, true, last.Content
		}
	case "delete":
		q.ResourceVersion, q.UID = []uint64{0, last.ResourceVersion, 0}[c.Rand.IntN(3)], []string{"", last.UID, ""}[c.Rand.IntN(3)]
	}
}

// uniqueNumber is one that nobody else sets, as a text.
func (c *Client) uniqueNumber() string { return strconv.Itoa(c.id*100_000 + c.serial) }

// newContent is what the whole of an object can be, and mine what is only this client's.
func (c *Client) newContent() (fresh, mine map[string]string) {
	serial := fmt.Sprint(c.id, "-", c.serial)
	fresh, mine = map[string]string{"serial": serial}, map[string]string{fmt.Sprint("by-", c.id): serial}
	if c.Kind.Scalable {
		fresh["/replicas"] = c.uniqueNumber()
	}
	return fresh, mine
}

// applyContent is what a client applies: every other one leaves the serial to others.
func (c *Client) applyContent(fresh, mine map[string]string) map[string]string {
	if c.id%2 == 0 {
		mine["serial"] = fresh["serial"]
	}
	if c.Kind.Scalable {
		mine["/replicas"] = fresh["/replicas"]
	}
	return mine
}

// fillPut overwrites what the client knows, or whatever is there, or changes nothing
// (not where replies get lost: nobody could say whether that took a revision).
func (c *Client) fillPut(q *Request, last Response, fresh map[string]string) {
	q.Set = fresh
	if !c.Kind.Custom && c.Rand.IntN(3) == 0 {
		return
	}
	if last.ResourceVersion == 0 {
		if c.Kind.Custom { // its updates must say of what
			q.Verb = "merge"
		}
		return
	}
	q.ResourceVersion, q.UID = last.ResourceVersion, last.UID
	if c.Rand.IntN(4) == 0 && !c.LosesReplies {
		q.Set, q.Noop = DecodeContent(last.Content), true
	}
}

// execute asks, and records what was told.
func (c *Client) execute(q Request) {
	called := c.Clock.Add(1)
	a, done := c.send(q)
	if !done {
		return
	}
	c.record(c.newOperation(q, a, called))
	if a.ResourceVersion != 0 && !q.DryRun && !q.isScale() {
		c.last[q.Key] = a
	}
}

// newOperation is one that ends now.
func (c *Client) newOperation(q Request, a Response, called int64) porcupine.Operation {
	op := porcupine.Operation{ClientId: c.id, Input: q, Output: a, Call: called, Return: c.Clock.Add(1)}
	if a.Code == 0 {
		op.Return = Pending
	}
	return op
}

// Pending is when what was lost has ended: at any time from when it began, or never.
const Pending = 1 << 62
