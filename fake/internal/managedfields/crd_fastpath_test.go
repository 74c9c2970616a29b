package managedfields

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// allKindsSchema is a schema with all kinds of fields that the fast path distinguishes.
const allKindsSchema = `{"type":"object","properties":{
  "spec":{"type":"object","properties":{
    "text":{"type":"string"},"size":{"type":"integer"},"part":{"type":"number"},"on":{"type":"boolean"},
    "port":{"x-kubernetes-int-or-string":true},
    "labels":{"type":"object","additionalProperties":{"type":"string"}},
    "deep":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}},
    "atomic":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}}},
    "list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
    "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "numbers":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object","required":["port","protocol"],
      "properties":{"port":{"type":"integer"},"protocol":{"type":"string"},"name":{"type":"string"},"more":{"type":"object","properties":{"x":{"type":"string"}}}}}},
    "defaulted":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","protocol"],"items":{"type":"object","required":["name"],
      "properties":{"name":{"type":"string"},"protocol":{"type":"string","default":"TCP"},"value":{"type":"integer"}}}},
    "owners":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["uid"],"items":{"type":"object","x-kubernetes-map-type":"atomic","required":["uid"],
      "properties":{"uid":{"type":"string"},"name":{"type":"string"}}}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "half":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}},
    "template":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}
  }},
  "status":{"type":"object","properties":{"phase":{"type":"string"},"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],
    "items":{"type":"object","required":["type"],"properties":{"type":{"type":"string"},"status":{"type":"string"}}}}}}
}}`

// fastPathSchemas returns the schemas of the custom resources in the tests of the fast path.
func fastPathSchemas(t *testing.T) map[string]*structuralschema.Structural {
	return map[string]*structuralschema.Structural{
		"all-kinds": parseSchema(t, allKindsSchema),
		"gear":      newStructural(t, recordedCRDs(t).Gear),
		"widget":    newStructural(t, recordedCRDs(t).Widget),
		"untyped":   newStructural(t, recordedCRDs(t).Untyped),
	}
}

// TestFastPathEqualsLibraryForCRDs compares the fast path with the library in random histories of
// custom resources.
func TestFastPathEqualsLibraryForCRDs(t *testing.T) {
	for name, s := range fastPathSchemas(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &crdHistory{generator: generator{t: t}, schema: s}
			var err error
			h.main, err = NewCRDFieldManager(widgetKind, s, "", WithStatusSubresource())
			require.NoError(t, err)
			h.status, err = NewCRDFieldManager(widgetKind, s, "status", WithStatusSubresource())
			require.NoError(t, err)
			for seed := range int64(seeds(true)) * 4 {
				h.rng = rand.New(rand.NewSource(seed))
				h.escaped, h.manyWords, h.continueFast = 8*int(seed%3), seed%2 == 0, seed%8 > 3
				h.invalid = []int{0, 1, 2, 3, 0, 30}[seed%6]
				synctest.Test(t, func(t *testing.T) { h.run(t, seed) })
			}
			h.requireFast(t, 40)
		})
	}
}

// crdHistory is the history of a random custom resource.
type crdHistory struct {
	generator
	differentialTest
	schema       *structuralschema.Structural
	main, status *FieldManager
	// invalid is how many values in a thousand do not conform to the schema.
	invalid int
}

func (h *crdHistory) run(t *testing.T, seed int64) {
	h.t = t
	doc := h.document()
	live := h.write(h.main, nil, doc, fmt.Sprintf("seed %d, create", seed))
	for i := range 14 {
		time.Sleep(time.Duration(h.rng.Intn(3)) * 500 * time.Millisecond) // virtual
		step := fmt.Sprintf("seed %d, step %d", seed, i)
		switch h.rng.Intn(8) {
		case 0:
			live = h.apply(live, doc)
		case 1: // without a change
			live = h.write(h.main, live, doc, step)
		case 2, 3:
			doc = h.variant(doc)
			live = h.write(h.status, live, doc, step)
		default:
			doc = h.variant(doc)
			live = h.write(h.main, live, doc, step)
		}
	}
}

// variant returns a document that is mostly like doc. Sometimes it has no kind.
func (h *crdHistory) variant(doc map[string]any) map[string]any {
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

// document returns a random document.
func (h *crdHistory) document() map[string]any {
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

// value returns a random value for a schema. Sometimes it does not conform.
func (h *crdHistory) value(s *structuralschema.Structural) any {
	if h.rng.Intn(1000) < h.invalid {
		return []any{nil, nil, "x", int64(3), true, map[string]any{"a": nil}, []any{"y"}, 1.5}[h.rng.Intn(8)]
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

func (h *crdHistory) fields(s *structuralschema.Structural) map[string]any {
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
	for _, name := range sortedKeys(names) {
		if property := s.Properties[name]; required[name] || h.rng.Intn(3) > 0 {
			m[name] = h.value(&property)
		}
	}
	for range h.rng.Intn(3) {
		switch {
		case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
			m[h.word()] = h.value(s.AdditionalProperties.Structural)
		case s.XPreserveUnknownFields:
			m["u"+h.word()] = h.untyped(3)
		}
	}
	return m
}

// untyped returns a random value without a schema.
func (h *crdHistory) untyped(depth int) any {
	kind := h.rng.Intn(6)
	switch {
	case kind == 0 && depth > 0:
		return []any{h.untyped(depth - 1), h.untyped(depth - 1)}
	case kind < 3 && depth > 0:
		return map[string]any{h.word(): h.untyped(depth - 1), "k": h.untyped(depth - 1)}
	case kind == 3:
		return int64(h.rng.Intn(5))
	case kind == 4:
		return h.rng.Intn(2) == 0
	}
	return h.word()
}

func (h *crdHistory) write(m *FieldManager, live *unstructured.Unstructured, doc map[string]any, step string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(doc)}
	setUID(obj)
	before := runtime.Object(nil)
	if live != nil {
		before = live
		switch h.rng.Intn(12) {
		case 0: // a client that removes the entries
			obj.Object["metadata"].(map[string]any)["managedFields"] = []any{}
		case 1, 2, 3, 4, 5: // a client that sends the entries back
			if list, ok := live.Object["metadata"].(map[string]any)["managedFields"]; ok {
				obj.Object["metadata"].(map[string]any)["managedFields"] = runtime.DeepCopyJSONValue(list)
			}
		}
	}
	return encodeAndDecode(h.t, h.update(h.t, m, before, obj, randomManager(h.rng), step))
}

// encodeAndDecode returns obj as it is read from storage.
func encodeAndDecode(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	u := decodeJSON(t, string(body))
	setUID(u)
	return u
}

// apply applies some fields of doc, so that the object has an Apply entry.
func (h *crdHistory) apply(live *unstructured.Unstructured, doc map[string]any) *unstructured.Unstructured {
	patch := map[string]any{"apiVersion": doc["apiVersion"], "kind": doc["kind"], "metadata": map[string]any{"name": "w", "namespace": "default"}}
	if spec, ok := doc["spec"].(map[string]any); ok {
		patch["spec"] = h.part(spec)
	}
	body, err := json.Marshal(patch)
	require.NoError(h.t, err)
	obj, _, err := h.main.Apply(clone(live), NewPatch(body), "applier", true, "")
	if err != nil { // random lists have duplicates
		return live
	}
	return encodeAndDecode(h.t, obj)
}
