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
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// allShapes is a schema with everything that the shortcut tells apart.
const allShapes = `{"type":"object","properties":{
  "spec":{"type":"object","properties":{
    "text":{"type":"string"},"size":{"type":"integer"},"part":{"type":"number"},"on":{"type":"boolean"},
    "port":{"x-kubernetes-int-or-string":true},
    "labels":{"type":"object","additionalProperties":{"type":"string"}},
    "deep":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}},
    "whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}}},
    "plain":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
    "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "numbers":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object","required":["port","protocol"],
      "properties":{"port":{"type":"integer"},"protocol":{"type":"string"},"name":{"type":"string"},"more":{"type":"object","properties":{"x":{"type":"string"}}}}}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "half":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}},
    "template":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}
  }},
  "status":{"type":"object","properties":{"phase":{"type":"string"},"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],
    "items":{"type":"object","required":["type"],"properties":{"type":{"type":"string"},"status":{"type":"string"}}}}}}
}}`

// The shortcut must give what the library gives for custom resources, too, whatever
// happens to an object.
func TestCustomShortcutIsTheLongWay(t *testing.T) {
	for name, s := range map[string]*structuralschema.Structural{
		"shapes": structuralOf(t, allShapes),
		"gear":   structural(t, recording(t).Gear),
		"widget": structural(t, recording(t).Widget),
		"loose":  structural(t, recording(t).Loose),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &customHistory{generator: generator{t: t}, schema: s}
			var err error
			h.main, err = NewCRDFieldManager(widgetKind, s, "", WithStatusSubresource())
			require.NoError(t, err)
			h.status, err = NewCRDFieldManager(widgetKind, s, "status", WithStatusSubresource())
			require.NoError(t, err)
			for seed := range int64(seeds(true)) * 4 {
				h.rng = rand.New(rand.NewSource(seed))
				h.strange, h.wide, h.wrong = 8*int(seed%3), seed%2 == 0, int(seed%4)
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			t.Logf("%d of %d writes by the shortcut", h.short, h.writes)
			if !testing.Short() {
				require.GreaterOrEqual(t, h.short*100, h.writes*40)
			}
		})
	}
}

// customHistory is the life of one random custom resource.
type customHistory struct {
	generator
	schema        *structuralschema.Structural
	main, status  *FieldManager
	wrong         int // how many values in a thousand do not suit the schema
	writes, short int
}

func (h *customHistory) run(t *testing.T, seed int64) {
	h.t = t
	doc := h.document()
	live := h.write(h.main, nil, doc, fmt.Sprintf("seed %d, create", seed))
	for step := range 14 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		what := fmt.Sprintf("seed %d, step %d", seed, step)
		switch h.rng.Intn(8) {
		case 0:
			live = h.apply(live, doc)
		case 1: // nothing
			live = h.write(h.main, live, doc, what)
		case 2, 3:
			doc = h.change(doc)
			live = h.write(h.status, live, doc, what)
		default:
			doc = h.change(doc)
			live = h.write(h.main, live, doc, what)
		}
	}
}

// change gives a document that is mostly as before. Now and then it is of no kind.
func (h *customHistory) change(doc map[string]any) map[string]any {
	doc = h.mix(doc, h.document()).(map[string]any)
	if h.rng.Intn(30) > 0 {
		doc["apiVersion"], doc["kind"] = widgetKind.GroupVersion().String(), widgetKind.Kind
	}
	metadata, ok := doc["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		doc["metadata"] = metadata
	}
	metadata["name"], metadata["namespace"] = "w", "default"
	return doc
}

// document makes a random one.
func (h *customHistory) document() map[string]any {
	doc, _ := h.value(h.schema).(map[string]any)
	if doc == nil {
		doc = map[string]any{}
	}
	metadata := map[string]any{"name": "w", "namespace": "default"}
	if h.rng.Intn(2) == 0 {
		metadata["labels"] = map[string]any{h.word(): h.word(), "app": h.word()}
	}
	if h.rng.Intn(4) == 0 {
		metadata["finalizers"] = []any{"a/b", h.word()}
	}
	if h.rng.Intn(4) == 0 {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": h.word(), "name": h.word(), "uid": h.word()}}
	}
	doc["metadata"], doc["apiVersion"], doc["kind"] = metadata, widgetKind.GroupVersion().String(), widgetKind.Kind
	return doc
}

