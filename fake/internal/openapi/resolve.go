package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// ResolveSchema returns the v3 schema of a kind, with what it refers to in place of the references.
// A recursive reference becomes an object without properties. The error of a kind without a schema
// is resolver.ErrSchemaNotFound. ResolveSchema implements resolver.SchemaResolver of
// k8s.io/apiserver.
func (d *Documents) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	builtin := d.builtin.schemas().all
	var custom map[string]*definition
	if v := d.versions[versionPath(kind.Group, kind.Version)]; v != nil {
		custom = customSchemas(v.custom, false)
	}
	name, ok := nameOfKind(custom, kind)
	if !ok {
		name, ok = nameOfKind(builtin, kind)
	}
	if !ok {
		return nil, fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
	}
	return resolver.PopulateRefs(func(ref string) (*spec.Schema, bool) {
		ref = ref[strings.LastIndexByte(ref, '/')+1:]
		if def := custom[ref]; def != nil {
			return &def.schema, true
		}
		if def := builtin[ref]; def != nil {
			return &def.schema, true
		}
		return nil, false
	}, name)
}

// nameOfKind returns the name of the schema of a kind.
func nameOfKind(all map[string]*definition, kind schema.GroupVersionKind) (name string, ok bool) {
	want := kindExtension(kind)
	for name, def := range all {
		kinds, _ := def.schema.Extensions[extensionKind].([]any)
		if slices.ContainsFunc(kinds, func(k any) bool { return maps.Equal(k.(map[string]any), want) }) {
			return name, true
		}
	}
	return "", false
}
