package conformance

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docValidation = docDefinitions + ", Validation"

// valueCases are about values that the schema does not allow (CD-10).
func valueCases() []Case {
	about := func(id, title, why string, spec object, check gearCheck) Case {
		return onGears(Case{ID: id, Level: Must, Title: title, Why: why, Source: docValidation}, object{"spec": record(spec)}, check)
	}
	named := record(object{"name": typed("string"), "size": typed("integer")}).with("required", []string{"name"})
	return []Case{
		about("CD-10", "a value that the schema does not allow is refused with the path of the field, however it is written", "the user finds the mistake",
			object{"size": typed("integer").with("minimum", 0)}, refusedValues),
		about("CD-10/type", "a value of another type is refused, null is dropped where it is not allowed and there is no default, and whole numbers are integers however they are written",
			"clients rely on the types of the schema", object{
				"text": typed("string"), "whole": typed("integer"), "number": typed("number"), "flag": typed("boolean"),
				"list": listOf(typed("string")), "map": mapOf(typed("string")), "record": record(object{"x": typed("string")}),
			}, wrongTypes),
		about("CD-10/number", "minimum, maximum, their exclusive forms and multipleOf hold", "clients rely on the schema", object{
			"least": typed("integer").with("minimum", 1), "most": typed("integer").with("maximum", 9), "step": typed("integer").with("multipleOf", 5),
			"above": typed("number").with("minimum", 0).with("exclusiveMinimum", true), "below": typed("number").with("maximum", 1).with("exclusiveMaximum", true),
		}, wrongNumbers),
		about("CD-10/string", "lengths, patterns, enumerations and formats hold", "clients rely on the schema", object{
			"short": typed("string").with("maxLength", 3), "long": typed("string").with("minLength", 2), "word": typed("string").with("pattern", "^[a-z]+$"),
			"color": typed("string").with("enum", []string{"red", "blue"}), "when": typed("string").with("format", "date-time"), "ip": typed("string").with("format", "ipv4"),
		}, wrongStrings),
		about("CD-10/sizes", "the numbers of items and properties hold", "clients rely on the schema", object{
			"few": listOf(typed("integer")).with("maxItems", 2), "some": listOf(typed("integer")).with("minItems", 1),
			"map": mapOf(typed("integer")).with("maxProperties", 1), "full": mapOf(typed("integer")).with("minProperties", 1),
		}, wrongSizes),
		about("CD-10/required", "a field that is required and missing is refused at its path, in lists too", "controllers read it without a look",
			object{"parts": listOf(named), "name": typed("string")}, func(ctx context.Context, d definition, c collection) error {
				required := metav1.CauseTypeFieldValueRequired
				return d.s.all(ctx,
					ask(c.trial(c.gear("a", object{"parts": []object{{"name": "x"}, {"size": 1}}})),
						c.invalidField("a", cause(required, "spec.parts[1].name", "Required value")).check),
					ask(c.trial(c.gear("a", object{"parts": []object{{"name": nil}}})),
						c.invalidField("a", cause(required, "spec.parts[0].name", "Required value")).check),
				)
			}),
		about("CD-10/many", "all that is wrong is told in one refusal", "the user mends it at once",
			object{"parts": listOf(named), "size": typed("integer").with("maximum", 3)}, manyWrong),
		about("CD-10/nullable", "null is kept where the schema allows it, and dropped elsewhere", "null may mean something to the owner of the schema", object{
			"nil": typed("string").with("nullable", true), "text": typed("string"), "list": listOf(typed("string").with("nullable", true)),
		}, nullableFields),
		about("CD-10/combined", "allOf, anyOf, oneOf and not hold", "clients rely on the schema", object{
			"one": typed("integer").with("oneOf", []object{{"minimum": 5}, {"maximum": 7}}), "any": typed("integer").with("anyOf", []object{{"minimum": 9}, {"maximum": 1}}),
			"all": typed("integer").with("allOf", []object{{"minimum": 2}, {"maximum": 4}}), "not": typed("integer").with("not", object{"minimum": 3}),
		}, combinedSchemas),
		about("CD-10/set", "a set has each value once", "sets are merged by value",
			object{"tags": listOf(typed("string")).with("x-kubernetes-list-type", "set")}, func(ctx context.Context, d definition, c collection) error {
				twice := cause(metav1.CauseTypeFieldValueDuplicate, "spec.tags[2]", `Duplicate value: "a"`)
				return d.s.try(ctx, post(c.path(), c.gear("a", object{"tags": []string{"a", "b", "a"}})), c.invalidField("a", twice).check)
			}),
		about("CD-10/map", "a list with keys has each key once", "lists are merged by key", object{"parts": keyed()}, func(ctx context.Context, d definition, c collection) error {
			item := func(port int, name string) object { return object{"port": port, "name": name} }
			twice := cause(metav1.CauseTypeFieldValueDuplicate, "spec.parts[2]", `"port":1`)
			return d.s.all(ctx,
				ask(c.trial(c.gear("a", object{"parts": []object{item(1, "x"), item(1, "y"), item(2, "x")}})), code(201)),
				ask(c.trial(c.gear("a", object{"parts": []object{item(1, "x"), item(2, "x"), item(1, "x")}})), c.invalidField("a", twice).check),
			)
		}),
		defining(Case{
			ID: "CD-10/keys", Level: Must, Title: "the keys of a list are fields of its items that are required or have a default",
			Why: "an item without a key could not be merged", Source: docDefinition,
		}, object{"spec": record(object{"parts": listOf(record(object{"name": typed("string")})).with("x-kubernetes-list-type", "map")})}, badKeys),
		about("CD-10/status", "the status is held against the schema by its own path", "controllers make mistakes, too", object{"size": typed("integer")}, wrongStatus),
		about("CD-10/name", "the schema may hold the name of the object", "names may mean something to the owner of the schema", object{}, func(ctx context.Context, d definition, c collection) error {
			if err := d.change(ctx, set(property("metadata"), record(object{"name": typed("string").with("maxLength", 3)}))); err != nil {
				return err
			}
			want := c.invalidField("long", cause(metav1.CauseTypeTooLong, "metadata.name", "may not be more than 3")).check
			if err := d.s.until(ctx, c.trial(c.object("long")), want); err != nil {
				return err
			}
			return d.s.try(ctx, c.trial(c.object("abc")), code(201))
		}),
		about("CD-10/later", "what the schema allows is what the definition says now", "definitions grow", object{"color": typed("string").with("enum", []string{"red"})},
			func(ctx context.Context, d definition, c collection) error {
				if err := d.s.try(ctx, c.trial(c.gear("a", object{"color": "blue"})), code(422)); err != nil {
					return err
				}
				if err := d.change(ctx, set(property("spec/properties/color/enum"), []string{"red", "blue"})); err != nil {
					return err
				}
				return d.s.until(ctx, c.trial(c.gear("a", object{"color": "blue"})), code(201))
			}),
	}
}

