package handlers

import (
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// maxDecoded is the most that the encoding of an object may take that is kept in
// decoded form, in bytes: large ones would keep much memory, and are rare.
const maxDecoded = 64 << 10

// decoded keeps the objects that were written last as they were before they were
// encoded: copying an object is much cheaper than decoding it. What is in here
// belongs to it alone; it never changes, and only copies leave.
type decoded struct{ *recent[runtime.Object] }

// get gives the object of a record, for the caller to change.
func (d decoded) get(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if obj, ok := d.of(rec); ok && isOf(res, rec, obj) {
		return obj.DeepCopyObject(), nil
	}
	return codec.DecodeStored(res, rec)
}

// isOf reports whether a kept object is what a row would make of its record: a custom
// resource has been kept in the version, and by the definition, of the one who wrote it.
func isOf(res *resource.Resource, rec *memstore.Record, obj runtime.Object) bool {
	return res.Custom == nil ||
		codec.IsStoredAs(res, rec) && obj.GetObjectKind().GroupVersionKind() == res.GroupVersionKind()
}

// keep takes over the object that a record was just made of.
func (d decoded) keep(res *resource.Resource, rec *memstore.Record, obj runtime.Object) {
	if len(rec.Data) > maxDecoded || !codec.IsStoredAs(res, rec) && res.Custom != nil {
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(res.StorageVersion.WithKind(res.Kind))
	accessor(obj).SetResourceVersion(rec.Revision.String())
	d.note(rec, obj)
}
