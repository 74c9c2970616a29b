package fastpath

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// IsApplied reports whether obj has all values of config, the decoded configuration of an apply, and
// manager owns their fields and no others by applies. Such an apply changes nothing. IsApplied changes
// neither obj nor config. It is false for some objects for which this holds.
func (u *Updater) IsApplied(obj runtime.Object, config map[string]any, manager string) bool {
	if u == nil || !u.isConfig(config) {
		return false
	}
	a := applier{Updater: u, config: config, manager: manager}
	sets, annotations, ok := ownersOf(obj)
	if !ok || a.hasLastApplied(annotations) {
		return false
	}
	applied, ok := a.fieldsIn(obj)
	owner := a.owner()
	for i := range sets {
		if equalOwners(&sets[i].ManagedFieldsEntry, &owner) {
			return ok && sets[i].fields == applied && applied != noFields
		}
	}
	return false
}

// ownersOf returns the entries of managedFields and the annotations of an object.
func ownersOf(obj runtime.Object) (sets []managerSet, annotations map[string]string, ok bool) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, false
	}
	u, isCustom := obj.(*unstructured.Unstructured)
	if !isCustom {
		sets, ok = setsOf(m.GetManagedFields())
		return sets, m.GetAnnotations(), ok
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	stored, _ := metadata["managedFields"].([]any)
	sets, ok = jsonSetsOf(stored)
	return sets, m.GetAnnotations(), ok
}

// fieldsIn returns the fields of the configuration as FieldsV1. ok is false if obj does not have all of
// its values.
func (a *applier) fieldsIn(obj runtime.Object) (applied string, ok bool) {
	nodes := a.arenas.get()
	defer a.arenas.put(nodes)
	var result application
	if u, isCustom := obj.(*unstructured.Unstructured); isCustom {
		m := newMerger[any](jsonTarget{}, nodes)
		m.readOnly = true
		result, ok = m.apply(a.writable, u.Object, a.config)
	} else {
		versioned, err := a.Converter.ConvertToVersion(obj, a.Kind.GroupVersion())
		if err != nil {
			return "", false
		}
		m := newMerger[reflect.Value](typedTarget{}, nodes)
		m.readOnly = true
		result, ok = m.apply(a.writable, reflect.ValueOf(versioned), a.config)
	}
	return result.applied, ok
}
