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
	_, ok := m.applyFast(liveCopy, configCopy, manager, force)
	require.Empty(t, cmp.Diff(live, liveCopy), "%s: the apply changed the stored object", step)
	if !ok {
		require.Empty(t, cmp.Diff(config, configCopy), "%s: the apply is not supported but changed the configuration", step)
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
			h.requireFast(t, 0)
		})
	}
}

// applyHistory is the history of an object that several managers apply.
type applyHistory struct {
	builtinHistory
	configs map[string]map[string]any
}

func (h *applyHistory) run(t *testing.T, seed int64) {
	h.t, h.configs = t, map[string]map[string]any{}
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
		manager := []string{"a", "b", "c", "kubectl", ""}[h.rng.Intn(5)]
		config := h.nextConfig(manager, doc)
		m, err := BuiltinFieldManager(h.servedResource(), h.subresource(live))
		require.NoError(t, err)
		config["apiVersion"], config["kind"] = m.kind.ToAPIVersionAndKind()
		obj := h.differentialTest.apply(t, m, live, config, manager, h.rng.Intn(4) > 0, step)
		if obj == nil {
			continue
		}
		h.configs[manager] = config
		live = obj
		setUID(live)
	}
}

func (h *applyHistory) subresource(live runtime.Object) string {
	if live != nil && h.res.Status && h.rng.Intn(4) == 0 {
		return "status"
	}
	return ""
}

// nextConfig returns a configuration that a manager applies next: often the same as before or more
// fields, sometimes other fields.
func (h *applyHistory) nextConfig(manager string, doc map[string]any) map[string]any {
	before := h.configs[manager]
	var config map[string]any
	switch n := h.rng.Intn(8); {
	case before == nil || n == 7:
		config = h.part(doc)
	case n < 2:
		config = runtime.DeepCopyJSON(before)
	case n < 5:
		config = h.extend(before, doc).(map[string]any)
	default:
		config = h.mix(before, doc).(map[string]any)
	}
	if h.rng.Intn(10) == 0 {
		h.addNulls(config)
	}
	metadata, ok := config["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		config["metadata"] = metadata
	}
	metadata["name"] = "a"
	return config
}

// addNulls sets some members of objects to null.
func (h *applyHistory) addNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if h.rng.Intn(20) == 0 {
				v[key] = nil
			}
			h.addNulls(v[key])
		}
	case []any:
		for _, item := range v {
			h.addNulls(item)
		}
	}
}

// extend returns a with some values of b, and all fields that a has.
func (h *applyHistory) extend(a, b any) any {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return copyJSON(a)
		}
		out := map[string]any{}
		for _, key := range sortedKeys(a) {
			out[key] = h.extend(a[key], other[key])
		}
		for _, key := range sortedKeys(other) {
			if _, both := a[key]; !both && h.rng.Intn(6) == 0 {
				out[key] = copyJSON(other[key])
			}
		}
		return out
	case []any:
		other, _ := b.([]any)
		out := copyJSON(a).([]any)
		for _, item := range other {
			if h.rng.Intn(6) == 0 {
				out = append(out, copyJSON(item))
			}
		}
		if h.rng.Intn(6) == 0 {
			h.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	if _, isScalar := b.(map[string]any); b != nil && !isScalar && h.rng.Intn(6) == 0 {
		return copyJSON(b)
	}
	return a
}
