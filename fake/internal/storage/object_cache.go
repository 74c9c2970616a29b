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

// objectCache caches the custom resources that were written last, because a deep copy is much cheaper
// than decoding and converting them. Cached objects are never changed: get returns copies. Objects of
// built-in types are not cached: with a cache of any size the garbage collector takes more time for
// its objects than decoding takes.
type objectCache struct {
	cache *recordcache.Cache[runtime.Object]
}

func newObjectCache() objectCache { return objectCache{recordcache.New[runtime.Object]()} }

// get returns the object of rec, in the storage version of res. The caller may change it.
func (c objectCache) get(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if res.Custom != nil {
		if obj, ok := c.cache.Get(rec); ok && isDecodedBy(res, rec, obj) {
			return obj.DeepCopyObject(), nil
		}
	}
	return codec.DecodeStored(res, rec)
}

// isDecodedBy reports whether obj, the cached object of rec, is what decoding rec for res returns.
// The cached object of a custom resource has the version, and the schema, of its writer.
func isDecodedBy(res *resource.Resource, rec *memstore.Record, obj runtime.Object) bool {
	return codec.IsStoredAs(res, rec) && obj.GetObjectKind().GroupVersionKind() == res.GroupVersionKind()
}

// put caches obj, of which rec was encoded. The caller must not use obj afterwards.
func (c objectCache) put(res *resource.Resource, rec *memstore.Record, obj runtime.Object) {
	if res.Custom == nil || len(rec.Data) > maxCachedObject || !codec.IsStoredAs(res, rec) {
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(res.StorageVersion.WithKind(res.Kind))
	resource.Accessor(obj).SetResourceVersion(rec.Revision.String())
	c.cache.Put(rec, obj)
}
