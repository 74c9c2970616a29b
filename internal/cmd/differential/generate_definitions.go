package differential

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// definitionGenerator makes random steps about CustomResourceDefinitions. All are dry runs, so that
// the definition of the other sequences stays as it is.
type definitionGenerator struct {
	values
	current *definition
}

// dryRun is the option of all these steps.
const dryRun = "dryRun=All"

// isOfDefinition reports whether a step is about definitions.
func (s Step) isOfDefinition() bool { return strings.HasPrefix(s.Path, definitionsPath) }

// newDefinitionSequence returns a sequence of n steps about definitions.
func newDefinitionSequence(r *rand.Rand, current *definition, n int) []Step {
	g := &definitionGenerator{values{Rand: r}, current}
	steps := make([]Step, n)
	for i := range steps {
		if g.IntN(3) == 0 {
			steps[i] = g.patch()
			continue
		}
		steps[i] = g.create()
	}
	return steps
}

// create returns a POST of a new definition, which mostly has mistakes.
func (g *definitionGenerator) create() Step {
	body := strings.ReplaceAll(newDefinition(g.Rand).body, "{group}", "{ns}.example.com")
	return Step{Method: "POST", Path: definitionsPath, Query: g.options(), ContentType: "application/json", Body: jsonText(g.change(parseObject(body)))}
}

// patch returns a merge patch of the current definition with changes of its spec.
func (g *definitionGenerator) patch() Step {
	changed := g.change(parseObject(g.current.body))
	body := jsonText(object{"spec": changed["spec"]})
	return Step{Method: "PATCH", Path: definitionsPath + "/widgets.{group}", Query: g.options(), ContentType: "application/merge-patch+json", Body: body}
}

func (g *definitionGenerator) options() []string {
	return []string{dryRun, "fieldValidation=" + pick(g.Rand, "Strict", "Warn", "Ignore")}
}

// change makes up to three changes of a definition.
func (g *definitionGenerator) change(definition object) object {
	for range g.IntN(4) {
		places := objectsIn(definition, "", nil)
		if place := pick(g.Rand, places...); place.isSchema() && g.IntN(4) > 0 {
			g.changeSchema(place.object)
		} else {
			g.changeObject(place.object)
		}
	}
	return definition
}

// place is an object in a definition.
type place struct {
	path   string
	object object
}

// objectsIn appends the objects in a value, without those of defaults.
func objectsIn(v any, path string, all []place) []place {
	switch v := v.(type) {
	case object:
		all = append(all, place{path, v})
		for _, key := range sortedKeys(v) {
			if key != "default" {
				all = objectsIn(v[key], path+"/"+key, all)
			}
		}
	case []any:
		for _, one := range v {
			all = objectsIn(one, path+"/-", all)
		}
	}
	return all
}

// isSchema reports whether the object is a schema: that of a version, of items or of a property.
func (p place) isSchema() bool {
	parts := strings.Split(p.path, "/")
	last := parts[len(parts)-1]
	return slices.Contains([]string{"openAPIV3Schema", "items", "additionalProperties", "not"}, last) ||
		len(parts) > 1 && slices.Contains([]string{"properties", "allOf", "anyOf", "oneOf"}, parts[len(parts)-2])
}

// changeObject removes a field or changes its value.
func (g *definitionGenerator) changeObject(o object) {
	keys := sortedKeys(o)
	if len(keys) == 0 {
		return
	}
	key := pick(g.Rand, keys...)
	switch g.IntN(4) {
	case 0:
		delete(o, key)
	case 1:
		o[key] = g.anyValue(1)
	case 2:
		o[key] = pick[any](g.Rand, "", "a", "A b", strings.Repeat("a", 64), "widgets", "v2", "Widget", true, false)
	case 3:
		o[key+"s"] = o[key]
	}
}

// changeSchema sets a keyword of a schema.
func (g *definitionGenerator) changeSchema(s object) {
	one := pick(g.Rand, keywords()...)
	s[one.name] = pick(g.Rand, one.values...)
	if kind, required := typeOf(one.name); required && g.IntN(4) > 0 {
		s["type"] = kind
	}
}

