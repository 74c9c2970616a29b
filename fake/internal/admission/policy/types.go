package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	smd "k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// typeConverters has the schemas that apply configurations are merged by: those of server-side
// apply. It implements the library's patch.TypeConverterManager, which has none of its own but the
// OpenAPI documents.
type typeConverters struct{ table func() *resource.Table }

// typeConverterKey is the key of a converter in the cache of a CRD.
type typeConverterKey struct{ version *versions.Version }

// GetTypeConverter implements patch.TypeConverterManager. It returns nil if there is no schema.
func (t typeConverters) GetTypeConverter(kind schema.GroupVersionKind) smd.TypeConverter {
	var converter smd.TypeConverter
	var err error
	switch res := t.table().LookupKind(kind); {
	case res == nil: // such as Scale, which the OpenAPI document of its group does not have either
		converter, err = smd.NewTypeConverter(nil, false)
	case res.Custom == nil:
		return managedfields.BuiltinTypeConverter(kind.Group)
	default:
		converter, err = customTypeConverter(res)
	}
	if err != nil {
		return nil
	}
	return converter
}

// customTypeConverter returns the converter of a custom resource, which is cached with its CRD.
func customTypeConverter(res *resource.Resource) (smd.TypeConverter, error) {
	cache, key := res.Custom.CRD().Cache(), typeConverterKey{res.Custom}
	if cached, ok := cache.Load(key); ok {
		return cached.(smd.TypeConverter), nil
	}
	converter, err := managedfields.NewCRDTypeConverter(res.GroupVersionKind(), res.Custom.Structural())
	if err != nil {
		return nil, err
	}
	cached, _ := cache.LoadOrStore(key, converter)
	return cached.(smd.TypeConverter), nil
}

// Run implements patch.TypeConverterManager. There is nothing to refresh.
func (typeConverters) Run(context.Context) {}
