package fakeapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// arena is where clients meet, and what they did there.
type arena struct {
	t      *testing.T
	url    string
	http   *http.Client
	kind   kind
	losing bool // replies get lost

	clock   atomic.Int64
	mu      sync.Mutex
	history []porcupine.Operation
}

// arenaKinds are answered with the object at its end, the last with a Status.
func arenaKinds() []kind {
	return append(kinds(), kind{"ConfigMap", "configmaps", func(namespace, name string, labels map[string]string) runtime.Object {
		return &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		}
	}})
}

// fight lets clients do n random things each.
func (r *arena) fight(seed uint64, clients, n int) {
	var all sync.WaitGroup
	for i := range clients {
		c := &client{arena: r, id: i, rng: rand.New(rand.NewPCG(seed, uint64(i))), known: map[string]tell{}}
		all.Go(func() {
			for range n {
				c.act()
			}
		})
	}
	all.Wait()
}

// client does one thing after the other, with what it was told last.
type client struct {
	*arena
	id, serial int
	rng        *rand.Rand
	known      map[string]tell
}

// act does something at random.
func (c *client) act() {
	q := question{key: []string{"a", "b", "c"}[c.rng.IntN(3)]}
	q.verb = []string{"create", "get", "list", "put", "put", "put", "merge", "json", "apply", "delete"}[c.rng.IntN(10)]
	last := c.known[q.key]
	if !q.reads() {
		c.serial++
		q.dry = c.rng.IntN(4) == 0
	}
	serial := fmt.Sprint(c.id, "-", c.serial)
	fresh, mine := map[string]string{"serial": serial}, map[string]string{fmt.Sprint("by-", c.id): serial}
	switch q.verb {
	case "create":
		q.set = fresh
	case "put":
		c.put(&q, last, fresh)
	case "merge":
		if q.set = mine; c.rng.IntN(2) == 0 {
			q.set = fresh
		}
		if c.rng.IntN(3) == 0 {
			q.rv = last.rv
		}
	case "json": // the test holds only for those who have just looked
		c.do(question{key: q.key, verb: "get"})
		last = c.known[q.key]
		q.set, q.test = fresh, cmp.Or(annotations(cmp.Or(last.content, "{}"))["serial"], "of nobody")
	case "apply": // one client, one set of fields: none is ever given up
		if q.set = mine; c.id%2 == 0 {
			q.set = map[string]string{"serial": serial, fmt.Sprint("by-", c.id): serial}
		}
	case "delete":
		q.rv, q.uid = []uint64{0, last.rv, 0}[c.rng.IntN(3)], []string{"", last.uid, ""}[c.rng.IntN(3)]
	}
	c.do(q)
}

// put overwrites what the client knows, or whatever is there, or changes nothing
// (not where replies get lost: nobody could say whether that took a revision).
func (c *client) put(q *question, last tell, fresh map[string]string) {
	q.set = fresh
	if c.rng.IntN(3) == 0 || last.rv == 0 {
		return
	}
	q.rv, q.uid = last.rv, last.uid
	if c.rng.IntN(4) == 0 && !c.losing {
		q.set, q.same = annotations(last.content), true
	}
}

// do asks, and records what was told.
func (c *client) do(q question) tell {
	called := c.clock.Add(1)
	a := c.send(q)
	op := porcupine.Operation{ClientId: c.id, Input: q, Output: a, Call: called, Return: c.clock.Add(1)}
	if a.code == 0 {
		op.Return = 1 << 62 // at any time from now on, or never
	}
	c.mu.Lock()
	c.history = append(c.history, op)
	c.mu.Unlock()
	if a.rv != 0 && !q.dry {
		c.known[q.key] = a
	}
	return a
}

// send makes the request of q. A connection that breaks is a reply that was lost.
func (c *client) send(q question) tell {
	method, path, media, body := c.request(q)
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", media)
	r.Header.Set("User-Agent", fmt.Sprint("client-", c.id))
	resp, err := c.http.Do(r)
	if err != nil {
		if !c.losing {
			c.t.Error(err)
		}
		return tell{}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Error(err)
	}
	return c.read(q, resp.StatusCode, answer)
}