// keyed is a list with two keys, one of which has a default.
func keyed() object {
	item := record(object{"name": typed("string"), "port": typed("integer"), "protocol": typed("string").with("default", "TCP")})
	return listOf(item.with("required", []string{"name", "port"})).with("x-kubernetes-list-type", "map").
		with("x-kubernetes-list-map-keys", []string{"name", "port", "protocol"})
}

// wrong is a value of a field of the specification, and the cause for which it is refused; "" is for one that is not.
type wrong struct {
	field string
	value any
	kind  metav1.CauseType
	says  string
}

// values tries to create an object of each value.
func (c collection) values(ctx context.Context, values ...wrong) error {
	for _, one := range values {
		expect := code(201)
		if one.kind != "" {
			expect = c.invalidField("a", cause(one.kind, "spec."+one.field, one.says)).check
		}
		name, _, _ := strings.Cut(one.field, "[")
		if err := c.s.try(ctx, c.trial(c.gear("a", object{name: one.value})), expect); err != nil {
			return err
		}
	}
	return nil
}

func refusedValues(ctx context.Context, d definition, c collection) error {
	if err := d.s.try(ctx, post(c.path(), c.gear("a", object{"size": 1})), code(201)); err != nil {
		return err
	}
	refused := refusal{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: "Gear"},
		message: c.qualifiedKind() + ` "a" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0`,
		causes:  []metav1.StatusCause{cause(metav1.CauseTypeFieldValueInvalid, "spec.size", "Invalid value: -1: spec.size in body should be greater than or equal to 0")},
	}.check
	wrong := c.gear("a", object{"size": -1})
	return d.s.all(ctx,
		ask(post(c.path(), wrong), refused),
		ask(mergePatch(c.item("a"), object{"spec": object{"size": -1}}), refused),
		ask(jsonPatch(c.item("a"), set("/spec/size", -1)), refused),
		ask(apply(c.item("a"), wrong).query("force=true"), refused),
		ask(get(c.item("a")), code(200), holds(1, "spec", "size")),
	)
}

