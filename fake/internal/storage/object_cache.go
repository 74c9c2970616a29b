package storage

import (
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/recordcache"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// maxCachedObject is the size of the largest encoding whose object is cached, in bytes.
const maxCachedObject = 64 << 10

// objectCache caches the objects that were written last, because a deep copy of an object is much
// cheaper than decoding it. Cached objects are never changed: get returns copies.
type objectCache struct {
	cache *recordcache.Cache[runtime.Object]
}

func newObjectCache() objectCache { return objectCache{recordcache.New[runtime.Object]()} }

// get returns the object of rec, in the storage version of res. The caller may change it.
func (c objectCache) get(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if obj, ok := c.cache.Get(rec); ok && isDecodedBy(res, rec, obj) {
		return obj.DeepCopyObject(), nil
	}
	return codec.DecodeStored(res, rec)
}

// isDecodedBy reports whether obj, the cached object of rec, is what decoding rec for res returns.
// The cached object of a custom resource has the version, and the schema, of its writer.
func isDecodedBy(res *resource.Resource, rec *memstore.Record, obj runtime.Object) bool {
	return res.Custom == nil ||
		codec.IsStoredAs(res, rec) && obj.GetObjectKind().GroupVersionKind() == res.GroupVersionKind()
}

// put caches obj, of which rec was encoded. The caller must not use obj afterwards.
func (c objectCache) put(res *resource.Resource, rec *memstore.Record, obj runtime.Object) {
	if len(rec.Data) > maxCachedObject || !codec.IsStoredAs(res, rec) && res.Custom != nil {
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(res.StorageVersion.WithKind(res.Kind))
	resource.Accessor(obj).SetResourceVersion(rec.Revision.String())
	c.cache.Put(rec, obj)
}
