package managedfields

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// metaModel names the schema of metadata.
const metaModel = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// types turns the objects of all versions into the values that the library compares.
func (c *customResource) types() (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{metaModel: metaSchema()}
	loose := false
	for version, s := range c.schemas {
		top := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		if loose = loose || s == nil; s != nil {
			top = s.DeepCopy().Unfold().ToKubeOpenAPI()
			embedded(top)
			everyObject(top)
		}
		top.AddExtension("x-kubernetes-group-version-kind", []any{
			map[string]any{"group": c.kind.Group, "version": version, "kind": c.kind.Kind},
		})
		models[strings.Join([]string{c.kind.Group, version, c.kind.Kind}, ".")] = top
	}
	return managedfields.NewTypeConverter(models, loose)
}

// everyObject gives a schema what every object has.
func everyObject(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + metaModel))
}

// embedded does so for the objects in an object.
func embedded(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		embedded(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		embedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		embedded(s.AdditionalProperties.Schema)
	}
	if is, ok := s.Extensions.GetBool("x-kubernetes-embedded-resource"); ok && is {
		everyObject(s)
	}
}

// metaSchema is what of the schema of metav1.ObjectMeta says how it is merged. A test
// compares it with that of client-go, which takes a thousand times as long to read.
var metaSchema = sync.OnceValue(func() *spec.Schema {
	s := structWith("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		s.SetProperty(name, *spec.DateTimeProperty()) // which is any scalar to a merge
	}
	s.SetProperty("generation", *spec.Int64Property())
	s.SetProperty("deletionGracePeriodSeconds", *spec.Int64Property())
	for _, name := range []string{"labels", "annotations"} {
		s.SetProperty(name, *spec.MapProperty(spec.StringProperty()))
	}
	finalizers := spec.ArrayProperty(spec.StringProperty())
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	s.SetProperty("finalizers", *finalizers)
	owner := structWith("apiVersion", "kind", "name", "uid")
	for _, name := range []string{"controller", "blockOwnerDeletion"} {
		owner.SetProperty(name, *spec.BoolProperty())
	}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	s.SetProperty("ownerReferences", *owners)
	entry := structWith("apiVersion", "fieldsType", "manager", "operation", "subresource")
	entry.SetProperty("time", *spec.DateTimeProperty())
	entry.SetProperty("fieldsV1", spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}})
	entries := spec.ArrayProperty(entry)
	entries.AddExtension("x-kubernetes-list-type", "atomic")
	s.SetProperty("managedFields", *entries)
	return s
})

// structWith is the schema of an object with these strings.
func structWith(names ...string) *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	for _, name := range names {
		s.SetProperty(name, *spec.StringProperty())
	}
	return s
}
