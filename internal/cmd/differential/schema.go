package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
)

// object is a JSON object.
type object = map[string]any

// definition is a random CustomResourceDefinition. Its group is the reference {group}.
type definition struct {
	// body is the definition as JSON.
	body string
	// versions are the names of the served versions; the first is the storage version. schemas has
	// their schemas.
	versions []string
	schemas  map[string]object
	hasScale bool
}

// newDefinition returns a definition of widgets.{group}. Its schema is structural.
func newDefinition(r *rand.Rand) *definition {
	g := &schemaGenerator{Rand: r}
	d := &definition{versions: []string{"v1"}, schemas: map[string]object{"v1": g.root()}, hasScale: g.IntN(2) == 0}
	if g.IntN(2) == 0 {
		d.versions = append(d.versions, "v1beta1")
		d.schemas["v1beta1"] = g.variant(d.schemas["v1"])
	}
	versions := []any{}
	for i, name := range d.versions {
		v := object{"name": name, "served": true, "storage": i == 0, "schema": object{"openAPIV3Schema": d.schemas[name]}}
		subresources := object{}
		if g.IntN(4) > 0 {
			subresources["status"] = object{}
		}
		if d.hasScale {
			subresources["scale"] = object{
				"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector",
			}
		}
		if len(subresources) > 0 {
			v["subresources"] = subresources
		}
		if g.IntN(3) == 0 {
			v["additionalPrinterColumns"] = []any{
				object{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
				object{"name": "Text", "type": "string", "jsonPath": ".spec.string1", "priority": 1},
			}
		}
		versions = append(versions, v)
	}
	definition := object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "widgets.{group}"},
		"spec": object{
			"group": "{group}", "scope": "Namespaced", "versions": versions,
			"names": object{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		},
	}
	if g.IntN(2) == 0 {
		changes := &definitionGenerator{values: values{Rand: r}}
		for range 1 + g.IntN(6) {
			if p := pick(r, objectsIn(definition, "", nil)...); p.isSchema() {
				changes.changeSchema(p.object)
			}
		}
	}
	d.body = jsonText(definition)
	return d
}

// withBody returns the definition with another body.
func (d *definition) withBody(body string) *definition {
	return &definition{body: body, versions: d.versions, schemas: d.schemas, hasScale: d.hasScale}
}

// schemaGenerator makes random structural schemas.
type schemaGenerator struct {
	*rand.Rand
	names int // of properties
}

// root returns the schema of an object. Its spec and status have the fields of a scale.
func (g *schemaGenerator) root() object {
	spec, status := g.fields(5, 2), g.fields(3, 1)
	spec["properties"].(object)["replicas"] = object{"type": "integer", "format": "int32"}
	status["properties"].(object)["replicas"] = object{"type": "integer"}
	status["properties"].(object)["selector"] = object{"type": "string"}
	g.setDefault(spec, object{}, 4)
	g.setDefault(status, object{}, 4)
	root := object{"type": "object", "properties": object{"spec": spec, "status": status}}
	if g.IntN(3) == 0 {
		root["properties"].(object)["extra"] = g.schema(2)
	}
	if g.IntN(6) == 0 {
		root["x-kubernetes-preserve-unknown-fields"] = true
	}
	if g.IntN(6) == 0 {
		root["required"] = []any{"spec"}
	}
	return root
}

// variant returns a copy of a root schema in which some properties of the spec are missing and one
// is new.
func (g *schemaGenerator) variant(root object) object {
	copied := parseObject(jsonText(root))
	properties := copied["properties"].(object)["spec"].(object)["properties"].(object)
	for _, name := range sortedKeys(properties) {
		if name != "replicas" && g.IntN(3) == 0 {
			delete(properties, name)
			delete(copied["properties"].(object)["spec"].(object), "required")
		}
	}
	maps.Copy(properties, g.fields(1, 1)["properties"].(object))
	return copied
}

