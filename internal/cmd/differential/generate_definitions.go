package differential

import (
	"maps"
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

// changeSchema sets a keyword of a schema, or a CEL rule.
func (g *definitionGenerator) changeSchema(s object) {
	if g.IntN(6) == 0 {
		s["x-kubernetes-validations"] = g.validations()
		return
	}
	one := pick(g.Rand, keywords()...)
	values, _ := parse(one.values)
	s[one.name] = pick(g.Rand, values.([]any)...)
	if kind := typeOf(one.name); kind != "" && g.IntN(4) > 0 {
		s["type"] = kind
	}
}

// validations returns a list of CEL rules, mostly of one.
func (g *definitionGenerator) validations() []any {
	list := []any{}
	for range pick(g.Rand, 1, 1, 1, 1, 2, 0) {
		rule := object{"rule": pick(g.Rand, rules()...)}
		if g.IntN(2) == 0 {
			rule["rule"] = "true"
			maps.Copy(rule, parseObject(pick(g.Rand, ruleFields()...)))
		}
		list = append(list, rule)
	}
	return list
}
