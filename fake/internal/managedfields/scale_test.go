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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// TestFastScaleEqualsLibrary compares the managedFields of Scales, and those of the objects after
// writes to them, with and without the fast path.
func TestFastScaleEqualsLibrary(t *testing.T) {
	t.Run("Deployment", func(t *testing.T) {
		res := builtin.Table().Lookup("apps", "v1", "deployments")
		scales, err := BuiltinFieldManager(res, "scale")
		require.NoError(t, err)
		compareScales(t, 60, func(t *testing.T, seed int64) *scaleHistory {
			o := newObject(t, "apps", "deployments")
			return &scaleHistory{
				main: o.manager(""), scales: scales, path: []string{"spec", "replicas"},
				read:    func(body string) runtime.Object { return decode(t, res, body) },
				handler: NewScaleHandler(res, o.manager("")),
			}
		})
	})
	t.Run("custom resource", func(t *testing.T) {
		s := parseSchema(t, `{"type":"object","properties":{"spec":{"type":"object","properties":{
			"deep":{"type":"object","properties":{"wanted":{"type":"integer"}}},"x":{"type":"string"}}}}}`)
		main, err := NewCRDFieldManager(widgetKind, s, "")
		require.NoError(t, err)
		scales, err := NewCRDFieldManager(widgetKind, s, "scale")
		require.NoError(t, err)
		compareScales(t, 70, func(t *testing.T, seed int64) *scaleHistory {
			return &scaleHistory{
				main: main, scales: scales, path: []string{"spec", "deep", "wanted"},
				read:    func(body string) runtime.Object { return decodeJSON(t, body) },
				handler: NewCRDScaleHandler(main, map[string]string{"v1": ".spec.deep.wanted", "v0": ""}),
			}
		})
	})
}

// scaleHistory is the history of a random object that is also written by its Scale.
type scaleHistory struct {
	main, scales *FieldManager
	path         []string // of the replicas
	read         func(body string) runtime.Object
	handler      ScaleHandler
	differentialTest

	rng      *rand.Rand
	replicas int32
	live     runtime.Object
}

// compareScales runs random histories. percent is how many of the conversions the fast path
// supports at least.
func compareScales(t *testing.T, percent int, newHistory func(*testing.T, int64) *scaleHistory) {
	var all differentialTest
	for seed := range int64(60) {
		synctest.Test(t, func(t *testing.T) {
			h := newHistory(t, seed)
			h.rng, h.continueFast = rand.New(rand.NewSource(seed)), seed%2 == 0
			for i := range 20 {
				time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
				h.run(t, fmt.Sprintf("seed %d, step %d", seed, i))
			}
			all.writes, all.fast = all.writes+h.writes, all.fast+h.fast
		})
	}
	all.requireFast(t, percent)
}

// run writes the object, or its Scale.
func (h *scaleHistory) run(t *testing.T, step string) {
	if h.rng.Intn(4) > 0 {
		h.replicas = int32(h.rng.Intn(4))
	}
	manager := []string{"a", "b", "c"}[h.rng.Intn(3)]
	switch kind := h.rng.Intn(5); {
	case h.live == nil || kind == 0:
		h.live = h.main.Update(h.live, h.read(h.document(true)), manager)
	case kind == 1:
		obj, _, err := h.main.Apply(h.live, NewPatch([]byte(h.document(h.rng.Intn(2) == 0))), manager, true, "")
		require.NoError(t, err, step)
		h.live = obj
	default:
		h.scale(t, manager, step)
	}
	h.live = h.read(encodeJSON(h.live)) // as it is stored
}

// document returns an object in JSON, with replicas or without.
func (h *scaleHistory) document(hasReplicas bool) string {
	fields := map[string]any{}
	if hasReplicas {
		var value any = h.replicas
		for i := len(h.path) - 1; i > 0; i-- {
			value = map[string]any{h.path[i]: value}
		}
		fields = value.(map[string]any)
	}
	doc := map[string]any{"metadata": map[string]any{"name": "a", "uid": "u", "labels": map[string]any{"l": fmt.Sprint(h.rng.Intn(3))}}, h.path[0]: fields}
	doc["apiVersion"], doc["kind"] = h.main.kind.ToAPIVersionAndKind()
	body, _ := json.Marshal(doc)
	return string(body)
}

// scale writes the Scale of the object.
func (h *scaleHistory) scale(t *testing.T, manager, step string) {
	if h.rng.Intn(4) == 0 { // as in a fixture
		entries := accessor(h.live).GetManagedFields()
		h.rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		accessor(h.live).SetManagedFields(entries)
	}
	library, stored := h.handler.library(h.live), clone(h.live)
	before := newScale()
	before.Name, before.UID = "a", "u"
	before.Spec.Replicas = h.replicas - int32(h.rng.Intn(2))
	var err error
	before.ManagedFields, err = library.ToSubresource()
	require.NoError(t, err, step)
	fast, ok := h.main.fast.ToScale(h.live, h.path)
	if h.compare(ok) {
		require.Empty(t, cmp.Diff(indented(before.ManagedFields), indented(fast)), step)
	}

	after := before.DeepCopy()
	after.Spec.Replicas = h.replicas
	if h.rng.Intn(8) == 0 {
		after.Labels = map[string]string{"l": "1"}
	}
	var written runtime.Object
	if _, isCustom := h.live.(*unstructured.Unstructured); !isCustom && h.rng.Intn(3) == 0 {
		written = h.apply(t, h.scales, before, map[string]any{
			"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"replicas": int64(h.replicas)},
		}, manager, true, step)
	} else {
		written = h.update(t, h.scales, before, after, manager, step)
	}
	scale := accessor(written).GetManagedFields()
	if h.rng.Intn(3) == 0 && len(scale) > 0 { // as by admission
		scale[0].Operation = metav1.ManagedFieldsOperationApply
	}
	want, err := library.ToParent(scale)
	require.NoError(t, err, step)
	require.Equal(t, stored, h.live, step)
	obj := clone(h.live)
	accessor(h.live).SetManagedFields(want)
	if !h.compare(h.main.fast.FromScale(obj, scale, h.path)) {
		require.Equal(t, stored, obj, step)
		return
	}
	require.Empty(t, cmp.Diff(encodeJSON(h.live), encodeJSON(obj)), step)
	if h.continueFast {
		h.live = obj
	}
}

// compare counts a conversion, and reports whether the fast path supports it.
func (h *scaleHistory) compare(isFast bool) bool {
	h.writes++
	if isFast {
		h.fast++
	}
	return isFast
}
