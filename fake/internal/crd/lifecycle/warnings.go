package lifecycle

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// WarningsOnCreate returns the warnings for a new definition: unrecognized formats, and lists of
// type set with items that are not scalars.
func WarningsOnCreate(crd *apiextensionsv1.CustomResourceDefinition) []string {
	return slices.Concat(schemaWarnings(crd))
}

// WarningsOnUpdate returns the warnings for a CustomResourceDefinition that replaces old: those of
// WarningsOnCreate that old does not have.
func WarningsOnUpdate(crd, old *apiextensionsv1.CustomResourceDefinition) []string {
	formats, sets := schemaWarnings(crd)
	oldFormats, oldSets := schemaWarnings(old)
	formats = slices.DeleteFunc(formats, func(s string) bool { return slices.Contains(oldFormats, s) })
	sets = slices.DeleteFunc(sets, func(s string) bool { return slices.Contains(oldSets, s) })
	return slices.Concat(formats, sets)
}

// schemaWarnings returns the warnings about formats, one for each occurrence, and about sets, each
// once. They are sorted, those about formats within a version, where their order is random on a
// real server.
func schemaWarnings(crd *apiextensionsv1.CustomResourceDefinition) (formats, sets []string) {
	inner, err := toInternal(crd)
	if err != nil { // the validation reports it
		return nil, nil
	}
	release := environment.DefaultCompatibilityVersion()
	seen := map[string]bool{}
	visit := func(s *apiextensions.JSONSchemaProps) bool {
		if s.Format != "" {
			requested := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
			for _, format := range schemavalidation.GetUnrecognizedFormats(requested, release) {
				formats = append(formats, fmt.Sprintf("unrecognized format %q", format))
			}
		}
		if items, ok := compositeSetItems(s); ok {
			seen[fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", items)] = true
		}
		return false
	}
	for _, schema := range versionSchemas(inner) {
		n := len(formats)
		validation.SchemaHas(schema, visit)
		slices.Sort(formats[n:])
	}
	return formats, slices.Sorted(maps.Keys(seen))
}

// compositeSetItems returns the type of the items of a set, if they are objects or arrays.
func compositeSetItems(s *apiextensions.JSONSchemaProps) (items string, ok bool) {
	if s.XListType == nil || *s.XListType != "set" || s.Items == nil || s.Items.Schema == nil {
		return "", false
	}
	items = s.Items.Schema.Type
	return items, items == "object" || items == "array"
}

// versionSchemas returns the schema that all versions share, or those of the versions.
func versionSchemas(crd *apiextensions.CustomResourceDefinition) (all []*apiextensions.JSONSchemaProps) {
	if v := crd.Spec.Validation; v != nil && v.OpenAPIV3Schema != nil {
		all = append(all, v.OpenAPIV3Schema)
	}
	for _, version := range crd.Spec.Versions {
		if v := version.Schema; v != nil && v.OpenAPIV3Schema != nil {
			all = append(all, v.OpenAPIV3Schema)
		}
	}
	return all
}
