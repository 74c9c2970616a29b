package managedfields

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/applyconfiguration"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// BuiltinTypeConverter returns the converter of the objects of a built-in group to the values that
// the library compares. client-go has the schemas of all stored types but CustomResourceDefinition
// and APIService.
func BuiltinTypeConverter(group string) managedfields.TypeConverter {
	switch group {
	case apiextensionsv1.GroupName:
		return crdTypes()
	case apiregistrationv1.GroupName:
		return apiServiceTypes()
	}
	return builtinTypes()
}

// NewCRDTypeConverter returns the converter of the objects of a custom resource in one version, to
// the values that the library compares. s is the schema of the version, or nil if it has none.
// NewCRDTypeConverter takes about 100 us. Callers should cache the converter.
func NewCRDTypeConverter(kind schema.GroupVersionKind, s *structuralschema.Structural) (managedfields.TypeConverter, error) {
	return (&crd{kind: kind, schemas: map[string]*structuralschema.Structural{kind.Version: s}}).types()
}

// builtinTypes converts objects of the types of client-go to the values that the library compares.
// It parses the schemas of client-go, which takes 57 ms, on the first call.
var builtinTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// Preload parses the schemas of client-go if that was not done before.
func Preload() { builtinTypes() }

// apiServiceTypes is builtinTypes for APIServices.
var apiServiceTypes = sync.OnceValue(func() managedfields.TypeConverter {
	services := builtin.Table().Lookup(apiregistrationv1.GroupName, "v1", "apiservices")
	return aggregator.NewTypeConverter(services.Scheme)
})

// crdTypes is builtinTypes for CustomResourceDefinitions.
var crdTypes = sync.OnceValue(func() managedfields.TypeConverter {
	crds := builtin.Table().Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	return apiextensions.NewTypeConverter(crds.Scheme)
})