func wrongTypes(ctx context.Context, d definition, c collection) error {
	const invalid = metav1.CauseTypeTypeInvalid
	if err := c.values(ctx,
		wrong{"text", 1, invalid, `spec.text in body must be of type string: "integer"`},
		wrong{"whole", "1", invalid, `spec.whole in body must be of type integer: "string"`},
		wrong{"number", true, invalid, `spec.number in body must be of type number: "boolean"`},
		wrong{"number", 1, "", ""},
		wrong{"flag", "true", invalid, `spec.flag in body must be of type boolean: "string"`},
		wrong{"list", "a", invalid, `spec.list in body must be of type array: "string"`},
		wrong{"list[1]", []any{"a", 1}, invalid, `spec.list[1] in body must be of type string: "integer"`},
		wrong{"map", []string{}, invalid, `spec.map in body must be of type object: "array"`},
		wrong{"record", "x", invalid, `spec.record in body must be of type object: "string"`},
	); err != nil {
		return err
	}
	fraction := cause(invalid, "spec.whole", `spec.whole in body must be of type integer: "number"`)
	if err := d.s.try(ctx, c.trial(c.gear("a", object{"whole": 1.5})), code(422), hasCause(fraction)); err != nil {
		return err
	}
	raw := `{"apiVersion":"` + c.apiVersion + `","kind":"Gear","metadata":{"name":"a"},"spec":{"whole":3.0,"text":null}}`
	return d.s.try(ctx, post(c.path(), raw).query("dryRun=All"), code(201), holds(object{"whole": 3}, "spec"))
}

func wrongNumbers(ctx context.Context, _ definition, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.values(ctx,
		wrong{"least", 0, invalid, "should be greater than or equal to 1"}, wrong{"least", 1, "", ""},
		wrong{"most", 10, invalid, "should be less than or equal to 9"}, wrong{"most", 9, "", ""},
		wrong{"step", 7, invalid, "should be a multiple of 5"}, wrong{"step", 10, "", ""},
		wrong{"above", 0, invalid, "should be greater than 0"}, wrong{"above", 0.1, "", ""},
		wrong{"below", 1, invalid, "should be less than 1"}, wrong{"below", 0.9, "", ""},
	)
}

func wrongStrings(ctx context.Context, _ definition, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.values(ctx,
		wrong{"short", "abcd", metav1.CauseTypeTooLong, "may not be more than 3 bytes"}, wrong{"short", "abc", "", ""}, wrong{"short", "äöü", "", ""},
		wrong{"long", "a", invalid, "should be at least 2 chars long"}, wrong{"long", "ab", "", ""},
		wrong{"word", "A", invalid, "should match '^[a-z]+$'"}, wrong{"word", "a", "", ""},
		wrong{"color", "green", metav1.CauseTypeFieldValueNotSupported, `Unsupported value: "green": supported values: "red", "blue"`}, wrong{"color", "blue", "", ""},
		wrong{"when", "now", metav1.CauseTypeTypeInvalid, `must be of type date-time: "now"`}, wrong{"when", "2026-01-01T00:00:00Z", "", ""},
		wrong{"ip", "1.2.3", metav1.CauseTypeTypeInvalid, `must be of type ipv4: "1.2.3"`}, wrong{"ip", "1.2.3.4", "", ""},
	)
}

func wrongSizes(ctx context.Context, _ definition, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.values(ctx,
		wrong{"few", []int{1, 2, 3}, metav1.CauseTypeTooMany, "Too many: 3: must have at most 2 items"}, wrong{"few", []int{1, 2}, "", ""},
		wrong{"some", []int{}, invalid, "should have at least 1 items"}, wrong{"some", []int{1}, "", ""},
		wrong{"map", object{"a": 1, "b": 2}, metav1.CauseTypeTooMany, "must have at most 1 item"}, wrong{"map", object{"a": 1}, "", ""},
		wrong{"full", object{}, invalid, "should have at least 1 properties"}, wrong{"full", object{"a": 1}, "", ""},
	)
}

