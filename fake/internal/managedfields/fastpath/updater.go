package fastpath

import (
	"cmp"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// maxUpdates is the maximum number of Update entries of an object (SA-24). The library merges the
// oldest ones if there are more.
const maxUpdates = 10

// fieldsType is the only defined format of a set of field paths.
const fieldsType = "FieldsV1"

// Type has the compiled schema of a type of objects, which is immutable. The Updaters of a resource
// and its subresources share it. It is safe for concurrent use.
type Type struct {
	plan   *plan
	arenas arenaPool
}

// NewType compiles the schema of obj, which types must have and which must have its kind set. It
// returns nil if the fast path does not support the type.
func NewType(types managedfields.TypeConverter, obj runtime.Object) *Type {
	typed, err := types.ObjectToTyped(obj)
	if err != nil {
		return nil
	}
	var goType reflect.Type
	if _, ok := obj.(*unstructured.Unstructured); !ok {
		goType = reflect.TypeOf(obj)
	}
	c := &compiler{schema: typed.Schema(), plans: make(map[planID]*plan)}
	p := c.plan(goType, typed.TypeRef())
	if metadata := p.field("metadata"); p.kind != structure || metadata == nil || metadata.plan.kind != structure {
		return nil
	}
	return &Type{plan: p.withoutSystemFields()}
}

// Options are the options of an Updater.
type Options struct {
	// Kind is the kind of the objects in the version of the requests. Ownership is recorded in this
	// version.
	Kind schema.GroupVersionKind
	// Subresource is the subresource that is written to, "" for the main resource.
	Subresource string
	// Excluded are the paths of fields that a write cannot own.
	Excluded [][]string
	// Empty is the object of kind Kind that a new object is compared with.
	Empty runtime.Object
	// Converter converts objects of a built-in type to the version of the requests.
	Converter runtime.ObjectConvertor
	// Default sets defaults in the result of an apply. If it is nil, applies are not supported.
	Default func(runtime.Object)
}

// Updater updates the managedFields of the objects of one type for plain writes. It is safe for
// concurrent use. A nil Updater supports no writes.
type Updater struct {
	Options
	// plan describes the whole object, writable the same without the excluded fields.
	plan, writable *plan
	// version is the version of the requests.
	version string
	arenas  *arenaPool
}

// NewUpdater returns an Updater, nil if t is nil.
func NewUpdater(t *Type, options Options) *Updater {
	if t == nil {
		return nil
	}
	return &Updater{options, t.plan, t.plan.without(options.Excluded), options.Kind.GroupVersion().String(), &t.arenas}
}

// Update sets the managedFields of obj for a write by manager, if the write is supported, and
// reports whether it is. If not, it does not change obj. live is the stored object, nil for a
// create. It is not changed, but obj shares with it the entries that stay as they are.
//
// For an object with managedFields, the library decodes the entries, validates both objects,
// compares them, removes the changed fields from all entries, drops entries that become empty, adds
// an entry with the changed fields, the manager and the time, merges old Update entries, sorts the
// entries and encodes them. Update is supported, and has the same result, if
//   - the entries are the stored ones, because obj has none or the same ones, or because the
//     managedFields in a write to a subresource do not count,
//   - each entry has the version of the request, an owner of its own and the encoding of the
//     library, and only fields that the schema has, so that decoding and encoding does not change
//     it,
//   - all values that the schema might not allow have been validated,
//   - no entries have to be merged.
func (u *Updater) Update(live, obj runtime.Object, manager string) bool {
	if u == nil {
		return false
	}
	if raw, ok := obj.(*unstructured.Unstructured); ok {
		return u.updateUnstructured(live, raw, manager)
	}
	return u.updateTyped(live, obj, manager)
}

// managerSet is an entry of managedFields and its set of fields.
type managerSet struct {
	metav1.ManagedFieldsEntry
	// fields is the stored set as FieldsV1, or a new one that is not parsed.
	fields string
	set    []node
	// changed is whether the set differs from the stored one.
	changed bool
	// renewed is whether Time differs from the stored time.
	renewed bool
	// raw is the entry of a custom resource.
	raw map[string]any
}

// updateSets returns the entries of managedFields after a write by manager in the order of the
// library. before and after are the objects in the version of the request. changed is whether
// the entries or their order differ. ok is false if the write is not supported. The nodes of the
// sets are those of nodes.
func updateSets[V any](u *Updater, values accessor[V], before, after V, stored []managerSet, manager string, nodes *nodeArena) (sets []managerSet, changed, ok bool) {
	c := &comparer[V]{values: values, nodes: nodes}
	changes, ok := c.changes(u.writable, before, after)
	if !ok || !u.parseSets(stored, changes, nodes) {
		return nil, false, false
	}
	writer := metav1.ManagedFieldsEntry{
		Manager:     cmp.Or(manager, "unknown"),
		Operation:   metav1.ManagedFieldsOperationUpdate,
		APIVersion:  u.version,
		FieldsType:  fieldsType,
		Subresource: u.Subresource,
	}
	if !utf8.ValidString(writer.Manager) {
		return nil, false, false
	}
	if sets = stored; len(changes) > 0 {
		sets, changed = transferOwnership(stored, changes, writer, nodes), true
	}
	if countUpdates(sets) > maxUpdates {
		return nil, false, false
	}
	if !slices.IsSortedFunc(sets, compareEntries) {
		slices.SortFunc(sets, compareEntries)
		changed = true
	}
	return sets, changed, true
}

// parseSets parses the sets of entries for a write that changed some fields, and reports whether
// all entries are supported.
func (u *Updater) parseSets(sets []managerSet, changes []node, nodes *nodeArena) bool {
	for i := range sets {
		s := &sets[i]
		if !u.isSupportedEntry(sets[:i], &s.ManagedFieldsEntry) {
			return false
		}
		var ok bool
		if s.set, ok = parse(u.plan, s.fields, changes, nodes); !ok {
			return false
		}
	}
	return true
}

// isSupportedEntry reports whether an entry is of the version of the requests, and has another
// owner than those before it.
func (u *Updater) isSupportedEntry(before []managerSet, e *metav1.ManagedFieldsEntry) bool {
	switch {
	case e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate,
		e.APIVersion != u.version,
		e.FieldsType != fieldsType,
		!utf8.ValidString(e.Manager) || !utf8.ValidString(e.Subresource):
		return false
	}
	return !slices.ContainsFunc(before, func(s managerSet) bool { return equalOwners(&s.ManagedFieldsEntry, e) })
}

// equalOwners reports whether two entries of one version have the same owner (MD-25, SA-21).
func equalOwners(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// transferOwnership removes the changed fields from all sets and adds the fields that the write set
// to the set of the writer, with the current time (SA-11).
func transferOwnership(sets []managerSet, changes []node, writer metav1.ManagedFieldsEntry, nodes *nodeArena) []managerSet {
	written := managerSet{ManagedFieldsEntry: writer, set: nodes.setPaths(changes), changed: true}
	out := sets[:0]
	for _, s := range sets {
		left := nodes.difference(s.set, changes)
		if len(written.set) > 0 && equalOwners(&s.ManagedFieldsEntry, &writer) {
			written.set = nodes.union(written.set, left)
			continue
		}
		if len(left) == 0 {
			continue
		}
		s.changed = len(left) != len(s.set) || &left[0] != &s.set[0]
		s.set = left
		out = append(out, s)
	}
	if len(written.set) > 0 {
		written.renew()
		out = append(out, written)
	}
	return out
}

// appendFields appends the set of an entry as FieldsV1.
func (s *managerSet) appendFields(b []byte) []byte {
	if s.set != nil {
		return appendSet(b, s.set, false)
	}
	return append(b, s.fields...)
}

// renew sets the time of an entry to the current time.
func (s *managerSet) renew() { s.Time, s.renewed = &metav1.Time{Time: time.Now().UTC()}, true }

// countUpdates returns the number of Update entries.
func countUpdates(sets []managerSet) int {
	n := 0
	for i := range sets {
		if sets[i].Operation == metav1.ManagedFieldsOperationUpdate {
			n++
		}
	}
	return n
}

// compareEntries orders entries as the library does: Apply before Update, then by time, manager and
// subresource.
func compareEntries(a, b managerSet) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(seconds(a.Time), seconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager),
		cmp.Compare(a.Subresource, b.Subresource),
	)
}

// seconds returns the stored part of a time, 0 if there is none.
func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}