// typeOf returns the type of values that a keyword is for, if there is one.
func typeOf(keyword string) (kind string, ok bool) {
	switch keyword {
	case "format", "pattern", "minLength", "maxLength":
		return "string", true
	case "minItems", "maxItems":
		return "array", true
	case "minProperties", "maxProperties":
		return "object", true
	case "minimum", "maximum", "multipleOf":
		return "number", true
	}
	return "", false
}

// keyword is a keyword of schemas with values, valid or not.
type keyword struct {
	name   string
	values []any
}

// keywords returns those that definitions are changed with.
func keywords() []keyword {
	text, integer := object{"type": "string"}, object{"type": "integer"}
	junctors := []any{
		[]any{}, []any{object{"required": []any{"a"}}}, []any{object{"minimum": 1}, object{"maximum": 3}}, []any{text}, []any{object{"properties": object{"replicas": object{"minimum": 1}}}},
		[]any{object{"properties": object{"other": object{"minimum": 1}}}}, []any{object{"default": "a"}}, []any{object{"description": "a"}}, []any{object{"x-kubernetes-validations": []any{object{"rule": "true"}}}},
		[]any{object{"nullable": true}}, []any{object{"additionalProperties": text}}, []any{object{"items": object{"pattern": "a"}}}, []any{object{"title": "a", "format": "date"}},
	}
	return []keyword{
		{"type", []any{"", "string", "integer", "number", "boolean", "object", "array", "null", "Object", []any{"string"}}},
		{"format", []any{"", "date", "date-time", "duration", "byte", "binary", "int32", "int64", "float", "double", "uuid", "ipv4", "cidr", "email", "hostname", "uri", "mac", "password", "other", "k8s-short-name", "k8s-long-name"}},
		{"title", []any{"a"}},
		{"description", []any{"", "a", 1}},
		{"id", []any{"a"}},
		{"$ref", []any{"#/definitions/a", ""}},
		{"$schema", []any{"http://json-schema.org/draft-04/schema"}},
		{"definitions", []any{object{"a": text}, object{}}},
		{"dependencies", []any{object{"a": []any{"b"}}}},
		{"patternProperties", []any{object{"a": text}}},
		{"externalDocs", []any{object{"url": "a"}}},
		{"example", []any{"a", object{"a": 1}}},
		{"deprecated", []any{true}},
		{"discriminator", []any{"a"}},
		{"readOnly", []any{true}},
		{"minimum", []any{0, 1.5, "1", -1}},
		{"maximum", []any{0, 10, json1e400, 2}},
		{"exclusiveMinimum", []any{true, false, 1}},
		{"exclusiveMaximum", []any{true, false, 1}},
		{"multipleOf", []any{0, 2, -1, 0.5}},
		{"minLength", []any{0, 1, -1, 3}},
		{"maxLength", []any{0, 1, -1, 3}},
		{"pattern", []any{"", "^a+$", "(", "[a-z", "(?=a)"}},
		{"minItems", []any{0, 1, -1, 3}},
		{"maxItems", []any{0, 1, -1, 1000000}},
		{"uniqueItems", []any{true, false}},
		{"minProperties", []any{0, 1, -1}},
		{"maxProperties", []any{0, 1, -1}},
		{"required", []any{[]any{}, []any{"a"}, []any{"replicas", "replicas"}, "a", []any{"k"}}},
		{"enum", []any{[]any{}, []any{"a", "a"}, []any{1, "a"}, []any{nil}, []any{"a", "b"}, []any{1, 1.0}, []any{object{"a": 1}}}},
		{"default", []any{nil, "a", 1, 1.5, true, object{}, []any{}, object{"a": 1}, []any{"a"}, []any{"a", "a"}, []any{object{"k": "a"}, object{"k": "a"}}, object{"replicas": -1, "x": 1}}},
		{"nullable", []any{true, false, "a"}},
		{"items", []any{text, integer, []any{text}, object{}, nil, object{"type": "object", "properties": object{"k": text}}, object{"type": "object", "properties": object{"k": object{"type": "string", "default": "a"}}}}},
		{"additionalItems", []any{true, text}},
		{"properties", []any{object{}, object{"k": text}, nil, object{"a": object{}}, object{"metadata": object{"type": "object"}}, object{"apiVersion": integer}, object{"metadata": object{"type": "object", "properties": object{"name": object{"type": "string", "pattern": "a"}, "labels": object{"type": "object"}}}}}},
		{"additionalProperties", []any{true, false, text, object{}, nil, object{"type": "object"}}},
		{"allOf", junctors},
		{"anyOf", junctors},
		{"oneOf", junctors},
		{"not", []any{object{}, object{"required": []any{"a"}}, object{"type": "string"}, object{"enum": []any{"a"}}}},
		{"x-kubernetes-preserve-unknown-fields", []any{true, false}},
		{"x-kubernetes-embedded-resource", []any{true, false}},
		{"x-kubernetes-int-or-string", []any{true, false}},
		{"x-kubernetes-list-type", []any{"atomic", "set", "map", "other", ""}},
		{"x-kubernetes-list-map-keys", []any{[]any{"k"}, []any{}, []any{"k", "k"}, []any{"a"}, nil}},
		{"x-kubernetes-map-type", []any{"atomic", "granular", "other"}},
		{"x-kubernetes-other", []any{true}},
		{"x-kubernetes-validations", rules()},
	}
}

