package fastpath

import (
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// scaleFields is the set of the replicas field of a Scale.
const scaleFields = `{"f:spec":{"f:replicas":{}}}`

// ToScale returns the managedFields of the Scale of obj, if its entries are supported: those of the
// managers that own the replicas field of obj, which is at a path of field names.
func (u *Updater) ToScale(obj runtime.Object, replicas []string) (scale []metav1.ManagedFieldsEntry, ok bool) {
	if u == nil {
		return nil, false
	}
	nodes := u.arenas.get()
	defer u.arenas.put(nodes)
	field := fieldSet(replicas)
	sets, ok := setsOfObject(obj)
	if !ok || !u.parseSets(sets, field, nodes) {
		return nil, false
	}
	owners := sets[:0]
	for _, s := range sets {
		if nodes.hasAny(s.set, field) {
			s.APIVersion = autoscalingv1.SchemeGroupVersion.String()
			s.fields, s.set, s.changed = scaleFields, nil, true
			owners = append(owners, s)
		}
	}
	slices.SortFunc(owners, compareEntries)
	return entriesOf(owners, nodes), true
}

// FromScale changes the managedFields of obj, which are those before a write that made scale the
// managedFields of its Scale, if both are supported. It reports whether they are. A manager that is
// no longer in scale loses the replicas field of obj. One that is in it by an Update gets an entry
// with this field only, and without a time.
func (u *Updater) FromScale(obj runtime.Object, scale []metav1.ManagedFieldsEntry, replicas []string) bool {
	if u == nil {
		return false
	}
	nodes := u.arenas.get()
	defer u.arenas.put(nodes)
	field := fieldSet(replicas)
	sets, ok := setsOfObject(obj)
	if !ok || !u.parseSets(sets, field, nodes) || !areScaleEntries(scale) {
		return false
	}
	added := slices.Clone(scale)
	out := sets[:0]
	for _, s := range sets {
		at := slices.IndexFunc(added, func(e metav1.ManagedFieldsEntry) bool {
			// The version of the requests is part of the identity of an Update only.
			return e.Operation == metav1.ManagedFieldsOperationApply && equalOwners(&e, &s.ManagedFieldsEntry)
		})
		switch isOwner := nodes.hasAny(s.set, field); {
		case at >= 0 && !isOwner:
			return false // the library replaces the set
		case at >= 0:
			added = slices.Delete(added, at, at+1)
		case isOwner:
			if s.set = nodes.difference(s.set, field); len(s.set) == 0 {
				continue
			}
			s.changed = true
		}
		out = append(out, s)
	}
	for _, e := range added {
		e.APIVersion, e.Time = u.version, nil
		out = append(out, managerSet{ManagedFieldsEntry: e, set: field, changed: true})
	}
	slices.SortFunc(out, compareEntries)
	setEntries(obj, out, nodes)
	return true
}

// setsOfObject returns the sets of the entries of an object, which are not parsed yet. ok is false
// if they are not supported.
func setsOfObject(obj runtime.Object) (sets []managerSet, ok bool) {
	if custom, isCustom := obj.(*unstructured.Unstructured); isCustom {
		metadata, _ := custom.Object["metadata"].(map[string]any)
		entries, isList := metadata["managedFields"].([]any)
		if _, has := metadata["managedFields"]; has && !isList {
			return nil, false
		}
		return jsonSetsOf(entries)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false
	}
	return setsOf(m.GetManagedFields())
}

// setEntries sets the managedFields of an object. The nodes of the sets are those of nodes.
func setEntries(obj runtime.Object, sets []managerSet, nodes *nodeArena) {
	if custom, isCustom := obj.(*unstructured.Unstructured); isCustom {
		setJSONEntries(custom.Object["metadata"].(map[string]any), jsonEntriesOf(sets))
	} else if m, err := meta.Accessor(obj); err == nil {
		m.SetManagedFields(entriesOf(sets, nodes))
	}
}

// fieldSet returns the set of one field, which is at a path of field names. As changes, it is a
// write that changed the field.
func fieldSet(path []string) []node {
	set := []node{{element: element{path[len(path)-1], fieldElement}, member: true}}
	for _, name := range slices.Backward(path[:len(path)-1]) {
		set = []node{{element: element{name, fieldElement}, children: set}}
	}
	return set
}

// hasAny reports whether a set has one of the paths that a write changed.
func (a *nodeArena) hasAny(set, changes []node) bool {
	left := a.difference(set, changes)
	return len(left) != len(set) || &left[0] != &set[0]
}

// areScaleEntries reports whether the entries of a Scale are those of different managers that own
// only its replicas.
func areScaleEntries(entries []metav1.ManagedFieldsEntry) bool {
	for i := range entries {
		e := &entries[i]
		if e.APIVersion != autoscalingv1.SchemeGroupVersion.String() || e.FieldsType != fieldsType ||
			e.FieldsV1 == nil || e.FieldsV1.GetRawString() != scaleFields ||
			slices.ContainsFunc(entries[:i], func(other metav1.ManagedFieldsEntry) bool { return equalOwners(&other, e) }) {
			return false
		}
	}
	return true
}
