package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objectState knows which objects there are after some steps, as far as these wrote
// them. The zero value has none.
type objectState struct {
	objects map[Ref]*unstructured.Unstructured // nil: it was deleted
}

// refOf names an object. The kind is written so that it is found whatever else is
// served.
func refOf(o *unstructured.Unstructured) Ref {
	kind := o.GroupVersionKind()
	name := strings.ToLower(kind.Kind)
	if kind.Group != "" {
		name += "." + kind.Group
	}
	return Ref{name, o.GetName(), o.GetNamespace()}
}

// apply lets a step happen; the error says why it cannot.
func (w *objectState) apply(s Step) error {
	switch s := s.(type) {
	case eventually:
		return w.apply(s.step)
	case deleteStep:
		if w.objects[s.ref] == nil {
			return fmt.Errorf("scenario: %s: there is no such object", s)
		}
		w.objects[s.ref] = nil
	case apply:
		objects, err := decodeManifest(s.manifest)
		if err != nil {
			return fmt.Errorf("scenario: manifest %s: %w", s.name, err)
		}
		if w.objects == nil {
			w.objects = map[Ref]*unstructured.Unstructured{}
		}
		for _, o := range objects {
			w.objects[refOf(o)] = o
		}
	}
	return nil
}

// refs are the objects that are, or were, in a fixed order.
func (w *objectState) refs() []Ref {
	return slices.SortedFunc(maps.Keys(w.objects), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// existing are the objects that there are.
func (w *objectState) existing() (objects []*unstructured.Unstructured) {
	for _, ref := range w.refs() {
		if o := w.objects[ref]; o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// expectations say of each object whether it must be there, and of a ConfigMap
// what is in it.
func (w *objectState) expectations() (steps []Step) {
	for _, ref := range w.refs() {
		o := w.objects[ref]
		if o == nil {
			steps = append(steps, ExpectAbsent(ref))
			continue
		}
		var fields []Field
		if data, ok := o.Object["data"]; ok && ref.Kind == "configmap" {
			fields = append(fields, Field{"data", formatValue(data)})
		}
		steps = append(steps, Expect(ref, fields...))
	}
	return steps
}
