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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// apply merges a configuration with and without the fast path. It fails the test if the results
// differ. The result is nil if the apply is an error.
func (d *differentialTest) apply(t *testing.T, m *FieldManager, live runtime.Object, config map[string]any, manager string, force bool, step string) runtime.Object {
	want, err := withoutFastPath(m).ApplyConfig(clone(live), runtime.DeepCopyJSON(config), manager, force)
	if err == nil {
		d.writes++
	}
	liveCopy, configCopy := clone(live), runtime.DeepCopyJSON(config)
	obj, ok := m.applyFast(liveCopy, configCopy, manager, force)
	require.Empty(t, cmp.Diff(live, liveCopy), "%s: the apply changed the stored object", step)
	if u, isCustom := obj.(*unstructured.Unstructured); isCustom {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields") // shared with live
		overwrite(u.Object)
		require.Empty(t, cmp.Diff(live, liveCopy), "%s: the object shares parts with the stored object", step)
	}
	require.Empty(t, cmp.Diff(config, configCopy), "%s: the apply changed the configuration, or the object shares parts with it", step)
	if !ok {
		return want
	}
	d.fast++
	require.NoError(t, err, step)
	got, err := m.ApplyConfig(liveCopy, configCopy, manager, force)
	require.NoError(t, err, step)
	if diff := cmp.Diff(indented(want), indented(got)); diff != "" {
		t.Fatalf("%s, manager %q, subresource %q, force %t: library -, fast path +\n%s\nbefore %s\nconfiguration %s",
			step, manager, m.subresource, force, diff, encodeJSON(live), indented(config))
	}
	if d.continueFast {
		return got
	}
	return want
}

// overwrite replaces all values in decoded JSON.
func overwrite(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			overwrite(value)
			v[name] = "overwritten"
		}
	case []any:
		for i, value := range v {
			overwrite(value)
			v[i] = "overwritten"
		}
	}
}

// indented returns a value as indented JSON.
func indented(v any) string {
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// TestFastApplyEqualsLibrary compares applies with the fast path and with the library in random
// histories of objects of all built-in types.
func TestFastApplyEqualsLibrary(t *testing.T) {
	for _, res := range builtin.Table().Stored() {
		if resource.IsCRDResource(res) { // not supported
			continue
		}
		name := fmt.Sprintf("%s.%s.%s", res.Plural, res.Version, res.Group)
		_, thorough := minFastPercent[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &applyHistory{builtinHistory: builtinHistory{generator: generator{t: t, res: res}}}
			for seed := range int64(seeds(thorough)) {
				h.rng = rand.New(rand.NewSource(seed))
				h.escaped, h.manyWords, h.continueFast = 3*int(seed%2), seed%4 > 0, seed%4 > 1
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			h.requireFast(t, minFastPercent[name]*3/4) // some applies remove what was applied before
		})
	}
}

// The applies that most controllers send do not need the library.
func TestCommonAppliesAreFast(t *testing.T) {
	for _, apply := range commonApplies() {
		m, live := apply.start(t)
		_, ok := m.applyFast(live, decodeJSON(t, apply.config).Object, "m", true)
		require.True(t, ok, apply.name)
	}
}

// applyHistory is the history of an object of a built-in type that several managers apply.
type applyHistory struct {
	builtinHistory
	configs configurations
}

func (h *applyHistory) run(t *testing.T, seed int64) {
	h.t, h.configs = t, configurations{&h.generator, map[string]map[string]any{}}
	doc := h.document()
	var live runtime.Object
	if h.rng.Intn(3) == 0 {
		live = h.write(nil, doc, "", fmt.Sprintf("seed %d, create", seed))
	}
	for i := range 20 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		step := fmt.Sprintf("seed %d, step %d", seed, i)
		doc = h.mix(doc, h.document()).(map[string]any)
		if live != nil && h.rng.Intn(8) == 0 {
			live = h.write(live, doc, "", step)
			continue
		}
		subresource := ""
		if live != nil && h.res.Status && h.rng.Intn(4) == 0 {
			subresource = "status"
		}
		m, err := BuiltinFieldManager(h.servedResource(), subresource)
		require.NoError(t, err)
		manager, config := h.configs.next(doc)
		config["apiVersion"], config["kind"] = m.kind.ToAPIVersionAndKind()
		if obj := h.differentialTest.apply(t, m, live, config, manager, h.rng.Intn(4) > 0, step); obj != nil {
			h.configs.applied[manager], live = config, obj
			setUID(live)
		}
	}
}