// json1e400 is a number that no float64 has.
var json1e400 = number("1e400")

// rules returns lists of CEL rules.
func rules() []any {
	var all []any
	for _, rule := range []string{
		"", " ", "true", "1", "self", "self ==", "self == oldSelf", "oldSelf.hasValue()", "self > 1", "self.size() > 0", "self == 'a'", "has(self.a)", "has(self.replicas) && self.replicas > 0",
		"self.all(x, x == 'a')", "self.exists(x, self.all(y, x == y))", "self.all(x, self.all(y, self.all(z, x == y && y == z)))", "self.metadata.name == 'a'", "self.metadata.labels == {}", "self.spec.replicas == self.status.replicas",
		"self.matches('(')", "self.matches('a+')", "duration('1h') > duration('1m')", "isURL(self)", "quantity('1Gi').isGreaterThan(quantity('1'))", "self.kind == 'a'", "self.__other", "type(self) == int", "self.k == 'a'", "self[0] == 'a'", "self.map(x, x + 'a').size() > 1",
		"undeclared", "self.a.b.c", "self in [1]", "format.dns1123Label().validate(self).hasValue()", "ip('1.2.3.4') == ip(self)", "optional.of(1).hasValue()", "self.?a.hasValue()", "cel.bind(x, self, x == x)", "sets.contains([1], [2])", "semver('1.2.3').major() == 1", "lists.range(2) == [0, 1]", "base64.encode(b'a') == 'YQ=='", "self.transformList(i, v, v).size() > 0",
	} {
		all = append(all, []any{object{"rule": rule}})
	}
	for _, fields := range []object{
		{"message": ""}, {"message": " "}, {"message": "a\nb"}, {"message": "a", "messageExpression": "'b'"}, {"messageExpression": "1"}, {"messageExpression": "self"}, {"messageExpression": "'a' + string(self)"}, {"messageExpression": ""}, {"messageExpression": " "},
		{"reason": "FieldValueInvalid"}, {"reason": "FieldValueForbidden"}, {"reason": "FieldValueRequired"}, {"reason": "FieldValueDuplicate"}, {"reason": "Other"},
		{"fieldPath": ".a"}, {"fieldPath": ".replicas"}, {"fieldPath": "replicas"}, {"fieldPath": ".spec.replicas"}, {"fieldPath": ".spec['replicas']"}, {"fieldPath": ".a[0]"}, {"fieldPath": ""}, {"fieldPath": " "}, {"fieldPath": "."},
		{"optionalOldSelf": true}, {"optionalOldSelf": false}, {"rule": "oldSelf == self", "optionalOldSelf": true}, {"rule": "oldSelf.orValue(self) == self", "optionalOldSelf": true}, {"rule": "oldSelf == self", "messageExpression": "oldSelf == self ? 'a' : 'b'"}, {"other": 1},
	} {
		rule := object{"rule": "true"}
		for key, value := range fields {
			rule[key] = value
		}
		all = append(all, []any{rule})
	}
	return append(all, []any{}, nil, []any{object{}}, []any{object{"rule": "true"}, object{"rule": "true"}})
}
