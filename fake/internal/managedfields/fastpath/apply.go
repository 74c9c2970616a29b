package fastpath

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Apply merges config, the decoded configuration of an apply by manager, into live, if this is
// supported. It returns the new object with its managedFields, and whether the apply is supported.
// live is the stored object, nil for a create. It and config are not changed. The new object shares
// nothing with config.
//
// The new object is of the version of the requests, or of the version of live if it does not differ
// from live in more than its managedFields.
//
// Apply is supported, and has the result of the library, if
//   - the entries of live are as Update needs them, and live has some unless it is new,
//   - the configuration has the kind of the requests and no managedFields, that of a custom
//     resource has no null, and all values conform to the schema,
//   - the lists that the configuration has elements of have no duplicates,
//   - there are no conflicts, or force is set,
//   - the manager has all fields that it owned before in its configuration, so that none is
//     removed,
//   - the last applied configuration of kubectl is not in the annotations.
func (u *Updater) Apply(live runtime.Object, config map[string]any, manager string, force bool) (runtime.Object, bool) {
	if u == nil || u.Default == nil || !u.isConfig(config) || !utf8.ValidString(manager) {
		return nil, false
	}
	a := applier{Updater: u, config: config, manager: manager, force: force}
	if _, ok := u.Empty.(*unstructured.Unstructured); ok {
		return a.applyUnstructured(live)
	}
	return a.applyTyped(live)
}

// isConfig reports whether config is a configuration of the kind of the requests, without
// managedFields.
func (u *Updater) isConfig(config map[string]any) bool {
	apiVersion, kind := u.Kind.ToAPIVersionAndKind()
	if config["apiVersion"] != apiVersion || config["kind"] != kind {
		return false
	}
	metadata, ok := config["metadata"].(map[string]any)
	_, hasEntries := metadata["managedFields"]
	return ok && !hasEntries
}

// applier makes one apply.
type applier struct {
	*Updater
	config  map[string]any
	manager string
	force   bool
}

// applyTyped is Apply for an object of a built-in type.
func (a *applier) applyTyped(live runtime.Object) (runtime.Object, bool) {
	var stored []metav1.ManagedFieldsEntry
	obj := a.Empty.DeepCopyObject()
	if live != nil {
		obj = live.DeepCopyObject()
		m, err := meta.Accessor(live)
		if err != nil || len(m.GetManagedFields()) == 0 {
			return nil, false
		}
		stored = m.GetManagedFields()
	}
	sets, ok := setsOf(stored)
	if !ok {
		return nil, false
	}
	versioned, err := a.Converter.ConvertToVersion(obj, a.Kind.GroupVersion())
	if err != nil {
		return nil, false
	}
	nodes := a.arenas.get()
	defer a.arenas.put(nodes)
	m := newMerger[reflect.Value](typedTarget{}, nodes)
	result, ok := m.apply(a.writable, reflect.ValueOf(versioned), a.config)
	if !ok {
		return nil, false
	}
	if sets, _, ok = a.applySets(sets, &result, nodes); !ok {
		return nil, false
	}
	if result.changed {
		obj = versioned
		a.Default(obj)
	}
	after, err := meta.Accessor(obj)
	if err != nil || a.hasLastApplied(after.GetAnnotations()) {
		return nil, false
	}
	after.SetManagedFields(entriesOf(sets, nodes))
	return obj, true
}

// hasLastApplied reports whether the library updates the last applied configuration in annotations.
func (a *applier) hasLastApplied(annotations map[string]string) bool {
	return a.manager == "kubectl" && annotations["kubectl.kubernetes.io/last-applied-configuration"] != ""
}

