package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Conversion converts an object to another version. It may reuse the memory of its argument,
// because Convert passes a copy. The argument has the right type.
type Conversion func(runtime.Object) (runtime.Object, error)

// Convert returns obj, which has the version of r or r.StorageVersion, in the version to, which
// must be one of the two. If obj has that version already, the result is obj. Any other result
// shares no memory with obj and has its apiVersion and kind set. Fields that the version to does
// not have are lost or stored in annotations, as on a real server.
//
// It returns an error for an object of another type and for another version.
func (r *Resource) Convert(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	isServed := reflect.TypeOf(obj) == reflect.PointerTo(r.objectType)
	isStored := reflect.TypeOf(obj) == reflect.PointerTo(r.storageType)
	switch {
	case isServed && to == r.GroupVersion(), isStored && to == r.StorageVersion:
		return obj, nil
	case isServed && to == r.StorageVersion:
		return r.convert(r.ToStorage, obj, to)
	case isStored && to == r.GroupVersion():
		return r.convert(r.FromStorage, obj, to)
	}
	return nil, fmt.Errorf("%s of %s cannot be converted from %T to %s", r.Plural, r.GroupVersion(), obj, to)
}

func (r *Resource) convert(fn Conversion, obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	out, err := fn(obj.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(to.WithKind(r.Kind))
	return out, nil
}
