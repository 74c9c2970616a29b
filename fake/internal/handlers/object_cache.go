package handlers

import (
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// maxCachedObject is the most that the encoding of an object may take that is kept in
// decoded form, in bytes: large ones would keep much memory, and are rare.
const maxCachedObject = 64 << 10

// objectCache keeps the objects that were written last as they were before they were
// encoded: copying an object is much cheaper than decoding it. What is in here
// belongs to it alone; it never changes, and only copies leave.
type objectCache struct{ *recordCache[runtime.Object] }

// get gives the object of a record, for the caller to change.
func (d objectCache) get(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if obj, ok := d.lookup(rec); ok && matchesResource(res, rec, obj) {
		return obj.DeepCopyObject(), nil
	}
	return codec.DecodeStored(res, rec)
}

// matchesResource reports whether a kept object is what a row would make of its record: a custom
// resource has been kept in the version, and by the definition, of the one who wrote it.
func matchesResource(res *resource.Resource, rec *memstore.Record, obj runtime.Object) bool {
	return res.Custom == nil ||
		codec.IsStoredAs(res, rec) && obj.GetObjectKind().GroupVersionKind() == res.GroupVersionKind()
}

// put takes over the object that a record was just made of.
func (d objectCache) put(res *resource.Resource, rec *memstore.Record, obj runtime.Object) {
	if len(rec.Data) > maxCachedObject || !codec.IsStoredAs(res, rec) && res.Custom != nil {
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(res.StorageVersion.WithKind(res.Kind))
	accessor(obj).SetResourceVersion(rec.Revision.String())
	d.store(rec, obj)
}
