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

// Workload has the settings and the history of clients that use the same objects.
type Workload struct {
	T            *testing.T
	Kind         harness.Kind
	Namespace    string
	Verbs        []string // each as often as it is to be chosen
	LosesReplies bool     // the responses to some requests are lost
	Errorf       func(format string, args ...any)
	Clock        *atomic.Int64 // incremented by each call and return
	// ClassifyFault reports whether a status code is from a fault that discards the response (lost)
	// or the request (undone). It is nil if there are no faults.
	ClassifyFault  func(code int) (lost, undone bool)
	NewestRevision *atomic.Uint64 // the newest revision that a client has received

	mu      sync.Mutex
	History []porcupine.Operation
}

// Kinds returns kinds of which the last one's DELETE returns a Status, and that of the others the
// object.
func Kinds() []harness.Kind {
	return append(harness.KindsReturningDeleted(), harness.Kind{Name: "ConfigMap", Plural: "configmaps", New: func(namespace, name string, labels map[string]string) runtime.Object {
		return &corev1.ConfigMap{ObjectMeta: harness.NewObjectMeta(namespace, name, labels)}
	}})
}

// newWorkload returns a Workload in the namespace default with the verbs that all kinds support.
func newWorkload(t *testing.T, k harness.Kind) *Workload {
	return &Workload{
		T: t, Kind: k, Namespace: "default", Errorf: t.Errorf, Clock: new(atomic.Int64), NewestRevision: new(atomic.Uint64),
		Verbs: []string{"create", "get", "list", "put", "put", "put", "merge", "json", "apply", "delete"},
	}
}

// Keys returns the names of the objects.
func (w *Workload) Keys() []string { return []string{"a", "b", "c"} }

// run lets clients send n random requests each.
func (w *Workload) run(seed uint64, clients, n int, endpoint harness.Endpoint) {
	var all sync.WaitGroup
	for i := range clients {
		c := NewClient(w, i, rand.New(rand.NewPCG(seed, uint64(i))), endpoint)
		all.Go(func() {
			for range n {
				c.DoRandom()
			}
		})
	}
	all.Wait()
}

// record adds operations to the history.
func (w *Workload) record(ops ...porcupine.Operation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.History = append(w.History, ops...)
	for _, op := range ops {
		if resp := op.Output.(Response); !op.Input.(Request).DryRun {
			StoreMax(w.NewestRevision, max(resp.ResourceVersion, resp.ListRevision))
		}
	}
}

// StoreMax sets n to the larger of its value and to.
func StoreMax(n *atomic.Uint64, to uint64) {
	for now := n.Load(); now < to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}

// Client sends random requests, one at a time, based on the last responses it received.
type Client struct {
	*Workload
	id, serial int
	Rand       *rand.Rand
	endpoints  []harness.Endpoint // each request uses a random one
	last       map[string]Response
}

// NewClient returns a client with its own random numbers. Its id is part of the content that it
// writes.
func NewClient(w *Workload, id int, rng *rand.Rand, endpoints ...harness.Endpoint) *Client {
	return &Client{Workload: w, id: id, Rand: rng, endpoints: endpoints, last: map[string]Response{}}
}

// DoRandom sends a random request.
func (c *Client) DoRandom() {
	verb := c.Verbs[c.Rand.IntN(len(c.Verbs))]
	switch verb {
	case "deletecollection":
		c.deleteCollection()
		return
	case "listpages":
		c.listPages()
		return
	}
	req := Request{Key: c.Keys()[c.Rand.IntN(3)], Verb: verb}
	last := c.last[req.Key]
	if !req.IsRead() {
		c.serial++
		req.DryRun = c.Rand.IntN(4) == 0
	}
	c.fill(&req, last)
	c.execute(req)
}