// applyUnstructured is Apply for a custom resource.
func (a *applier) applyUnstructured(live runtime.Object) (runtime.Object, bool) {
	before, ok := a.unstructuredOfKind(live)
	if !ok {
		return nil, false
	}
	var stored []any
	if before == nil {
		before = a.Empty.(*unstructured.Unstructured)
	} else {
		metadata, _ := before.Object["metadata"].(map[string]any)
		if stored, _ = metadata["managedFields"].([]any); len(stored) == 0 {
			return nil, false
		}
	}
	sets, ok := jsonSetsOf(stored)
	if !ok {
		return nil, false
	}
	obj := &unstructured.Unstructured{Object: copyWithoutEntries(before.Object)}
	nodes := a.arenas.get()
	defer a.arenas.put(nodes)
	m := newMerger[any](jsonTarget{}, nodes)
	result, ok := m.apply(a.writable, obj.Object, a.config)
	if !ok {
		return nil, false
	}
	sets, changed, ok := a.applySets(sets, &result, nodes)
	if !ok || a.manager == "kubectl" && a.hasLastApplied(obj.GetAnnotations()) {
		return nil, false
	}
	if result.changed {
		a.Default(obj)
	}
	if changed {
		stored = jsonEntriesOf(sets)
	}
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if ok {
		setJSONEntries(metadata, stored)
	}
	return obj, ok
}

// copyWithoutEntries returns a deep copy of a custom resource without its managedFields.
func copyWithoutEntries(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for name, value := range object {
		if metadata, ok := value.(map[string]any); ok && name == "metadata" {
			fields := maps.Clone(metadata)
			delete(fields, "managedFields")
			value = fields
		}
		out[name] = runtime.DeepCopyJSONValue(value)
	}
	return out
}

// applySets returns the entries of managedFields after an apply in the order of the library, and
// whether they differ from the stored ones.
func (a *applier) applySets(stored []managerSet, result *application, nodes *nodeArena) (sets []managerSet, changed, ok bool) {
	owner := a.owner()
	applied := managerSet{ManagedFieldsEntry: owner, fields: result.applied, changed: true}
	sets = make([]managerSet, 0, len(stored)+1)
	for i := range stored {
		s := stored[i]
		if !a.isSupportedEntry(stored[:i], &s.ManagedFieldsEntry) {
			return nil, false, false
		}
		if equalOwners(&s.ManagedFieldsEntry, &owner) {
			if applied, ok = a.reapply(s, result.applied, nodes); !ok {
				return nil, false, false
			}
			continue
		}
		if s.set, ok = parse(a.plan, s.fields, result.changes, nodes); !ok {
			return nil, false, false
		}
		if left := nodes.difference(s.set, result.changes); !isSame(left, s.set) {
			if !a.force {
				return nil, false, false // the library returns the conflicts
			}
			s.set, s.changed, changed = left, true, true
		}
		if len(s.set) > 0 {
			sets = append(sets, s)
		}
	}
	if result.changed {
		applied.renew()
	}
	changed = changed || applied.changed || applied.renewed
	if applied.fields != noFields {
		sets = append(sets, applied)
	}
	if !slices.IsSortedFunc(sets, compareEntries) {
		slices.SortFunc(sets, compareEntries)
		changed = true
	}
	return sets, changed, true
}

// owner returns the entry of the manager, without fields and a time.
func (a *applier) owner() metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager:     cmp.Or(a.manager, "unknown"),
		Operation:   metav1.ManagedFieldsOperationApply,
		APIVersion:  a.version,
		FieldsType:  fieldsType,
		Subresource: a.Subresource,
	}
}

// noFields is an empty set as FieldsV1.
const noFields = `{}`

// reapply returns the set of the manager that applies. ok is false if it owned fields before that
// are not in applied.
func (a *applier) reapply(before managerSet, applied string, nodes *nodeArena) (after managerSet, ok bool) {
	if applied == before.fields && applied != noFields {
		return before, true
	}
	set, ok := parseAll(a.plan, applied, nodes)
	if !ok {
		return after, false
	}
	old, ok := parse(a.plan, before.fields, set, nodes)
	after = before
	after.fields, after.changed = applied, true
	return after, ok && isSubset(old, set)
}

// isSubset reports whether all members of a set, which was parsed for the changes b, are in b.
func isSubset(set, b []node) bool {
	for i := range set {
		n := &set[i]
		if b = seek(b, n.element); len(b) == 0 || b[0].element != n.element ||
			n.member && !b[0].member || !isSubset(n.children, b[0].children) {
			return false
		}
	}
	return true
}

// isSame reports whether two sets are the same nodes.
func isSame(a, b []node) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
