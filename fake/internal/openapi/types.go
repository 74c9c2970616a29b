package openapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// definitions builds the schemas of Go types as openapi-gen does from their sources. What
// reflection does not see comes from the markers.
type definitions struct {
	// v2 reports whether the schemas are for v2, which has no alternatives and no defaults.
	v2  bool
	all map[string]*definition
}

// definition is the schema of a type and the names of the schemas that it refers to.
type definition struct {
	schema       spec.Schema
	dependencies []string
}

// define returns the schemas of types and of all types that they reach, by name.
func define(types []reflect.Type, v2 bool) map[string]*definition {
	d := &definitions{v2: v2, all: make(map[string]*definition)}
	for _, t := range types {
		d.add(t)
	}
	return d.all
}

func (d *definitions) ref(name string) spec.Ref {
	if d.v2 {
		return spec.MustCreateRef("#/definitions/" + name)
	}
	return spec.MustCreateRef("#/components/schemas/" + name)
}

// nameOf returns the name of a type in OpenAPI, such as io.k8s.api.core.v1.Pod.
func nameOf(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(util.OpenAPIModelNamer); ok {
		return named.OpenAPIModelName()
	}
	return util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name())
}

// add adds the definition of a struct and of those that it reaches.
func (d *definitions) add(t reflect.Type) string {
	name := nameOf(t)
	if d.all[name] != nil {
		return name
	}
	def := new(definition)
	d.all[name] = def // before its fields: types may be recursive
	switch v := reflect.Zero(t).Interface().(type) {
	case schemer:
		def.schema = d.plain(v)
	default:
		d.addStruct(def, t)
	}
	def.schema.Description = descriptionOf(t)
	if kinds := kindsOf(t); len(kinds) > 0 {
		def.schema.AddExtension(extensionKind, kinds)
	}
	return name
}

// schemer is a type whose JSON is not that of a struct.
type schemer interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// plain returns the schema of a value whose JSON is not that of a struct. Some have several types.
func (d *definitions) plain(v schemer) spec.Schema {
	several, ok := v.(interface{ OpenAPIV3OneOfTypes() []string })
	if types := v.OpenAPISchemaType(); len(types) == 0 { // arbitrary JSON
		return spec.Schema{}
	} else if d.v2 || !ok {
		return simple(types[0], v.OpenAPISchemaFormat())
	}
	return spec.Schema{SchemaProps: spec.SchemaProps{
		Format: v.OpenAPISchemaFormat(),
		OneOf:  common.GenerateOpenAPIV3OneOfSchema(several.OpenAPIV3OneOfTypes()),
	}}
}

func (d *definitions) addStruct(def *definition, t reflect.Type) {
	b := structBuilder{definitions: d, properties: make(map[string]spec.Schema)}
	b.addFields(t)
	def.dependencies = b.dependencies
	def.schema = simple("object", "")
	def.schema.Required = b.required
	if len(b.properties) > 0 {
		def.schema.Properties = b.properties
	}
	m := markerOf(t)
	if m.MapType != "" {
		def.schema.AddExtension("x-kubernetes-map-type", m.MapType)
	}
	if m.Union {
		def.schema.AddExtension("x-kubernetes-unions", []any{unionOf(t, m)})
	}
}

// unionOf returns the members of a union by JSON name, with their values of the discriminator.
func unionOf(t reflect.Type, m marker) map[string]any {
	members, union := make(map[string]any), make(map[string]any)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if m.Fields[f.Name].Discriminator {
			union["discriminator"] = name
		} else {
			members[name] = f.Name
		}
	}
	union["fields-to-discriminateBy"] = members
	return union
}

// structBuilder collects the fields of a struct.
type structBuilder struct {
	*definitions
	properties   map[string]spec.Schema
	required     []string
	dependencies []string
}

// addFields adds the fields of t and of embedded structs.
func (b *structBuilder) addFields(t reflect.Type) {
	m, docs := markerOf(t), docsOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inlined := f.Type
			if inlined.Kind() == reflect.Pointer {
				inlined = inlined.Elem()
			}
			b.addFields(inlined)
			continue
		}
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		marked := m.Fields[f.Name]
		optional := omitempty(f.Tag)
		if marked.Optional != nil {
			optional = *marked.Optional
		}
		if !optional {
			b.required = append(b.required, name)
		}
		if options == "string" {
			b.properties[name] = simple("string", "")
			continue
		}
		b.properties[name] = b.property(f, marked, docs[name])
	}
}

func (b *structBuilder) property(f reflect.StructField, marked fieldMarker, description string) spec.Schema {
	s := b.schema(f.Type)
	s.Description = description
	if len(s.Enum) > 0 {
		s.Description = strings.TrimSpace(s.Description + "\n\n" + describeEnum(s.Enum))
	}
	if !b.v2 {
		s.Default = marked.Default
		if s.Default == nil {
			s.Default = zero(f.Type, omitempty(f.Tag))
		}
	}
	for extension, value := range map[string]string{
		"x-kubernetes-list-type":       marked.ListType,
		"x-kubernetes-map-type":        marked.MapType,
		"x-kubernetes-patch-strategy":  f.Tag.Get("patchStrategy"),
		"x-kubernetes-patch-merge-key": f.Tag.Get("patchMergeKey"),
	} {
		if value != "" {
			s.AddExtension(extension, value)
		}
	}
	if len(marked.ListMapKeys) > 0 {
		keys := make([]any, 0, len(marked.ListMapKeys))
		for _, key := range marked.ListMapKeys {
			keys = append(keys, key)
		}
		s.AddExtension("x-kubernetes-list-map-keys", keys)
	}
	return s
}

// schema returns the schema of a type. That of a struct is a reference.
func (b *structBuilder) schema(t reflect.Type) spec.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		name := b.add(t)
		if !slices.Contains(b.dependencies, name) {
			b.dependencies = append(b.dependencies, name)
		}
		return spec.Schema{SchemaProps: spec.SchemaProps{Ref: b.ref(name)}}
	case reflect.Map:
		s, value := simple("object", ""), b.schema(t.Elem())
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &value}
		return s
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return simple(common.OpenAPITypeFormat("[]byte"))
		}
		s, item := simple("array", ""), b.schema(t.Elem())
		s.Items = &spec.SchemaOrArray{Schema: &item}
		return s
	case reflect.Interface:
		return spec.Schema{}
	}
	s := simple(common.OpenAPITypeFormat(t.Kind().String()))
	for _, value := range markerOf(t).Enum {
		s.Enum = append(s.Enum, value)
	}
	return s
}

func simple(kind, format string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{kind}, Format: format}}
}

// zero returns the default of a field that is always present in JSON, or nil if there is none.
func zero(t reflect.Type, omitempty bool) any {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return nil
	case reflect.Struct:
		if _, custom := reflect.New(t).Interface().(json.Unmarshaler); custom {
			return nil
		}
		if t.NumField() == 1 && t.Field(0).Anonymous {
			return zero(t.Field(0).Type, omitempty)
		}
		return map[string]any{}
	}
	if omitempty {
		return nil
	}
	value, _ := common.OpenAPIZeroValue(t.Kind().String())
	return value
}

// omitempty reports whether a tag has omitempty. As in openapi-gen, omitzero alone does not count.
func omitempty(tag reflect.StructTag) bool {
	_, options, _ := strings.Cut(tag.Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), "omitempty")
}
