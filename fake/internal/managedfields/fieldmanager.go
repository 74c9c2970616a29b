package managedfields

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/fakeapi/fake/internal/managedfields/fastpath"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// useFastPath enables package fastpath in FieldManager.Update, FieldManager.ApplyConfig and
// ScaleHandler, the only places that use it. If it is false, the library computes all updates and
// applies, with the same results. Tests clear the field fast of a FieldManager instead.
const useFastPath = true

// FieldManager updates the managedFields of one resource in one served version, for writes to the
// main resource or to one subresource. It is immutable and safe for concurrent use.
type FieldManager struct {
	kind        schema.GroupVersionKind
	subresource string
	// converter converts objects between versions. storageVersion is the version of the objects
	// that the methods take and return.
	converter      runtime.ObjectConvertor
	storageVersion schema.GroupVersion
	// versionByType has the versions of the Go types. It is nil for a custom resource, whose
	// objects have their version in them.
	versionByType map[reflect.Type]schema.GroupVersion
	// conversionError returns the error of an object that a real server cannot convert to the internal
	// type. It is nil for a custom resource.
	conversionError func(runtime.Object) error
	// library computes the updates and applies that fast does not support.
	library *managedfields.FieldManager
	// fast is nil if it supports none.
	fast *fastpath.Updater
	// emptyObject is the object, in the served version, that a new object is compared with.
	emptyObject runtime.Object
}

// BuiltinFieldManager returns the FieldManager of a resource of builtin.AllVersions, which may be
// one whose objects are not stored. subresource is "" or a subresource whose requests have objects.
// The FieldManager is for these objects, for instance Scales.
//
// FieldManagers are created on first use and shared by the process. BuiltinFieldManager returns an
// error for other resources and subresources, and if there is no schema of the type.
func BuiltinFieldManager(res *resource.Resource, subresource string) (*FieldManager, error) {
	newManager, ok := builtinManagers()[builtinKey{res.GroupVersionResource(), subresource}]
	if !ok {
		return nil, fmt.Errorf("no managed fields for %s, subresource %q", res.GroupVersionResource(), subresource)
	}
	return newManager()
}

type builtinKey struct {
	resource    schema.GroupVersionResource
	subresource string
}

// builtinManagers returns, for each built-in resource and subresource, a function that creates its
// FieldManager on the first call.
var builtinManagers = sync.OnceValue(func() map[builtinKey]func() (*FieldManager, error) {
	managers := make(map[builtinKey]func() (*FieldManager, error))
	for _, res := range builtin.AllVersions().All() {
		if res.IsComputed {
			continue
		}
		objectType := sync.OnceValue(func() *fastpath.Type {
			obj := res.New()
			obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
			switch {
			case res.IsOnlyCreated():
				return newGoType(obj)
			case resource.IsCRDResource(res):
				return fastpath.NewType(builtinTypes(), obj) // which does not have them
			}
			return fastpath.NewType(BuiltinTypeConverter(res.Group), obj)
		})
		key := builtinKey{resource: res.GroupVersionResource()}
		managers[key] = sync.OnceValues(func() (*FieldManager, error) {
			return newBuiltinManager(res, res, "", objectType())
		})
		for _, sub := range res.Subresources {
			key.subresource = sub.Name
			switch {
			case sub.WritesObject():
				managers[key] = sync.OnceValues(func() (*FieldManager, error) {
					return newBuiltinManager(res, res, sub.Name, objectType())
				})
			case sub.BodyResource() != nil && sub.HasVerb("patch"):
				managers[key] = sync.OnceValues(func() (*FieldManager, error) {
					return newBuiltinManager(res, sub.BodyResource(), sub.Name, scaleType())
				})
			case sub.BodyResource() != nil:
				managers[key] = sync.OnceValues(func() (*FieldManager, error) {
					obj := sub.BodyResource().New()
					obj.GetObjectKind().SetGroupVersionKind(sub.BodyResource().GroupVersionKind())
					return newBuiltinManager(res, sub.BodyResource(), sub.Name, newGoType(obj))
				})
			}
		}
	}
	return managers
})