// fill sets the content of a write and its preconditions.
func (c *Client) fill(req *Request, last Response) {
	fresh, mine := c.newContent()
	switch req.Verb {
	case "create":
		req.Set = fresh
	case "put":
		c.fillPut(req, last, fresh)
	case "merge", "strategic":
		if req.Set = mine; c.Rand.IntN(2) == 0 {
			req.Set = fresh
		}
		if c.Rand.IntN(3) == 0 {
			req.ResourceVersion = last.ResourceVersion
		}
	case "json": // the test can only pass right after a read
		c.execute(Request{Key: req.Key, Verb: "get"})
		last = c.last[req.Key]
		req.Set = map[string]string{"serial": fresh["serial"]}
		req.TestSerial = cmp.Or(DecodeContent(cmp.Or(last.Content, "{}"))["serial"], "unknown")
	case "apply": // each client always applies the same fields, so that none is removed
		req.Set = c.applyContent(fresh, mine)
	case "status", "scale":
		req.Set = map[string]string{"/" + map[string]string{"status": "status", "scale": "replicas"}[req.Verb]: c.uniqueNumber()}
		if c.Rand.IntN(2) == 0 && last.ResourceVersion != 0 {
			req.ResourceVersion, req.UID, req.Put, req.Base = last.ResourceVersion, last.UID, true, last.Content
		}
	case "delete":
		req.ResourceVersion, req.UID = []uint64{0, last.ResourceVersion, 0}[c.Rand.IntN(3)], []string{"", last.UID, ""}[c.Rand.IntN(3)]
	}
}

// uniqueNumber returns a number that no other client sets.
func (c *Client) uniqueNumber() string { return strconv.Itoa(c.id*100_000 + c.serial) }

// newContent returns content for a whole object, and content of fields that only this client sets.
func (c *Client) newContent() (fresh, mine map[string]string) {
	serial := fmt.Sprint(c.id, "-", c.serial)
	fresh, mine = map[string]string{"serial": serial}, map[string]string{fmt.Sprint("by-", c.id): serial}
	if c.Kind.Scalable {
		fresh["/replicas"] = c.uniqueNumber()
	}
	return fresh, mine
}

// applyContent returns the fields that the client applies. Only clients with even ids apply the
// serial.
func (c *Client) applyContent(fresh, mine map[string]string) map[string]string {
	if c.id%2 == 0 {
		mine["serial"] = fresh["serial"]
	}
	if c.Kind.Scalable {
		mine["/replicas"] = fresh["/replicas"]
	}
	return mine
}

// fillPut updates the last known state, overwrites any state, or changes nothing. The latter is
// left out if responses are lost, since it is unknown whether such a write had a revision.
func (c *Client) fillPut(req *Request, last Response, fresh map[string]string) {
	req.Set = fresh
	if !c.Kind.Custom && c.Rand.IntN(3) == 0 {
		return
	}
	if last.ResourceVersion == 0 {
		if c.Kind.Custom { // custom resources are updated with a resourceVersion only
			req.Verb = "merge"
		}
		return
	}
	req.ResourceVersion, req.UID = last.ResourceVersion, last.UID
	if c.Rand.IntN(4) == 0 && !c.LosesReplies {
		req.Set, req.Noop = DecodeContent(last.Content), true
	}
}

// execute sends a request and records the response.
func (c *Client) execute(req Request) {
	called := c.Clock.Add(1)
	resp, done := c.send(req)
	if !done {
		return
	}
	c.record(c.newOperation(req, resp, called))
	if resp.ResourceVersion != 0 && !req.DryRun && !req.isScale() {
		c.last[req.Key] = resp
	}
}

// newOperation returns an operation that returns now.
func (c *Client) newOperation(req Request, resp Response, called int64) porcupine.Operation {
	op := porcupine.Operation{ClientId: c.id, Input: req, Output: resp, Call: called, Return: c.Clock.Add(1)}
	if resp.Code == 0 {
		op.Return = Pending
	}
	return op
}

// Pending is the return time of operations whose response was lost. They take effect at any time
// after the call, or never.
const Pending = 1 << 62
