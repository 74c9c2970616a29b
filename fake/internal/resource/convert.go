package resource

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Conversion turns one object into its form in another version. It may reuse
// the memory of what it is given: Convert hands it a copy of the right type.
type Conversion func(runtime.Object) (runtime.Object, error)

// Convert gives obj, an object of the row's version or of its StoreVersion, in
// the version to, which must be one of those two. An object that is already
// there is returned as it is; any other result shares no memory with obj and
// has its apiVersion and kind filled in. Fields that the version to has no
// place for are lost or kept in annotations, as a real server does it.
//
// It fails for an object of another type and for a version that the row does
// not know.
func (r *Resource) Convert(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	own := reflect.TypeOf(obj) == reflect.PointerTo(r.objectType)
	stored := reflect.TypeOf(obj) == reflect.PointerTo(r.storageType)
	switch {
	case own && to == r.GroupVersion(), stored && to == r.StorageVersion:
		return obj, nil
	case own && to == r.StorageVersion:
		return r.convert(r.ToStorage, obj, to)
	case stored && to == r.GroupVersion():
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
