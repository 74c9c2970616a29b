package registry

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/managed"
	"example.com/fakeapi/fake/internal/resource"
)

// trackerKey is a version of a custom resource and a subresource of it.
type trackerKey struct {
	version     *versions.Version
	subresource string
}

// Tracker keeps the managedFields of a resource, or of a subresource of it. That of a
// custom resource is made on first use.
func (t *Registry) Tracker(r *resource.Resource, subresource string) (*managed.Tracker, error) {
	if r.Custom == nil {
		return managed.For(r, subresource)
	}
	d := r.Custom.CRD()
	made, ok := d.Cache().Load(trackerKey{r.Custom, subresource})
	if ok {
		return made.(*managed.Tracker), nil
	}
	tracker, err := managed.Custom(r.GroupVersionKind(), r.Custom.Structural(), subresource, trackerOptions(r.Custom)...)
	if err != nil {
		return nil, err
	}
	made, _ = d.Cache().LoadOrStore(trackerKey{r.Custom, subresource}, tracker)
	return made.(*managed.Tracker), nil
}

// trackerOptions tell a tracker of the other versions of its definition.
func trackerOptions(v *versions.Version) []managed.CustomOption {
	options := []managed.CustomOption{
		managed.WithDefaults(func(obj *unstructured.Unstructured) { v.SetDefaults(obj.Object) }),
		managed.WithConversion(func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
			return v.CRD().Convert(obj, to.Version)
		}),
	}
	if v.HasStatus() {
		options = append(options, managed.WithStatus())
	}
	for other := range v.CRD().Versions() {
		if other != v {
			options = append(options, managed.WithVersion(other.Object().Name, other.Structural(), other.HasStatus()))
		}
	}
	return options
}
