package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objectState tracks the objects that steps write. The zero value has none.
type objectState struct {
	objects map[Ref]*unstructured.Unstructured // nil if the object was deleted
}

// refOf returns the Ref of an object, with the group in Kind so that it is unambiguous.
func refOf(o *unstructured.Unstructured) Ref {
	kind := o.GroupVersionKind()
	name := strings.ToLower(kind.Kind)
	if kind.Group != "" {
		name += "." + kind.Group
	}
	return Ref{name, o.GetName(), o.GetNamespace()}
}

// apply applies a step. It returns an error if the step is not possible.
func (state *objectState) apply(s Step) error {
	switch s := s.(type) {
	case eventually:
		return state.apply(s.step)
	case deleteStep:
		if state.objects[s.ref] == nil {
			return fmt.Errorf("scenario: %s: the object does not exist", s)
		}
		state.objects[s.ref] = nil
	case apply:
		objects, err := decodeManifest(s.manifest)
		if err != nil {
			return fmt.Errorf("scenario: manifest %s: %w", s.name, err)
		}
		if state.objects == nil {
			state.objects = map[Ref]*unstructured.Unstructured{}
		}
		for _, o := range objects {
			state.objects[refOf(o)] = o
		}
	}
	return nil
}

// refs returns the existing and the deleted objects, sorted.
func (state *objectState) refs() []Ref {
	return slices.SortedFunc(maps.Keys(state.objects), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// existing returns the existing objects, sorted.
func (state *objectState) existing() (objects []*unstructured.Unstructured) {
	for _, ref := range state.refs() {
		if o := state.objects[ref]; o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// expectations returns steps that expect that each object exists or is absent, and that a ConfigMap
// has its data.
func (state *objectState) expectations() (steps []Step) {
	for _, ref := range state.refs() {
		o := state.objects[ref]
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