func (c *client) request(q question) (method, path, media string, body []byte) {
	collection := "/api/v1/namespaces/default/" + c.kind.plural
	item, dry, media := collection+"/"+q.key, "", jsonMedia
	if q.dry {
		dry = "&dryRun=All"
	}
	switch q.verb {
	case "get":
		return "GET", item, media, nil
	case "list":
		return "GET", collection + "?fieldSelector=metadata.name%3D" + q.key, media, nil
	case "create":
		return "POST", collection + "?" + dry, media, c.body(q)
	case "put":
		return "PUT", item + "?" + dry, media, c.body(q)
	case "merge":
		return "PATCH", item + "?" + dry, "application/merge-patch+json", c.body(q)
	case "apply":
		return "PATCH", item + fmt.Sprintf("?fieldManager=applier-%d&force=true", c.id) + dry, "application/apply-patch+yaml", c.body(q)
	case "json":
		patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/annotations/serial","value":%q},
			{"op":"replace","path":"/metadata/annotations/serial","value":%q}]`, q.test, q.set["serial"])
		return "PATCH", item + "?" + dry, "application/json-patch+json", []byte(patch)
	}
	return "DELETE", item, media, c.body(q)
}

// body is the object of a request, or the part of it that matters.
func (c *client) body(q question) []byte {
	revision := ""
	if q.rv != 0 {
		revision = strconv.FormatUint(q.rv, 10)
	}
	identity := map[string]string{}
	if q.uid != "" {
		identity["uid"] = q.uid
	}
	if revision != "" {
		identity["resourceVersion"] = revision
	}
	meta := map[string]any{"name": q.key, "annotations": q.set}
	for name, value := range identity {
		meta[name] = value
	}
	var body any = map[string]any{"apiVersion": "v1", "kind": c.kind.name, "metadata": meta}
	switch q.verb {
	case "create", "put": // all of it, with what the type must have
		body = c.whole(meta)
	case "delete": // options in a body make those of the query void (DL-17)
		options := map[string]any{"preconditions": identity}
		if q.dry {
			options["dryRun"] = []string{metav1.DryRunAll}
		}
		body = options
	}
	b, err := json.Marshal(body)
	require.NoError(c.t, err)
	return b
}

func (c *client) whole(meta map[string]any) any {
	b, err := json.Marshal(c.kind.object("default", "", nil))
	require.NoError(c.t, err)
	var obj map[string]any
	require.NoError(c.t, json.Unmarshal(b, &obj))
	obj["metadata"] = meta
	return obj
}

// read takes from an answer what the model knows of.
func (c *client) read(q question, code int, answer []byte) tell {
	var obj struct {
		Kind, Status string
		Reason       metav1.StatusReason
		Details      struct{ UID string }
		Metadata     metav1.ObjectMeta
		Items        []struct{ Metadata metav1.ObjectMeta }
	}
	if err := json.Unmarshal(answer, &obj); err != nil {
		c.t.Errorf("%+v: %d %s: %v", q, code, answer, err)
	}
	a := tell{code: code, reason: obj.Reason, uid: obj.Details.UID}
	switch {
	case q.verb == "list" && code == http.StatusOK:
		a.at = c.revision(obj.Metadata)
		if len(obj.Items) > 1 {
			c.t.Errorf("%d objects of one name", len(obj.Items))
		}
		for _, item := range obj.Items {
			c.see(&a, item.Metadata)
		}
	case obj.Kind == c.kind.name:
		c.see(&a, obj.Metadata)
	}
	return a
}

func (c *client) see(a *tell, m metav1.ObjectMeta) {
	a.object, a.uid, a.content = true, string(m.UID), text(m.Annotations)
	if m.ResourceVersion != "" { // what a dry run creates has none
		a.rv = c.revision(m)
	}
}

func (c *client) revision(m metav1.ObjectMeta) uint64 {
	rev, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	if err != nil {
		c.t.Errorf("resourceVersion: %v", err)
	}
	return rev
}

// stamped checks what holds across keys: no two writes share a revision, none is
// older than what anybody had been told before it began, and no uid is used
// twice. (What the revision of one key must be is in the model.)
func stamped(history []porcupine.Operation) (complaints []string) {
	history = slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	revisions, uids := map[uint64]bool{}, map[string]bool{}
	for i, op := range history {
		q, a := op.Input.(question), op.Output.(tell)
		if a.code == 0 || a.code >= http.StatusBadRequest || q.dry || q.verb == "get" {
			continue
		}
		rev := a.rv
		if q.verb == "list" {
			rev = a.at
		}
		for _, before := range history[:i] {
			if b := before.Output.(tell); before.Return < op.Call && rev != 0 && !q.same && !before.Input.(question).dry && rev < max(b.rv, b.at) {
				complaints = append(complaints, fmt.Sprintf("at %d, after %d was told: %+v -> %+v", rev, max(b.rv, b.at), q, a))
			}
		}
		if q.reads() || q.same || rev == 0 {
			continue
		}
		if revisions[rev] {
			complaints = append(complaints, fmt.Sprintf("a revision of two writes: %+v -> %+v", q, a))
		}
		if revisions[rev] = true; a.code != http.StatusCreated {
			continue
		}
		if uids[a.uid] {
			complaints = append(complaints, fmt.Sprintf("a uid of two objects: %+v -> %+v", q, a))
		}
		uids[a.uid] = true
	}
	return complaints
}
