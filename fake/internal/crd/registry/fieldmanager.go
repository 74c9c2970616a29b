package registry

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// fieldManagerKey is the key of a field manager in the cache of its CRD.
type fieldManagerKey struct {
	version     *versions.Version
	subresource string
}

// FieldManager returns the field manager of a resource, or of one of its subresources. That of a
// custom resource is made on first use.
func (t *Registry) FieldManager(r *resource.Resource, subresource string) (*managedfields.FieldManager, error) {
	if r.Custom == nil {
		return managedfields.BuiltinFieldManager(r, subresource)
	}
	d := r.Custom.CRD()
	cached, ok := d.Cache().Load(fieldManagerKey{r.Custom, subresource})
	if ok {
		return cached.(*managedfields.FieldManager), nil
	}
	manager, err := managedfields.NewCRDFieldManager(r.GroupVersionKind(), r.Custom.Structural(), subresource, fieldManagerOptions(r.Custom)...)
	if err != nil {
		return nil, err
	}
	cached, _ = d.Cache().LoadOrStore(fieldManagerKey{r.Custom, subresource}, manager)
	return cached.(*managedfields.FieldManager), nil
}

// fieldManagerOptions returns the options for defaults, conversion and the other versions of the
// CRD.
func fieldManagerOptions(v *versions.Version) []managedfields.CRDOption {
	options := []managedfields.CRDOption{
		managedfields.WithDefaults(func(obj *unstructured.Unstructured) { v.SetDefaults(obj.Object) }),
		managedfields.WithConversion(func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
			return v.CRD().ConvertUnpruned(obj, to.Version)
		}),
	}
	if v.HasStatus() {
		options = append(options, managedfields.WithStatusSubresource())
	}
	for other := range v.CRD().Versions() {
		if other != v {
			options = append(options, managedfields.WithVersion(other.Object().Name, other.Structural(), other.HasStatus()))
		}
	}
	return options
}