// TestFastApplyEqualsLibraryForCRDs compares applies with the fast path and with the library in
// random histories of custom resources.
func TestFastApplyEqualsLibraryForCRDs(t *testing.T) {
	setDefaults := func(u *unstructured.Unstructured) {
		if spec, ok := u.Object["spec"].(map[string]any); ok && spec["size"] == nil {
			spec["size"] = int64(1)
		}
	}
	for name, s := range fastPathSchemas(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &crdApplyHistory{crdHistory: crdHistory{generator: generator{t: t}, schema: s}}
			var err error
			h.main, err = NewCRDFieldManager(widgetKind, s, "", WithStatusSubresource(), WithDefaults(setDefaults))
			require.NoError(t, err)
			h.status, err = NewCRDFieldManager(widgetKind, s, "status", WithStatusSubresource(), WithDefaults(setDefaults))
			require.NoError(t, err)
			for seed := range int64(seeds(true)) * 4 {
				h.rng = rand.New(rand.NewSource(seed))
				h.escaped, h.manyWords, h.continueFast = 3*int(seed%2), seed%4 > 0, seed%8 > 3
				h.invalid = []int{0, 1, 0, 2, 0, 30}[seed%6]
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			h.requireFast(t, 40)
		})
	}
}

// crdApplyHistory is the history of a custom resource that several managers apply.
type crdApplyHistory struct {
	crdHistory
	configs configurations
}

func (h *crdApplyHistory) run(t *testing.T, seed int64) {
	h.t, h.configs = t, configurations{&h.generator, map[string]map[string]any{}}
	var live *unstructured.Unstructured
	doc := h.document()
	for i := range 20 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		step := fmt.Sprintf("seed %d, step %d", seed, i)
		doc = h.variant(doc)
		if h.rng.Intn(8) == 0 {
			live = h.write(h.main, live, doc, step)
			continue
		}
		m, before := h.main, runtime.Object(nil)
		if live != nil {
			before = live
			if h.rng.Intn(4) == 0 {
				m = h.status
			}
		}
		manager, config := h.configs.next(doc)
		config["apiVersion"], config["kind"] = widgetKind.ToAPIVersionAndKind()
		if obj := h.differentialTest.apply(t, m, before, config, manager, h.rng.Intn(4) > 0, step); obj != nil {
			h.configs.applied[manager], live = config, encodeAndDecode(t, obj)
		}
	}
}

// configurations generates configurations that several managers apply.
type configurations struct {
	*generator
	// applied has the last configuration of each manager.
	applied map[string]map[string]any
}

// next returns a manager and the configuration that it applies next: often the same as before or
// more fields, sometimes other fields.
func (c configurations) next(doc map[string]any) (manager string, config map[string]any) {
	manager = []string{"a", "b", "c", "kubectl", ""}[c.rng.Intn(5)]
	before := c.applied[manager]
	switch n := c.rng.Intn(8); {
	case before == nil || n == 7:
		config = c.part(doc)
	case n < 2:
		config = runtime.DeepCopyJSON(before)
	case n < 5:
		config = c.extend(before, doc).(map[string]any)
	default:
		config = c.mix(before, doc).(map[string]any)
	}
	if c.rng.Intn(10) == 0 {
		c.addNulls(config)
	}
	metadata, ok := config["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		config["metadata"] = metadata
	}
	metadata["name"] = "w"
	return manager, config
}

// addNulls sets some members of objects to null.
func (c configurations) addNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if c.rng.Intn(20) == 0 {
				v[key] = nil
			}
			c.addNulls(v[key])
		}
	case []any:
		for _, item := range v {
			c.addNulls(item)
		}
	}
}

// extend returns a with some values of b, and all fields that a has.
func (c configurations) extend(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		out := map[string]any{}
		for _, key := range sortedKeys(a) {
			out[key] = c.extend(a[key], other[key])
		}
		for _, key := range sortedKeys(other) {
			if _, both := a[key]; !both && c.rng.Intn(6) == 0 {
				out[key] = copyJSON(other[key])
			}
		}
		return out
	case []any:
		other, _ := b.([]any)
		out := copyJSON(a).([]any)
		for _, item := range other {
			if c.rng.Intn(6) == 0 {
				out = append(out, copyJSON(item))
			}
		}
		if c.rng.Intn(6) == 0 {
			c.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	if b != nil && c.rng.Intn(6) == 0 {
		return copyJSON(b)
	}
	return a
}
