package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// The schemas that every document has.
const (
	schemaDeleteOptions = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
	schemaListMeta      = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
	schemaObjectMeta    = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	schemaPatch         = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"
	schemaStatus        = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
)

func commonSchemas() map[string]*spec.Schema {
	return map[string]*spec.Schema{
		schemaDeleteOptions: kindSchema(schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}),
		schemaListMeta:      openObject(),
		schemaObjectMeta:    openObject(),
		schemaPatch:         openObject(),
		schemaStatus:        kindSchema(schema.GroupVersionKind{Version: "v1", Kind: "Status"}),
	}
}

// addSchemas adds the kind of a resource, of what is sent to its subresources, and
// of its list.
func addSchemas(schemas map[string]*spec.Schema, r *resource.Resource) {
	addObject(schemas, r)
	for i := range r.Subresources {
		if b := r.Subresources[i].Body(); b != nil {
			addObject(schemas, b)
		}
	}
	if !r.Kept() {
		return
	}
	list := kindSchema(r.ListGroupVersionKind())
	list.Required = []string{"items"}
	list.Properties["metadata"] = *reference(schemaListMeta)
	list.Properties["items"] = spec.Schema{SchemaProps: spec.SchemaProps{
		Type:  spec.StringOrArray{"array"},
		Items: &spec.SchemaOrArray{Schema: reference(schemaName(r))},
	}}
	schemas[listSchemaName(r)] = list
}

// addObject adds the kind of one object.
func addObject(schemas map[string]*spec.Schema, r *resource.Resource) {
	object := kindSchema(r.GroupVersionKind())
	object.Properties["metadata"] = *reference(schemaObjectMeta)
	schemas[schemaName(r)] = object
}

// kindSchema is an object that names its kind and may hold any other field.
func kindSchema(kind schema.GroupVersionKind) *spec.Schema {
	object := openObject()
	object.Properties = map[string]spec.Schema{
		"apiVersion": {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}},
		"kind":       {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}},
	}
	object.AddExtension("x-kubernetes-group-version-kind", []any{gvk(kind)})
	return object
}

func openObject() *spec.Schema {
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	schema.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	return schema
}

func reference(name string) *spec.Schema {
	return spec.RefSchema("#/components/schemas/" + name)
}

func schemaName(r *resource.Resource) string { return typeName(r.New()) }

func listSchemaName(r *resource.Resource) string { return typeName(r.NewList()) }

// typeName is the name of a Go type in OpenAPI: its import path with the
// domain reversed and dots for slashes, io.k8s.api.core.v1.Pod.
func typeName(obj runtime.Object) string {
	t := reflect.TypeOf(obj).Elem()
	domain, rest, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(domain, ".")
	var name strings.Builder
	for i := len(labels) - 1; i >= 0; i-- {
		name.WriteString(labels[i] + ".")
	}
	return name.String() + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}
