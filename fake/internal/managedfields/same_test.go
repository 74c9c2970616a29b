package managedfields

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// The shortcut must give what the library gives, for any history of an object:
// creates, updates of the resource and its status by several managers, applies.
func TestShortcutIsTheLongWay(t *testing.T) {
	for _, res := range builtin.Table().Stored() {
		if resource.IsCRDResource(res) { // there is no shortcut
			continue
		}
		name := fmt.Sprintf("%s.%s.%s", res.Plural, res.Version, res.Group)
		least, thorough := leastShort()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &history{generator: generator{t: t, res: res}}
			for seed := range int64(seeds(thorough)) {
				h.rng = rand.New(rand.NewSource(seed))
				h.strange, h.wide = 8*int(seed%3), seed%2 == 0
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			t.Logf("%d of %d writes by the shortcut", h.short, h.writes)
			if !testing.Short() { // few seeds say little
				require.GreaterOrEqual(t, h.short*100, h.writes*least)
			}
		})
	}
}

// leastShort is the least part of the writes, in a hundred, that the shortcut has
// to take, lest the test compares the library with itself. What is listed is
// tested with more seeds.
func leastShort() map[string]int {
	return map[string]int{
		"configmaps.v1.":                          75,
		"secrets.v1.":                             75,
		"services.v1.":                            75,
		"pods.v1.":                                40,
		"nodes.v1.":                               75,
		"events.v1.":                              20,
		"namespaces.v1.":                          75,
		"deployments.v1.apps":                     40,
		"statefulsets.v1.apps":                    40,
		"leases.v1.coordination.k8s.io":           75,
		"roles.v1.rbac.authorization.k8s.io":      75,
		"ingresses.v1.networking.k8s.io":          75,
		"horizontalpodautoscalers.v2.autoscaling": 20,
		"horizontalpodautoscalers.v1.autoscaling": 20,
		"events.v1.events.k8s.io":                 20,
		"certificatesigningrequests.v1.certificates.k8s.io": 75,
		"flowschemas.v1.flowcontrol.apiserver.k8s.io":       75,
		"resourceclaims.v1.resource.k8s.io":                 40,
		"endpointslices.v1.discovery.k8s.io":                75,
	}
}

func seeds(thorough bool) int {
	switch {
	case testing.Short():
		return 4
	case thorough:
		return 16
	}
	return 8
}

// history is the life of one random object.
type history struct {
	generator
	writes, short int
}

func (h *history) run(t *testing.T, seed int64) {
	h.t = t
	doc := h.document()
	live := h.write(nil, doc, "", fmt.Sprintf("seed %d, create", seed))
	for step := range 14 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		other := h.document()
		what := fmt.Sprintf("seed %d, step %d", seed, step)
		if h.rng.Intn(6) == 0 {
			live = h.apply(live, h.part(doc), what)
			continue
		}
		doc = h.mix(doc, other).(map[string]any)
		subresource := []string{"", "", "status"}[h.rng.Intn(3)]
		if !h.res.Status {
			subresource = ""
		}
		live = h.write(live, doc, subresource, what)
	}
}

// write makes one plain write both ways and compares.
func (h *history) write(live runtime.Object, doc map[string]any, subresource, what string) runtime.Object {
	obj, err := h.res.Convert(h.object(doc), h.res.StorageVersion)
	require.NoError(h.t, err)
	uid(obj)
	if live != nil && h.rng.Intn(2) == 0 { // a client that sends back what it read
		accessor(obj).SetManagedFields(accessor(live).GetManagedFields())
	}
	tracker, err := BuiltinFieldManager(h.row(), subresource)
	require.NoError(h.t, err)
	manager := []string{"kubectl", "controller", "m", "", "é", "a", "b", "c", "d", "e", "f", "g", "h"}[h.rng.Intn(13)]
	want := tracker.longWay(clone(live), clone(obj), manager)

	h.writes++
	liveCopy, objCopy := clone(live), clone(obj)
	got, ok := tracker.shortcut(liveCopy, objCopy, manager)
	require.Empty(h.t, cmp.Diff(live, liveCopy), what)
	require.Empty(h.t, cmp.Diff(obj, objCopy), what)
	if !ok {
		return want
	}
	h.short++
	if diff := cmp.Diff(shown(accessor(want).GetManagedFields()), shown(got)); diff != "" {
		h.t.Fatalf("%s, %q at %q: the long way gives -, the shortcut +\n%s\nbefore %s\nafter %s",
			what, manager, subresource, diff, text(live), text(obj))
	}
	return want
}

// row gives the resource in its own version, or now and then in another that
// shows the same objects.
func (h *history) row() *resource.Resource {
	if h.rng.Intn(8) == 0 {
		for _, row := range builtin.Table().All() {
			if row.StorageResource == h.res.StorageResource && row != h.res {
				return row
			}
		}
	}
	return h.res
}

// apply makes an apply in between, for entries of that kind.
func (h *history) apply(live runtime.Object, doc map[string]any, what string) runtime.Object {
	doc["apiVersion"], doc["kind"] = h.res.GroupVersionKind().ToAPIVersionAndKind()
	patch, err := json.Marshal(doc)
	require.NoError(h.t, err)
	tracker, err := BuiltinFieldManager(h.res, "")
	require.NoError(h.t, err)
	obj, _, err := tracker.Apply(clone(live), patch, "applier", true, "")
	if err != nil { // random lists have doubles
		return live
	}
	uid(obj)
	return obj
}

// part gives some of a document.
func (h *history) part(doc map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range inOrder(doc) {
		switch below, isMap := doc[key].(map[string]any); {
		case isMap && h.rng.Intn(2) == 0:
			out[key] = h.part(below)
		case h.rng.Intn(2) == 0:
			out[key] = copied(doc[key])
		}
	}
	return out
}

// shown is what a client sees of entries.
func shown(entries []metav1.ManagedFieldsEntry) string {
	body, err := json.MarshalIndent(entries, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func text(obj runtime.Object) string {
	body, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func clone(obj runtime.Object) runtime.Object {
	if obj == nil {
		return nil
	}
	return obj.DeepCopyObject()
}

func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	return m
}

// uid makes an object one that exists.
func uid(obj runtime.Object) { accessor(obj).SetUID("u") }
