package managedfields

import (
	"fmt"
	"reflect"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// FieldManager keeps the managedFields of one resource in its served version, at the
// main resource or one subresource. It is immutable and safe for concurrent use.
type FieldManager struct {
	kind        schema.GroupVersionKind
	subresource string
	// convert makes objects of other versions, store is the version in which they go
	// in and come out.
	convert runtime.ObjectConvertor
	store   schema.GroupVersion
	// gvOf tells the version of a Go type; it is nil for a custom resource, whose
	// objects say themselves what they are.
	gvOf map[reflect.Type]schema.GroupVersion
	// library is the definition of what a FieldManager gives.
	library *managedfields.FieldManager
	// empty is what a create is compared with, in the served version.
	empty runtime.Object
	// whole is the plan of the type, writable the same without the fields that
	// a write here cannot change. Both are nil if the type is beyond the
	// shortcut.
	whole, writable *plan
}

// BuiltinFieldManager gives the tracker of a resource of builtin.Table, for subresource "" or
// one that changes objects; that of scale is for Scales. It is made on first use
// and the same for the whole process. It fails for any other resource or
// subresource, and if the schemas do not have the type.
func BuiltinFieldManager(res *resource.Resource, subresource string) (*FieldManager, error) {
	get, ok := trackers()[trackerKey{res.GroupVersionResource(), subresource}]
	if !ok {
		return nil, fmt.Errorf("no managed fields for %s, subresource %q", res.GroupVersionResource(), subresource)
	}
	return get()
}

type trackerKey struct {
	resource    schema.GroupVersionResource
	subresource string
}

// trackers has, for every resource and subresource, the function that makes its
// tracker the first time and gives it ever after.
var trackers = sync.OnceValue(func() map[trackerKey]func() (*FieldManager, error) {
	all := make(map[trackerKey]func() (*FieldManager, error))
	for _, res := range builtin.Table().Stored() {
		whole := sync.OnceValue(func() *plan { return planFor(res) })
		key := trackerKey{resource: res.GroupVersionResource()}
		all[key] = sync.OnceValues(func() (*FieldManager, error) { return newTracker(res, res, "", whole()) })
		for _, sub := range res.Subresources {
			key.subresource = sub.Name
			switch {
			case sub.WritesObject():
				all[key] = sync.OnceValues(func() (*FieldManager, error) { return newTracker(res, res, sub.Name, whole()) })
			case sub.BodyResource() != nil && sub.HasVerb("patch"):
				all[key] = sync.OnceValues(func() (*FieldManager, error) { return newTracker(res, sub.BodyResource(), sub.Name, nil) })
			}
		}
	}
	return all
})

// types turns objects into the values that the library compares.
var types = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// extensions is types for the definitions of custom resources.
var extensions = sync.OnceValue(func() managedfields.TypeConverter {
	definitions := builtin.Table().Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	return apiextensions.NewTypeConverter(definitions.Scheme)
})

// newTracker makes the tracker of what clients send to a subresource of res: body.
func newTracker(res, body *resource.Resource, subresource string, whole *plan) (*FieldManager, error) {
	versions := versionsOf(body)
	t := &FieldManager{
		kind:        body.GroupVersionKind(),
		subresource: subresource,
		convert:     versions,
		store:       versions.store,
		gvOf:        versions.byType,
		whole:       whole,
	}
	var err error
	if t.empty, err = versions.New(t.kind); err != nil {
		return nil, err
	}
	resets, owns := resets(res, subresource), owns(res, subresource)
	if t.writable = whole.without(resets); len(owns) > 0 {
		t.whole = nil // the shortcut knows no such filter
	}
	converter, err := converter(body)
	if err != nil {
		return nil, err
	}
	t.library, err = managedfields.NewDefaultFieldManager(
		converter, versions, body.Scheme, versions,
		t.kind, body.StorageVersion, subresource, filters(filter(resets, owns), versions.list()))
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Update brings the managedFields of obj up to date for a plain write by
// manager: create (live is nil), PUT, or the result of a patch that is no apply.
// live is the stored object and is not changed; obj is, and it is what comes
// back. Both are of the StoreVersion; the result shares the bytes of entries that
// stay as they are with live.
//
// What the write changed or added is owned by manager in an entry with operation
// Update (SA-11), what it removed by nobody; nothing changed, nothing moves. The
// managedFields that obj came with count as well: absent or invalid ones leave
// the stored ones in place (SA-29), [{}] and [] drop all (SA-27, SA-28), and an
// object without any is not tracked again before the next apply (SA-36). At a
// subresource they are ignored. More than ten Update entries are folded (SA-24).
func (t *FieldManager) Update(live, obj runtime.Object, manager string) runtime.Object {
	after, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	if raw, isRaw := obj.(*unstructured.Unstructured); isRaw {
		if entries, ok := t.customShortcut(live, raw, manager); ok {
			setEntries(raw, entries)
			return obj
		}
		return t.longWay(live, obj, manager)
	}
	if entries, ok := t.shortcut(live, obj, manager); ok {
		after.SetManagedFields(entries)
		return obj
	}
	return t.longWay(live, obj, manager)
}

// longWay is Update by the library.
func (t *FieldManager) longWay(live, obj runtime.Object, manager string) runtime.Object {
	if live == nil {
		live = t.empty
	}
	live = t.named(live, false)
	updated, err := t.library.Update(live, t.named(obj, true), manager)
	if err == nil {
		return updated
	}
	// Ownership is not worth failing a write: what there was stays.
	before, err := meta.Accessor(live)
	if err != nil {
		return obj
	}
	if after, err := meta.Accessor(obj); err == nil {
		after.SetManagedFields(before.GetManagedFields())
	}
	return obj
}

// named gives obj with its kind filled in, by which the library finds its schema;
// a copy if it was not and obj is not ours to change.
func (t *FieldManager) named(obj runtime.Object, ours bool) runtime.Object {
	gv, ok := t.gvOf[reflect.TypeOf(obj)]
	if want := gv.WithKind(t.kind.Kind); ok && obj.GetObjectKind().GroupVersionKind() != want {
		if !ours {
			obj = obj.DeepCopyObject()
		}
		obj.GetObjectKind().SetGroupVersionKind(want)
	}
	return obj
}