// value makes a value for a schema, and sometimes one that does not suit it.
func (h *customHistory) value(s *structuralschema.Structural) any {
	if h.rng.Intn(1000) < h.wrong {
		return []any{nil, "x", int64(3), true, map[string]any{"a": nil}, []any{"y"}, 1.5}[h.rng.Intn(7)]
	}
	if s.XIntOrString {
		return []any{h.word(), int64(h.rng.Intn(9))}[h.rng.Intn(2)]
	}
	switch s.Type {
	case "string":
		return h.word()
	case "integer":
		return int64(h.rng.Intn(120) - 5)
	case "number":
		return []any{float64(h.rng.Intn(3)), int64(h.rng.Intn(3)), 0.5}[h.rng.Intn(3)]
	case "boolean":
		return h.rng.Intn(2) == 0
	case "array":
		list := []any{}
		for range h.rng.Intn(4) {
			list = append(list, h.value(s.Items))
		}
		return list
	}
	return h.fields(s)
}

func (h *customHistory) fields(s *structuralschema.Structural) map[string]any {
	m := map[string]any{}
	required := map[string]bool{}
	if s.ValueValidation != nil {
		for _, name := range s.ValueValidation.Required {
			required[name] = true
		}
	}
	names := map[string]any{}
	for name := range s.Properties {
		names[name] = nil
	}
	for _, name := range inOrder(names) {
		if property := s.Properties[name]; required[name] || h.rng.Intn(3) > 0 {
			m[name] = h.value(&property)
		}
	}
	for range h.rng.Intn(3) {
		switch {
		case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			m[h.word()] = h.value(s.AdditionalProperties.Structural)
		case s.XPreserveUnknownFields:
			m["u"+h.word()] = h.anything(3)
		}
	}
	return m
}

// anything is a value that no schema describes.
func (h *customHistory) anything(depth int) any {
	kind := h.rng.Intn(6)
	switch {
	case kind == 0 && depth > 0:
		return []any{h.anything(depth - 1), h.anything(depth - 1)}
	case kind < 3 && depth > 0:
		return map[string]any{h.word(): h.anything(depth - 1), "k": h.anything(depth - 1)}
	case kind == 3:
		return int64(h.rng.Intn(5))
	case kind == 4:
		return h.rng.Intn(2) == 0
	}
	return h.word()
}

// write makes one plain write both ways and compares all of the objects.
func (h *customHistory) write(tracker *FieldManager, live *unstructured.Unstructured, doc map[string]any, what string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(doc)}
	uid(obj)
	before := runtime.Object(nil)
	if live != nil {
		before = live
		switch h.rng.Intn(12) {
		case 0: // a client that drops them
			obj.Object["metadata"].(map[string]any)["managedFields"] = []any{}
		case 1, 2, 3, 4, 5: // a client that sends back what it read
			if list, ok := live.Object["metadata"].(map[string]any)["managedFields"]; ok {
				obj.Object["metadata"].(map[string]any)["managedFields"] = runtime.DeepCopyJSONValue(list)
			}
		}
	}
	manager := []string{"kubectl", "controller", "m", "", "é", "a", "b", "c", "d", "e", "f", "g", "h"}[h.rng.Intn(13)]
	want := stored(h.t, tracker.longWay(clone(before), clone(obj), manager))

	h.writes++
	liveCopy, objCopy := clone(before), clone(obj).(*unstructured.Unstructured)
	entries, ok := tracker.customShortcut(liveCopy, objCopy, manager)
	require.Empty(h.t, cmp.Diff(before, liveCopy), what)
	require.Empty(h.t, cmp.Diff(obj, objCopy), what)
	if !ok {
		return want
	}
	h.short++
	setEntries(objCopy, entries)
	if diff := cmp.Diff(want, stored(h.t, objCopy)); diff != "" {
		h.t.Fatalf("%s, %q: the long way gives -, the shortcut +\n%s\nbefore %s\nafter %s", what, manager, diff, text(before), text(obj))
	}
	require.Empty(h.t, cmp.Diff(before, liveCopy), what)
	return want
}

// stored is an object as it comes out of the store.
func stored(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	u := raw(t, string(body))
	uid(u)
	return u
}

// apply makes an apply in between, for entries of that kind.
func (h *customHistory) apply(live *unstructured.Unstructured, doc map[string]any) *unstructured.Unstructured {
	patch := map[string]any{"apiVersion": doc["apiVersion"], "kind": doc["kind"], "metadata": map[string]any{"name": "w", "namespace": "default"}}
	if spec, ok := doc["spec"].(map[string]any); ok {
		patch["spec"] = (&history{generator: h.generator}).part(spec)
	}
	body, err := json.Marshal(patch)
	require.NoError(h.t, err)
	obj, _, err := h.main.Apply(clone(live), body, "applier", true, "")
	if err != nil { // random lists have doubles
		return live
	}
	return stored(h.t, obj)
}