// newBuiltinManager returns the FieldManager of a subresource of res whose requests have objects of
// the resource body. objectType is nil if there is no fast path.
func newBuiltinManager(res, body *resource.Resource, subresource string, objectType *fastpath.Type) (*FieldManager, error) {
	converter := newVersionConverter(body)
	m := &FieldManager{
		kind:            body.GroupVersionKind(),
		subresource:     subresource,
		converter:       converter,
		storageVersion:  converter.storageVersion,
		versionByType:   converter.versionByType,
		conversionError: body.ConversionError,
	}
	var err error
	if m.emptyObject, err = converter.New(m.kind); err != nil {
		return nil, err
	}
	reset, owned := resetFields(res, subresource), ownedFields(res, subresource)
	if len(owned) > 0 {
		objectType = nil // the fast path has no such filter
	}
	m.fast = fastpath.NewUpdater(objectType, fastpath.Options{
		Kind: m.kind, Subresource: subresource, Excluded: reset, Empty: m.emptyObject,
		Converter: converter, Default: body.Scheme.Default,
	})
	types := BuiltinTypeConverter(body.Group)
	switch {
	case body.Kind == "Scale":
		types, err = scaleTypes()
	case body.IsOnlyCreated():
		types, err = newGoTypeConverter(body.New())
	}
	if err != nil {
		return nil, err
	}
	m.library, err = managedfields.NewDefaultFieldManager(
		types, converter, body.Scheme, converter,
		m.kind, body.StorageVersion, subresource, filtersByVersion(newFilter(reset, owned), converter.versions()))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Update updates the managedFields of obj for a plain write by manager: a create (live is nil), a
// PUT, or a patch other than apply. live is the stored object and is not changed. Update changes
// obj and returns it or another object. Both are of the storage version. The result shares the
// bytes of unchanged entries with live.
//
// The fields that the write changed or added are owned by manager in an entry with operation Update
// (SA-11). Removed fields have no owner. A write without changes leaves the entries as they are.
//
// The managedFields that obj has count as well. If they are absent or invalid, those of live are
// used (SA-29). [{}] and [] remove all entries (SA-27, SA-28), and an object without entries gets
// none until the next apply (SA-36). In writes to a subresource they are ignored. The oldest of
// more than ten Update entries are merged (SA-24).
func (m *FieldManager) Update(live, obj runtime.Object, manager string) runtime.Object {
	if useFastPath && m.fast.Update(live, obj, manager) {
		return obj
	}
	return m.updateWithLibrary(live, obj, manager)
}

func (m *FieldManager) updateWithLibrary(live, obj runtime.Object, manager string) runtime.Object {
	if live == nil {
		live = m.emptyObject
	}
	live = m.withKind(live, false)
	updated, err := m.library.Update(live, m.withKind(obj, true), manager)
	if err == nil {
		return updated
	}
	// As in kube-apiserver, a write does not fail because of its managedFields: the entries stay.
	before, err := meta.Accessor(live)
	if err != nil {
		return obj
	}
	if after, err := meta.Accessor(obj); err == nil {
		after.SetManagedFields(before.GetManagedFields())
	}
	return obj
}

// withKind returns obj with its kind set, by which the library finds the schema. If the kind is not
// set and obj must not be changed, it returns a copy.
func (m *FieldManager) withKind(obj runtime.Object, mayChange bool) runtime.Object {
	gv, ok := m.versionByType[reflect.TypeOf(obj)]
	if want := gv.WithKind(m.kind.Kind); ok && obj.GetObjectKind().GroupVersionKind() != want {
		if !mayChange {
			obj = obj.DeepCopyObject()
		}
		obj.GetObjectKind().SetGroupVersionKind(want)
	}
	return obj
}
