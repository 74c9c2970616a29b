package managedfields

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// objectMetaModel is the name of the schema of metadata.
const objectMetaModel = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// types returns the converter of the objects of all versions to the values that the library
// compares.
func (c *crd) types() (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{objectMetaModel: objectMetaSchema()}
	preserveUnknownFields := false
	for version, s := range c.schemas {
		top := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		if preserveUnknownFields = preserveUnknownFields || s == nil; s != nil {
			top = s.DeepCopy().Unfold().ToKubeOpenAPI()
			addEmbeddedProperties(top)
			addObjectProperties(top)
		}
		top.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": c.kind.Group, "version": version, "kind": c.kind.Kind},
		})
		models[strings.Join([]string{c.kind.Group, version, c.kind.Kind}, ".")] = top
	}
	return managedfields.NewTypeConverter(models, preserveUnknownFields)
}

// addObjectProperties adds the properties of all objects to the schema of an object.
func addObjectProperties(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + objectMetaModel))
}

// addEmbeddedProperties adds the properties of all objects to the schemas of embedded objects.
func addEmbeddedProperties(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		addEmbeddedProperties(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		addEmbeddedProperties(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		addEmbeddedProperties(s.AdditionalProperties.Schema)
	}
	if isResource, ok := s.Extensions.GetBool("x-kubernetes-embedded-resource"); ok && isResource {
		addObjectProperties(s)
	}
}

// objectMetaSchema returns the part of the schema of metav1.ObjectMeta that determines how it is
// merged. The full schema of client-go takes a thousand times as long to parse.
var objectMetaSchema = sync.OnceValue(func() *spec.Schema {
	s := objectSchema("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		s.SetProperty(name, *spec.DateTimeProperty()) // any scalar in a merge
	}
	s.SetProperty("generation", *spec.Int64Property())
	s.SetProperty("deletionGracePeriodSeconds", *spec.Int64Property())
	for _, name := range []string{"labels", "annotations"} {
		s.SetProperty(name, *spec.MapProperty(spec.StringProperty()))
	}
	finalizers := spec.ArrayProperty(spec.StringProperty())
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	s.SetProperty("finalizers", *finalizers)
	owner := objectSchema("apiVersion", "kind", "name", "uid")
	for _, name := range []string{"controller", "blockOwnerDeletion"} {
		owner.SetProperty(name, *spec.BoolProperty())
	}
	owner.SetProperty("uid", *spec.StringProperty().WithDefault("")) // as the key of an item without it
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	s.SetProperty("ownerReferences", *owners)
	entry := objectSchema("apiVersion", "fieldsType", "manager", "operation", "subresource")
	entry.SetProperty("time", *spec.DateTimeProperty())
	entry.SetProperty("fieldsV1", spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}})
	entries := spec.ArrayProperty(entry)
	entries.AddExtension("x-kubernetes-list-type", "atomic")
	s.SetProperty("managedFields", *entries)
	return s
})

// objectSchema returns the schema of an object with string properties.
func objectSchema(names ...string) *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	for _, name := range names {
		s.SetProperty(name, *spec.StringProperty())
	}
	return s
}
