package fastpath

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// IsApplied reports whether obj has all values of config, the decoded configuration of an apply,
// and manager owns their fields and no others by applies. Such an apply changes nothing. IsApplied
// changes neither obj nor config. It is false for some objects for which this holds.
func (u *Updater) IsApplied(obj runtime.Object, config map[string]any, manager string) bool {
	if u == nil || u.Default == nil || !u.isConfig(config) {
		return false
	}
	m, err := meta.Accessor(obj)
	a := applier{Updater: u, config: config, manager: manager}
	if err != nil || a.hasLastApplied(m.GetAnnotations()) {
		return false
	}
	owned, ok := a.ownedFields(obj, m)
	if !ok || owned == noFields {
		return false
	}
	applied, ok := a.fieldsIn(obj)
	return ok && applied == owned
}

// ownedFields returns the fields that the manager owns by applies as FieldsV1. ok is false if there
// are none, or if an entry of a custom resource is not supported.
func (a *applier) ownedFields(obj runtime.Object, m metav1.Object) (fields string, ok bool) {
	owner := a.owner()
	if u, isCustom := obj.(*unstructured.Unstructured); isCustom {
		metadata, _ := u.Object["metadata"].(map[string]any)
		entries, _ := metadata["managedFields"].([]any)
		return ownedJSONFields(entries, &owner)
	}
	entries := m.GetManagedFields()
	for i := range entries {
		if equalOwners(&entries[i], &owner) {
			return entries[i].FieldsV1.GetRawString(), true
		}
	}
	return "", false
}

// ownedJSONFields is ownedFields for the entries of a custom resource.
func ownedJSONFields(entries []any, owner *metav1.ManagedFieldsEntry) (fields string, ok bool) {
	for _, entry := range entries {
		s, isSupported := parseOwner(entry)
		if !isSupported {
			return "", false
		}
		if equalOwners(&s.ManagedFieldsEntry, owner) {
			fields, ok = s.rawFields()
		}
	}
	return fields, ok
}

// fieldsIn returns the fields of the configuration as FieldsV1. ok is false if obj does not have
// all of its values.
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
