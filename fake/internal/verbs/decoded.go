package verbs

import (
	"hash/maphash"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// decodedSlots is how many objects are kept in decoded form.
const decodedSlots = 512

// decoded keeps the objects that were written last as they were before they were
// encoded: what is written is mostly written again soon, and copying an object is much
// cheaper than decoding it. What is in here belongs to it alone; it never changes,
// and only copies leave. It is safe for concurrent use.
type decoded struct {
	seed  maphash.Seed
	slots [decodedSlots]atomic.Pointer[decodedRecord]
}

// decodedRecord is a record and the object, of the StoreVersion, that it is the
// encoding of.
type decodedRecord struct {
	rec *memstore.Record
	obj runtime.Object
}

func newDecoded() *decoded { return &decoded{seed: maphash.MakeSeed()} }

func (d *decoded) slot(rec *memstore.Record) *atomic.Pointer[decodedRecord] {
	return &d.slots[maphash.String(d.seed, rec.Key)%decodedSlots]
}

// get gives the object of a record, for the caller to change.
func (d *decoded) get(res *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	if kept := d.slot(rec).Load(); kept != nil && kept.rec == rec {
		return kept.obj.DeepCopyObject(), nil
	}
	return codec.Stored(res, rec)
}

// keep takes over the object that a record was just made of.
func (d *decoded) keep(res *resource.Resource, rec *memstore.Record, obj runtime.Object) {
	obj.GetObjectKind().SetGroupVersionKind(res.StoreVersion.WithKind(res.Kind))
	accessor(obj).SetResourceVersion(rec.Revision.String())
	d.slot(rec).Store(&decodedRecord{rec, obj})
}
