package managedfields

import (
	"cmp"
	"slices"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxUpdates is the most Update entries that an object keeps (SA-24); beyond
// that the library folds them.
const maxUpdates = 10

// fieldsType is the only type of sets there is.
const fieldsType = "FieldsV1"

// shortcut gives the managedFields that obj shall have after a plain write, if it
// can tell them without the library. This is the one place that decides so.
//
// The library would, for an object that it tracks:
//
//	read the entries, check both objects against the schema, compare them,
//	take from every entry what the write touched, drop entries that are left
//	empty, give the writer what it set and the time, fold, sort and write.
//
// The same comes out here because
//   - sources: the entries are the stored ones, either since obj has none or the
//     very same, or since a subresource write does not count its own,
//   - entries: each is in the version of the request, is what the library would
//     write, about fields that the schema knows, and stands once; so that reading,
//     reconciling with the schema and writing it change nothing,
//   - differences: what the plan compares cannot fail the schema; what might is
//     odd and ends the walk,
//   - count: nothing is folded.
func (t *FieldManager) shortcut(live, obj runtime.Object, manager string) ([]metav1.ManagedFieldsEntry, bool) {
	if t.whole == nil {
		return nil, false
	}
	entries, tracked, ok := t.source(live, obj)
	if !ok || !tracked {
		return nil, ok
	}
	nodes := newNodeArena()
	touched, ok := t.differences(live, obj, nodes)
	if !ok {
		return nil, false
	}
	owners, ok := t.parse(entries, touched, nodes)
	if !ok {
		return nil, false
	}
	writer := t.writer(manager)
	if !utf8.ValidString(writer.Manager) {
		return nil, false
	}
	owners = settle(owners, touched, writer)
	if updates(owners) > maxUpdates {
		return nil, false
	}
	return write(owners), true
}

// source gives the entries that count and whether the object is tracked at all:
// from its creation, or while it has entries (SA-36).
func (t *FieldManager) source(live, obj runtime.Object) (entries []metav1.ManagedFieldsEntry, tracked, ok bool) {
	after, err := meta.Accessor(obj)
	if err != nil {
		return nil, false, false
	}
	sent := after.GetManagedFields()
	if live == nil {
		return nil, true, len(sent) == 0
	}
	before, err := meta.Accessor(live)
	if err != nil {
		return nil, false, false
	}
	entries = before.GetManagedFields()
	if t.subresource == "" && sent != nil {
		if same, times := sameEntries(sent, entries); len(sent) == 0 || !same || !times {
			return nil, false, false
		}
	}
	return entries, len(entries) > 0 || before.GetUID() == "", true
}

// owner is an entry with its set.
type owner struct {
	entry metav1.ManagedFieldsEntry
	set   []node
	// stale tells that the entry's fieldsV1 is not the set's any more.
	stale bool
	// raw is the entry of a custom resource, whose fieldsV1 entry does not have.
	raw map[string]any
}

// parse reads the entries for a write.
func (t *FieldManager) parse(entries []metav1.ManagedFieldsEntry, touched []node, nodes *nodeArena) ([]owner, bool) {
	owners := make([]owner, 0, len(entries)+1)
	version := t.kind.GroupVersion().String()
	for i := range entries {
		e := &entries[i]
		known := e.Operation == metav1.ManagedFieldsOperationApply || e.Operation == metav1.ManagedFieldsOperationUpdate
		if !known || e.APIVersion != version || e.FieldsType != fieldsType || e.FieldsV1 == nil || !utf8.ValidString(e.Manager+e.Subresource) {
			return nil, false
		}
		if slices.ContainsFunc(owners, func(o owner) bool { return sameOwner(&o.entry, e) }) {
			return nil, false
		}
		set, ok := parse(t.whole, e.FieldsV1.GetRawString(), touched, nodes)
		if !ok {
			return nil, false
		}
		owners = append(owners, owner{entry: *e, set: set})
	}
	return owners, true
}

// sameOwner reports whether two entries of one version are the same owner's
// (MD-25, SA-21).
func sameOwner(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// differences compares the objects in the version of the request.
func (t *FieldManager) differences(live, obj runtime.Object, nodes *nodeArena) ([]node, bool) {
	if live == nil {
		live = t.empty
	}
	before, err := t.convert.ConvertToVersion(live, t.kind.GroupVersion())
	if err != nil {
		return nil, false
	}
	after, err := t.convert.ConvertToVersion(obj, t.kind.GroupVersion())
	if err != nil {
		return nil, false
	}
	return differences(t.writable, before, after, nodes)
}

// writer is the entry of a plain write by manager, without a time and a set.
func (t *FieldManager) writer(manager string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager:     cmp.Or(manager, "unknown"),
		Operation:   metav1.ManagedFieldsOperationUpdate,
		APIVersion:  t.kind.GroupVersion().String(),
		FieldsType:  fieldsType,
		Subresource: t.subresource,
	}
}

// settle moves what a write touched: away from whoever had it, and what it set to
// the writer (SA-11), whose time it is then.
func settle(owners []owner, touched []node, writer metav1.ManagedFieldsEntry) []owner {
	if len(touched) == 0 {
		return owners
	}
	mine := owner{entry: writer, set: taken(touched), stale: true}
	out := owners[:0]
	for _, o := range owners {
		left := minus(o.set, touched)
		if len(mine.set) > 0 && sameOwner(&o.entry, &writer) {
			mine.set = union(mine.set, left)
			continue
		}
		if len(left) == 0 {
			continue
		}
		o.stale = len(left) != len(o.set) || &left[0] != &o.set[0]
		o.set = left
		out = append(out, o)
	}
	if len(mine.set) > 0 {
		mine.entry.Time = &metav1.Time{Time: time.Now().UTC()}
		out = append(out, mine)
	}
	return out
}

// updates counts the Update entries.
func updates(owners []owner) int {
	n := 0
	for i := range owners {
		if owners[i].entry.Operation == metav1.ManagedFieldsOperationUpdate {
			n++
		}
	}
	return n
}

// write gives the entries in order: Apply before Update, then by time, then by
// name.
func write(owners []owner) []metav1.ManagedFieldsEntry {
	if len(owners) == 0 {
		return nil
	}
	entries := make([]metav1.ManagedFieldsEntry, len(owners))
	for i := range owners {
		entries[i] = owners[i].entry
		if owners[i].stale {
			entries[i].FieldsV1 = new(metav1.FieldsV1)
			entries[i].FieldsV1.SetRawBytes(encode(owners[i].set))
		}
	}
	slices.SortFunc(entries, inOrderOf)
	return entries
}

// inOrderOf tells which of two entries comes first.
func inOrderOf(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(seconds(a.Time), seconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager),
		cmp.Compare(a.Subresource, b.Subresource),
	)
}

// seconds is a time as entries are sorted by; entries without one come first.
func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}
