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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// withoutFastPath returns a copy of m that computes all updates with the library.
func withoutFastPath(m *FieldManager) *FieldManager {
	out := *m
	out.fast = nil
	return &out
}

// differentialTest compares updates with and without the fast path in random histories of objects.
type differentialTest struct {
	writes, fast int
	// continueFast is whether a history continues with the results of the fast path. If not, it
	// continues with those of the library.
	continueFast bool
}

// update updates the managedFields of obj with and without the fast path. It fails the test if the
// results differ.
func (d *differentialTest) update(t *testing.T, m *FieldManager, live, obj runtime.Object, manager, step string) runtime.Object {
	want := withoutFastPath(m).Update(clone(live), clone(obj), manager)
	d.writes++
	liveCopy, got := clone(live), clone(obj)
	ok := m.fast.Update(liveCopy, got, manager)
	require.Empty(t, cmp.Diff(live, liveCopy), "%s: the update changed the stored object", step)
	if !ok {
		require.Empty(t, cmp.Diff(obj, got), "%s: the update is not supported but changed the object", step)
		return want
	}
	d.fast++
	if diff := cmp.Diff(resultJSON(want), resultJSON(got)); diff != "" {
		t.Fatalf("%s, manager %q, subresource %q: library -, fast path +\n%s\nbefore %s\nafter %s",
			step, manager, m.subresource, diff, encodeJSON(live), encodeJSON(obj))
	}
	if d.continueFast {
		return got
	}
	return want
}

// requireFast fails the test if less than a percentage of the updates used the fast path.
func (d *differentialTest) requireFast(t *testing.T, percent int) {
	t.Logf("%d of %d updates used the fast path", d.fast, d.writes)
	if !testing.Short() { // a few seeds are not representative
		require.GreaterOrEqual(t, d.fast*100, d.writes*percent)
	}
}

// randomManager returns the name of a manager.
func randomManager(rng *rand.Rand) string {
	names := []string{"kubectl", "controller", "m", "", "é", "a", "b", "c", "d", "e", "f", "g", "h"}
	return names[rng.Intn(len(names))]
}

// TestFastPathEqualsLibrary compares the fast path with the library in random histories of objects
// of all built-in types: creates, updates of the resource and its status by several managers,
// applies.
func TestFastPathEqualsLibrary(t *testing.T) {
	for _, res := range builtin.Table().Stored() {
		if resource.IsCRDResource(res) { // not supported
			continue
		}
		name := fmt.Sprintf("%s.%s.%s", res.Plural, res.Version, res.Group)
		percent, thorough := minFastPercent[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &builtinHistory{generator: generator{t: t, res: res}}
			for seed := range int64(seeds(thorough)) {
				h.rng = rand.New(rand.NewSource(seed))
				h.escaped, h.manyWords, h.continueFast = 8*int(seed%3), seed%2 == 0, seed%4 > 1
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			h.requireFast(t, percent)
		})
	}
}

// minFastPercent has the minimum percentages of updates that use the fast path. These types are
// tested with more seeds than the others.
var minFastPercent = map[string]int{
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

func seeds(thorough bool) int {
	switch {
	case testing.Short():
		return 4
	case thorough:
		return 16
	}
	return 8
}

// builtinHistory is the history of a random object of a built-in type.
type builtinHistory struct {
	generator
	differentialTest
}

func (h *builtinHistory) run(t *testing.T, seed int64) {
	h.t = t
	doc := h.document()
	live := h.write(nil, doc, "", fmt.Sprintf("seed %d, create", seed))
	for i := range 14 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		other := h.document()
		step := fmt.Sprintf("seed %d, step %d", seed, i)
		if h.rng.Intn(6) == 0 {
			live = h.apply(live, h.part(doc))
			continue
		}
		doc = h.mix(doc, other).(map[string]any)
		subresource := []string{"", "", "status"}[h.rng.Intn(3)]
		if !h.res.Status {
			subresource = ""
		}
		live = h.write(live, doc, subresource, step)
	}
}

func (h *builtinHistory) write(live runtime.Object, doc map[string]any, subresource, step string) runtime.Object {
	obj, err := h.res.Convert(h.object(doc), h.res.StorageVersion)
	require.NoError(h.t, err)
	setUID(obj)
	if live != nil && h.rng.Intn(2) == 0 { // a client that sends the entries back
		accessor(obj).SetManagedFields(accessor(live).GetManagedFields())
	}
	m, err := BuiltinFieldManager(h.servedResource(), subresource)
	require.NoError(h.t, err)
	return h.update(h.t, m, live, obj, randomManager(h.rng), step)
}

// servedResource returns the resource, or sometimes another version of it.
func (h *builtinHistory) servedResource() *resource.Resource {
	if h.rng.Intn(8) == 0 {
		for _, res := range builtin.Table().All() {
			if res.StorageResource == h.res.StorageResource && res != h.res {
				return res
			}
		}
	}
	return h.res
}

// apply applies doc, so that the object has an Apply entry.
func (h *builtinHistory) apply(live runtime.Object, doc map[string]any) runtime.Object {
	doc["apiVersion"], doc["kind"] = h.res.GroupVersionKind().ToAPIVersionAndKind()
	patch, err := json.Marshal(doc)
	require.NoError(h.t, err)
	m, err := BuiltinFieldManager(h.res, "")
	require.NoError(h.t, err)
	obj, _, err := m.Apply(clone(live), NewPatch(patch), "applier", true, "")
	if err != nil { // random lists have duplicates
		return live
	}
	setUID(obj)
	return obj
}

// part returns some fields of a document.
func (g *generator) part(doc map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range sortedKeys(doc) {
		switch below, isObject := doc[key].(map[string]any); {
		case isObject && g.rng.Intn(2) == 0:
			out[key] = g.part(below)
		case g.rng.Intn(2) == 0:
			out[key] = copyJSON(doc[key])
		}
	}
	return out
}

// TestFastPathWithResentEntries checks that the fast path supports an object with the entries of
// the stored one, whose times have been encoded.
func TestFastPathWithResentEntries(t *testing.T) {
	res := builtin.Table().Lookup("", "v1", "configmaps")
	m, err := BuiltinFieldManager(res, "")
	require.NoError(t, err)
	live := m.Update(nil, decode(t, res, configMap("1")), "author")
	setUID(live)
	resent := decode(t, res, encodeJSON(live))
	require.NotEqual(t, accessor(live).GetManagedFields(), accessor(resent).GetManagedFields(), "the times have the same precision")

	obj := clone(resent)
	require.True(t, m.fast.Update(live, obj, "other"))
	require.Len(t, accessor(obj).GetManagedFields(), 1)

	changed := accessor(resent).GetManagedFields()
	changed[0].Time = nil
	accessor(resent).SetManagedFields(changed)
	require.False(t, m.fast.Update(live, resent, "other"), "the client has changed the entries")
}

// resultJSON returns the managedFields of an object, and all of a custom resource, as clients
// receive them.
func resultJSON(obj runtime.Object) string {
	var result any = accessor(obj).GetManagedFields()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		result = u.Object
	}
	body, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func encodeJSON(obj runtime.Object) string {
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

// setUID makes obj an object that exists.
func setUID(obj runtime.Object) { accessor(obj).SetUID("u") }