// fields returns the schema of an object with up to n random properties.
func (g *schemaGenerator) fields(n, depth int) object {
	properties := object{}
	required := []any{}
	for range 1 + g.IntN(n) {
		g.names++
		one := g.schema(depth)
		name := fmt.Sprintf("%s%d", kindOf(one), g.names)
		properties[name] = one
		if g.IntN(10) == 0 {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if g.IntN(8) == 0 {
		s["x-kubernetes-map-type"] = "atomic"
	}
	return s
}

// kindOf returns the first part of the name of a property with this schema.
func kindOf(s object) string {
	switch {
	case s["x-kubernetes-int-or-string"] == true:
		return "intorstring"
	case s["x-kubernetes-embedded-resource"] == true:
		return "embedded"
	case s["additionalProperties"] != nil:
		return "map"
	case s["x-kubernetes-preserve-unknown-fields"] == true:
		return "any"
	}
	name, _ := s["type"].(string)
	if list, ok := s["x-kubernetes-list-type"].(string); ok {
		return list + "list"
	}
	return name
}

// schema returns the schema of a property. depth limits the nesting.
func (g *schemaGenerator) schema(depth int) object {
	var s object
	n := 12
	if depth == 0 {
		n = 6
	}
	switch g.IntN(n) {
	case 0, 1:
		s = g.stringSchema()
	case 2, 3:
		s = g.integerSchema()
	case 4:
		s = g.numberSchema()
	case 5:
		s = object{"type": "boolean"}
		g.setDefault(s, g.IntN(2) == 0, 3)
	case 6:
		s = g.fields(3, depth-1)
		g.setDefault(s, object{}, 4)
	case 7:
		s = object{"type": "object", "additionalProperties": g.schema(min(depth-1, 1))}
		g.setDefault(s, object{}, 6)
	case 8, 9:
		s = g.listSchema(depth - 1)
	case 10:
		s = object{"x-kubernetes-int-or-string": true}
		g.setDefault(s, json.Number("3"), 4)
	case 11:
		s = object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		if g.IntN(4) == 0 {
			s["x-kubernetes-embedded-resource"] = true
		}
	}
	if g.IntN(6) == 0 {
		s["nullable"] = true
	}
	return s
}

// setDefault sets a default in one of n schemas.
func (g *schemaGenerator) setDefault(s object, value any, n int) {
	if _, requires := s["required"]; !requires && g.IntN(n) == 0 {
		s["default"] = value
	}
}

func (g *schemaGenerator) stringSchema() object {
	s := object{"type": "string"}
	switch g.IntN(6) {
	case 0:
		s["enum"] = []any{"a", "b", "ab"}
	case 1:
		s["maxLength"] = 2
	case 2:
		s["pattern"] = "^[a-c]*$"
	case 3:
		s["x-kubernetes-validations"] = []any{object{"rule": "self.size() < 3", "message": "too long"}}
	}
	g.setDefault(s, "a", 4)
	return s
}

func (g *schemaGenerator) integerSchema() object {
	s := object{"type": "integer"}
	switch g.IntN(6) {
	case 0:
		s["minimum"] = 0
	case 1:
		s["maximum"] = 10
		s["exclusiveMaximum"] = g.IntN(2) == 0
	case 2:
		s["multipleOf"] = 2
	case 3:
		s["format"] = "int32"
	case 4:
		s["x-kubernetes-validations"] = []any{object{"rule": "self >= oldSelf", "message": "must not decrease"}}
	}
	g.setDefault(s, json.Number("4"), 4)
	return s
}

func (g *schemaGenerator) numberSchema() object {
	s := object{"type": "number"}
	switch g.IntN(4) {
	case 0:
		s["minimum"] = json.Number("0.5")
	case 1:
		s["multipleOf"] = json.Number("0.5")
	case 2:
		s["format"] = "double"
	}
	value := json.Number([]string{"1.5", "2", "2.0"}[g.IntN(3)])
	if s["multipleOf"] != nil { // kube-apiserver refuses 2, but not 2.0, which it stores as 2
		value = "1.5"
	}
	g.setDefault(s, value, 4)
	return s
}

func (g *schemaGenerator) listSchema(depth int) object {
	s := object{"type": "array"}
	switch g.IntN(4) {
	case 0:
		s["items"] = g.schema(max(depth, 0))
	case 1:
		s["items"] = g.schema(max(depth, 0))
		s["x-kubernetes-list-type"] = "atomic"
	case 2:
		s["items"] = object{"type": []any{"string", "integer"}[g.IntN(2)]}
		s["x-kubernetes-list-type"] = "set"
	case 3:
		item := g.fields(2, max(depth, 0))
		delete(item, "x-kubernetes-map-type")
		item["properties"].(object)["k"] = object{"type": "string"}
		if g.IntN(2) == 0 {
			item["properties"].(object)["k"].(object)["default"] = "a"
		} else {
			item["required"] = []any{"k"}
		}
		s["items"] = item
		s["x-kubernetes-list-type"] = "map"
		s["x-kubernetes-list-map-keys"] = []any{"k"}
	}
	if g.IntN(8) == 0 {
		s["maxItems"] = 2
	}
	g.setDefault(s, []any{}, 6)
	return s
}