func manyWrong(ctx context.Context, d definition, c collection) error {
	body := c.gear("a", object{"parts": []object{{"size": "big"}}, "size": 4})
	return d.s.try(ctx, post(c.path(), body), c.invalidField("a",
		cause(metav1.CauseTypeFieldValueRequired, "spec.parts[0].name", "Required value"),
		cause(metav1.CauseTypeTypeInvalid, "spec.parts[0].size", "must be of type integer"),
		cause(metav1.CauseTypeFieldValueInvalid, "spec.size", "should be less than or equal to 3"),
	).check, refusal{code: 422, reason: metav1.StatusReasonInvalid, says: `"a" is invalid: [spec.`}.check)
}

func nullableFields(ctx context.Context, d definition, c collection) error {
	nulls := c.gear("a", object{"nil": nil, "text": nil, "list": []any{nil, "x"}})
	return d.s.all(ctx,
		ask(post(c.path(), nulls), code(201), holds(object{"nil": nil, "list": []any{nil, "x"}}, "spec"), present("spec", "nil"), absent("spec", "text")),
		ask(get(c.item("a")), code(200), holds(object{"nil": nil, "list": []any{nil, "x"}}, "spec")),
		ask(jsonPatch(c.item("a"), set("/spec/text", nil)), code(200), absent("spec", "text"), present("spec", "nil")),
		ask(mergePatch(c.item("a"), object{"spec": object{"nil": nil}}), code(200), absent("spec", "nil")), // it takes the field away
	)
}

// combinedSchemas are broken by the whole value, for which the server has no field.
func combinedSchemas(ctx context.Context, d definition, c collection) error {
	of := func(field string, value int) call { return c.trial(c.gear("a", object{field: value})) }
	refused := func(says string) expectation {
		return hasCause(cause(metav1.CauseTypeFieldValueInvalid, "<nil>", says))
	}
	return d.s.all(ctx,
		ask(of("one", 6), code(422), refused(`"spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives`)),
		ask(of("any", 5), code(422), refused(`"spec.any" must validate at least one schema (anyOf)`)),
		ask(of("all", 5), code(422), refused(`"spec.all" must validate all the schemas (allOf)`)),
		ask(of("not", 3), code(422), refused(`"spec.not" must not validate the schema (not)`)),
		ask(of("one", 8), code(201)), ask(of("any", 0), code(201)), ask(of("all", 3), code(201)), ask(of("not", 2), code(201)),
	)
}

func badKeys(ctx context.Context, d definition) error {
	const at = "spec.validation.openAPIV3Schema.properties[spec].properties[parts]"
	parts := d.schema(0)["properties"].(object)["spec"].(object)["properties"].(object)["parts"].(object)
	if err := d.send(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueRequired, at+".x-kubernetes-list-map-keys", ""))); err != nil {
		return err
	}
	parts["x-kubernetes-list-map-keys"] = []string{"name"}
	if err := d.send(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueRequired, at+".items.properties[name].default", "it must have a default or be a required property"))); err != nil {
		return err
	}
	parts["x-kubernetes-list-map-keys"] = []string{"id"}
	return d.send(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueInvalid, at+".x-kubernetes-list-map-keys", "entries must all be names of item properties")))
}

func wrongStatus(ctx context.Context, d definition, c collection) error {
	if err := d.change(ctx, set(property("status"), record(object{"phase": typed("string").with("enum", []string{"on"})}))); err != nil {
		return err
	}
	if err := d.s.until(ctx, post(c.path(), c.gear("a", object{"size": 1}).with("status", object{"phase": "broken"})), code(201, 409)); err != nil {
		return err
	}
	refused := c.invalidField("a", cause(metav1.CauseTypeFieldValueNotSupported, "status.phase", `Unsupported value: "off"`)).check
	if err := d.s.until(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "off"}}), refused); err != nil {
		return err
	}
	return d.s.try(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "on"}}), code(200), holds("on", "status", "phase"))
}
