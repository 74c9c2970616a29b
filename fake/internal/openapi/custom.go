package openapi

import (
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// CustomResource is one version of a custom resource, as the documents describe it. It must not be
// changed once it is passed to WithCustomResources.
type CustomResource struct {
	Group, Version         string
	Plural, Kind, ListKind string
	Namespaced             bool
	// Status and Scale report whether the version has these subresources.
	Status, Scale bool
	// Schema is nil for a version without a structural schema.
	Schema *structuralschema.Structural
	// SelectableFields has JSON paths, such as ".spec.color".
	SelectableFields []string
}

// model returns the name of the schema of a kind, which begins with the reversed group.
func (c *CustomResource) model(kind string) model {
	parts := strings.Split(c.Group, ".")
	slices.Reverse(parts)
	return model(strings.Join(append(parts, c.Version, kind), "."))
}

const (
	objectMeta = metaPrefix + "ObjectMeta"
	listMeta   = metaPrefix + "ListMeta"
)

// customSchemas returns the definitions of the kinds and their lists.
func customSchemas(all []*CustomResource, v2 bool) map[string]*definition {
	b := &customBuilder{definitions{v2: v2}}
	byName := make(map[string]*definition, 2*len(all))
	for _, c := range all {
		byName[string(c.model(c.Kind))] = &definition{schema: *b.object(c), dependencies: []string{objectMeta}}
		byName[string(c.model(c.ListKind))] = &definition{
			schema: *b.list(c), dependencies: []string{string(c.model(c.Kind)), listMeta},
		}
	}
	return byName
}

// customBuilder builds the schemas of custom resources.
type customBuilder struct{ definitions }

// object returns the schema of a kind. It has no properties in v2 if clients would reject fields
// that the schema allows and v2 cannot describe.
func (b *customBuilder) object(c *CustomResource) *spec.Schema {
	s := new(spec.Schema).Typed("object", "")
	switch {
	case c.Schema == nil, b.v2 && c.Schema.XPreserveUnknownFields:
	default:
		structural := c.Schema.DeepCopy().Unfold()
		if b.v2 {
			simplify(structural)
		}
		s = structural.ToKubeOpenAPI()
		b.addMeta(s, (metav1.TypeMeta{}).SwaggerDoc())
		b.addEmbedded(s)
	}
	c.extend(s, c.Kind)
	return s
}

// list returns the schema of the list of a kind.
func (b *customBuilder) list(c *CustomResource) *spec.Schema {
	items := spec.ArrayProperty(&spec.Schema{SchemaProps: spec.SchemaProps{Ref: b.ref(string(c.model(c.Kind)))}})
	items.Description = "List of " + c.Plural + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
	s := new(spec.Schema).Typed("object", "").WithRequired("items").WithDescription(c.ListKind+" is a list of "+c.Kind).
		SetProperty("items", *items)
	b.addType(s, (metav1.TypeMeta{}).SwaggerDoc())
	s.SetProperty("metadata", b.reference(listMeta, (metav1.PartialObjectMetadataList{}).SwaggerDoc()["metadata"]))
	c.extend(s, c.ListKind)
	return s
}

// extend adds the kind and the selectable fields to a schema.
func (c *CustomResource) extend(s *spec.Schema, kind string) {
	gvk := schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: kind}
	s.AddExtension(extensionKind, []any{kindExtension(gvk)})
	if len(c.SelectableFields) == 0 {
		return
	}
	fields := make([]any, 0, len(c.SelectableFields))
	for _, at := range c.SelectableFields {
		fields = append(fields, map[string]any{"fieldPath": strings.TrimPrefix(at, ".")})
	}
	s.AddExtension("x-kubernetes-selectable-fields", fields)
}

func (b *customBuilder) reference(name, description string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: b.ref(name), Description: description}}
}

// addType adds apiVersion and kind.
func (b *customBuilder) addType(s *spec.Schema, docs map[string]string) {
	for _, name := range []string{"apiVersion", "kind"} {
		s.SetProperty(name, *spec.StringProperty().WithDescription(docs[name]))
	}
}

// addMeta adds apiVersion, kind and metadata.
func (b *customBuilder) addMeta(s *spec.Schema, docs map[string]string) {
	b.addType(s, docs)
	s.SetProperty("metadata", b.reference(objectMeta, (metav1.PartialObjectMetadata{}).SwaggerDoc()["metadata"]))
}

// addEmbedded adds apiVersion, kind and metadata to the schema of an embedded resource, where the
// first two are required.
func (b *customBuilder) addEmbedded(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		b.addEmbedded(&property)
		s.Properties[name] = property
	}
	if s.Items != nil {
		b.addEmbedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		b.addEmbedded(s.AdditionalProperties.Schema)
	}
	preserves, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	is, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource")
	if !is || preserves && b.v2 {
		return
	}
	b.addMeta(s, embeddedDocs)
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

// embeddedDocs has the descriptions of these fields on a real server.
var embeddedDocs = map[string]string{
	"apiVersion": "apiVersion defines the versioned schema of this representation of an object. " +
		"More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
	"kind": "kind is a string value representing the type of this object. In CamelCase. " +
		"More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
}

// simplify removes from a schema what OpenAPI v2, or kubectl as it reads v2, does not support:
// alternatives, null, defaults, and properties of objects with unknown fields. A schema without a
// type allows any value.
func simplify(s *structuralschema.Structural) {
	s.Default.Object = nil
	if s.Nullable || s.XPreserveUnknownFields {
		s.Items, s.Properties = nil, nil
	}
	if s.Nullable || s.Type == "array" && s.Items == nil || s.Type == "object" && s.XPreserveUnknownFields {
		s.Type, s.Nullable = "", false
	}
	if v := s.ValueValidation; v != nil {
		v.AllOf, v.OneOf, v.AnyOf, v.Not = nil, nil, nil, nil
		v.Required = slices.DeleteFunc(v.Required, func(name string) bool { return s.Properties[name].Nullable })
		if more := s.AdditionalProperties; more != nil && more.Structural != nil && more.Structural.Nullable {
			v.Required = nil
		}
	}
	if s.Items != nil {
		simplify(s.Items)
	}
	for name, property := range s.Properties {
		simplify(&property)
		s.Properties[name] = property
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		simplify(s.AdditionalProperties.Structural)
	}
}
