package conformance

import (
	"context"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docValidation = docCRDs + ", Validation"

// valueCases returns the cases about values that the schema does not allow (CD-10).
func valueCases() []Case {
	about := func(id, title, why string, spec object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docValidation}, object{"spec": objectSchema(spec)}, check)
	}
	itemSchema := objectSchema(object{"name": typeSchema("string"), "size": typeSchema("integer")}).with("required", []string{"name"})
	return []Case{
		about("CD-10", "a value that violates the schema is rejected with the path of the field, for every kind of write", "the user can find the error",
			object{"size": typeSchema("integer").with("minimum", 0)}, checkInvalidValues),
		about("CD-10/type", "a value of another type is rejected, null is dropped if the field is not nullable and has no default, and 3.0 is an integer",
			"clients rely on the types of the schema", object{
				"text": typeSchema("string"), "whole": typeSchema("integer"), "number": typeSchema("number"), "flag": typeSchema("boolean"),
				"list": arraySchema(typeSchema("string")), "map": mapSchema(typeSchema("string")), "record": objectSchema(object{"x": typeSchema("string")}),
			}, checkTypes),
		about("CD-10/whole", "a whole number that is written as 2.0 or 1e3 is stored as an integer: writing back what was read changes nothing",
			"controllers write back objects that they have read", object{
				"whole": typeSchema("integer"), "half": typeSchema("number").with("multipleOf", 0.5), "text": typeSchema("string"),
			}, checkWholeNumbers),
		about("CD-10/number", "minimum, maximum, their exclusive forms and multipleOf are enforced", "clients rely on the schema", object{
			"least": typeSchema("integer").with("minimum", 1), "most": typeSchema("integer").with("maximum", 9), "step": typeSchema("integer").with("multipleOf", 5),
			"above": typeSchema("number").with("minimum", 0).with("exclusiveMinimum", true), "below": typeSchema("number").with("maximum", 1).with("exclusiveMaximum", true),
		}, checkNumbers),
		about("CD-10/string", "lengths, patterns, enums and formats are enforced", "clients rely on the schema", object{
			"short": typeSchema("string").with("maxLength", 3), "long": typeSchema("string").with("minLength", 2), "word": typeSchema("string").with("pattern", "^[a-z]+$"),
			"color": typeSchema("string").with("enum", []string{"red", "blue"}), "when": typeSchema("string").with("format", "date-time"), "ip": typeSchema("string").with("format", "ipv4"),
		}, checkStrings),
		about("CD-10/sizes", "the numbers of items and properties are enforced", "clients rely on the schema", object{
			"few": arraySchema(typeSchema("integer")).with("maxItems", 2), "some": arraySchema(typeSchema("integer")).with("minItems", 1),
			"map": mapSchema(typeSchema("integer")).with("maxProperties", 1), "full": mapSchema(typeSchema("integer")).with("minProperties", 1),
		}, checkSizes),
		about("CD-10/required", "a missing required field is rejected with its path, in lists too", "controllers read it without a check",
			object{"parts": arraySchema(itemSchema), "name": typeSchema("string")}, func(ctx context.Context, d crdPerCase, c collection) error {
				required := metav1.CauseTypeFieldValueRequired
				return d.s.expectAll(ctx,
					send(c.dryRunCreate(c.withSpec("a", object{"parts": []object{{"name": "x"}, {"size": 1}}})),
						c.invalidField("a", cause(required, "spec.parts[1].name", "Required value")).check),
					send(c.dryRunCreate(c.withSpec("a", object{"parts": []object{{"name": nil}}})),
						c.invalidField("a", cause(required, "spec.parts[0].name", "Required value")).check),
				)
			}),
		about("CD-10/many", "all errors are reported in one response", "the user can fix them at once",
			object{"parts": arraySchema(itemSchema), "size": typeSchema("integer").with("maximum", 3)}, checkManyErrors),
		about("CD-10/nullable", "null is kept if the schema allows it, and dropped otherwise", "null may have a meaning for the owner of the schema", object{
			"nil": typeSchema("string").with("nullable", true), "text": typeSchema("string"), "list": arraySchema(typeSchema("string").with("nullable", true)),
		}, checkNullableFields),
		about("CD-10/combined", "allOf, anyOf, oneOf and not are enforced", "clients rely on the schema", object{
			"one": typeSchema("integer").with("oneOf", []object{{"minimum": 5}, {"maximum": 7}}), "any": typeSchema("integer").with("anyOf", []object{{"minimum": 9}, {"maximum": 1}}),
			"all": typeSchema("integer").with("allOf", []object{{"minimum": 2}, {"maximum": 4}}), "not": typeSchema("integer").with("not", object{"minimum": 3}),
		}, checkCombinedSchemas),
		about("CD-10/set", "a set has no duplicate values", "sets are merged by value",
			object{"tags": arraySchema(typeSchema("string")).with("x-kubernetes-list-type", "set")}, func(ctx context.Context, d crdPerCase, c collection) error {
				twice := cause(metav1.CauseTypeFieldValueDuplicate, "spec.tags[2]", `Duplicate value: "a"`)
				return d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"tags": []string{"a", "b", "a"}})), c.invalidField("a", twice).check)
			}),
		about("CD-10/map", "a list with keys has no duplicate keys", "lists are merged by key", object{"parts": keyedListSchema()}, func(ctx context.Context, d crdPerCase, c collection) error {
			item := func(port int, name string) object { return object{"port": port, "name": name} }
			twice := cause(metav1.CauseTypeFieldValueDuplicate, "spec.parts[2]", `"port":1`)
			return d.s.expectAll(ctx,
				send(c.dryRunCreate(c.withSpec("a", object{"parts": []object{item(1, "x"), item(1, "y"), item(2, "x")}})), code(201)),
				send(c.dryRunCreate(c.withSpec("a", object{"parts": []object{item(1, "x"), item(2, "x"), item(1, "x")}})), c.invalidField("a", twice).check),
			)
		}),
		withCRDPerCase(Case{
			ID: "CD-10/keys", Level: Must, Title: "the keys of a list must be fields of its items that are required or have a default",
			Why: "an item without a key could not be merged", Source: docCRDValidation,
		}, object{"spec": objectSchema(object{"parts": arraySchema(objectSchema(object{"name": typeSchema("string")})).with("x-kubernetes-list-type", "map")})}, checkListMapKeys),
		about("CD-10/status", "the status is validated at its own path", "controllers make errors, too", object{"size": typeSchema("integer")}, checkStatusSchema),
		about("CD-10/name", "the schema may restrict the name of the object", "names may have a meaning for the owner of the schema", object{}, func(ctx context.Context, d crdPerCase, c collection) error {
			if err := d.patch(ctx, setOp(propertyPath("metadata"), objectSchema(object{"name": typeSchema("string").with("maxLength", 3)}))); err != nil {
				return err
			}
			want := c.invalidField("long", cause(metav1.CauseTypeTooLong, "metadata.name", "may not be more than 3")).check
			if err := d.s.waitFor(ctx, c.dryRunCreate(c.object("long")), want); err != nil {
				return err
			}
			return d.s.expect(ctx, c.dryRunCreate(c.object("abc")), code(201))
		}),
		about("CD-10/later", "objects are validated by the current schema", "schemas change", object{"color": typeSchema("string").with("enum", []string{"red"})},
			func(ctx context.Context, d crdPerCase, c collection) error {
				if err := d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"color": "blue"})), code(422)); err != nil {
					return err
				}
				if err := d.patch(ctx, setOp(propertyPath("spec/properties/color/enum"), []string{"red", "blue"})); err != nil {
					return err
				}
				return d.s.waitFor(ctx, c.dryRunCreate(c.withSpec("a", object{"color": "blue"})), code(201))
			}),
	}
}

// keyedListSchema returns the schema of a list with two keys, one of which has a default.
func keyedListSchema() object {
	item := objectSchema(object{"name": typeSchema("string"), "port": typeSchema("integer"), "protocol": typeSchema("string").with("default", "TCP")})
	return arraySchema(item.with("required", []string{"name", "port"})).with("x-kubernetes-list-type", "map").
		with("x-kubernetes-list-map-keys", []string{"name", "port", "protocol"})
}

// valueTest has a value for a field of the spec and the cause of its error, or "" if it is valid.
type valueTest struct {
	field   string
	value   any
	kind    metav1.CauseType
	message string
}

// expectValues sends a create for each value.
func (c collection) expectValues(ctx context.Context, values ...valueTest) error {
	for _, one := range values {
		expect := code(201)
		if one.kind != "" {
			expect = c.invalidField("a", cause(one.kind, "spec."+one.field, one.message)).check
		}
		name, _, _ := strings.Cut(one.field, "[")
		if err := c.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{name: one.value})), expect); err != nil {
			return err
		}
	}
	return nil
}

func checkInvalidValues(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"size": 1})), code(201)); err != nil {
		return err
	}
	rejected := failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: "Gear"},
		message: c.groupKind() + ` "a" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0`,
		causes:  []metav1.StatusCause{cause(metav1.CauseTypeFieldValueInvalid, "spec.size", "Invalid value: -1: spec.size in body should be greater than or equal to 0")},
	}.check
	wrong := c.withSpec("a", object{"size": -1})
	return d.s.expectAll(ctx,
		send(post(c.path(), wrong), rejected),
		send(mergePatch(c.item("a"), object{"spec": object{"size": -1}}), rejected),
		send(jsonPatch(c.item("a"), setOp("/spec/size", -1)), rejected),
		send(apply(c.item("a"), wrong).withQuery("force=true"), rejected),
		send(get(c.item("a")), code(200), valueAt(1, "spec", "size")),
	)
}

func checkTypes(ctx context.Context, d crdPerCase, c collection) error {
	const invalid = metav1.CauseTypeTypeInvalid
	if err := c.expectValues(ctx,
		valueTest{"text", 1, invalid, `spec.text in body must be of type string: "integer"`},
		valueTest{"whole", "1", invalid, `spec.whole in body must be of type integer: "string"`},
		valueTest{"number", true, invalid, `spec.number in body must be of type number: "boolean"`},
		valueTest{"number", 1, "", ""},
		valueTest{"flag", "true", invalid, `spec.flag in body must be of type boolean: "string"`},
		valueTest{"list", "a", invalid, `spec.list in body must be of type array: "string"`},
		valueTest{"list[1]", []any{"a", 1}, invalid, `spec.list[1] in body must be of type string: "integer"`},
		valueTest{"map", []string{}, invalid, `spec.map in body must be of type object: "array"`},
		valueTest{"record", "x", invalid, `spec.record in body must be of type object: "string"`},
	); err != nil {
		return err
	}
	fraction := cause(invalid, "spec.whole", `spec.whole in body must be of type integer: "number"`)
	if err := d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"whole": 1.5})), code(422), hasCause(fraction)); err != nil {
		return err
	}
	raw := `{"apiVersion":"` + c.apiVersion + `","kind":"Gear","metadata":{"name":"a"},"spec":{"whole":3.0,"text":null}}`
	return d.s.expect(ctx, post(c.path(), raw).withQuery("dryRun=All"), code(201), valueAt(object{"whole": 3}, "spec"))
}

func checkNumbers(ctx context.Context, _ crdPerCase, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.expectValues(ctx,
		valueTest{"least", 0, invalid, "should be greater than or equal to 1"}, valueTest{"least", 1, "", ""},
		valueTest{"most", 10, invalid, "should be less than or equal to 9"}, valueTest{"most", 9, "", ""},
		valueTest{"step", 7, invalid, "should be a multiple of 5"}, valueTest{"step", 10, "", ""},
		valueTest{"above", 0, invalid, "should be greater than 0"}, valueTest{"above", 0.1, "", ""},
		valueTest{"below", 1, invalid, "should be less than 1"}, valueTest{"below", 0.9, "", ""},
	)
}

func checkStrings(ctx context.Context, _ crdPerCase, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.expectValues(ctx,
		valueTest{"short", "abcd", metav1.CauseTypeTooLong, "may not be more than 3 bytes"}, valueTest{"short", "abc", "", ""}, valueTest{"short", "äöü", "", ""},
		valueTest{"long", "a", invalid, "should be at least 2 chars long"}, valueTest{"long", "ab", "", ""},
		valueTest{"word", "A", invalid, "should match '^[a-z]+$'"}, valueTest{"word", "a", "", ""},
		valueTest{"color", "green", metav1.CauseTypeFieldValueNotSupported, `Unsupported value: "green": supported values: "red", "blue"`}, valueTest{"color", "blue", "", ""},
		valueTest{"when", "now", metav1.CauseTypeTypeInvalid, `must be of type date-time: "now"`}, valueTest{"when", "2026-01-01T00:00:00Z", "", ""},
		valueTest{"ip", "1.2.3", metav1.CauseTypeTypeInvalid, `must be of type ipv4: "1.2.3"`}, valueTest{"ip", "1.2.3.4", "", ""},
	)
}

func checkSizes(ctx context.Context, _ crdPerCase, c collection) error {
	const invalid = metav1.CauseTypeFieldValueInvalid
	return c.expectValues(ctx,
		valueTest{"few", []int{1, 2, 3}, metav1.CauseTypeTooMany, "Too many: 3: must have at most 2 items"}, valueTest{"few", []int{1, 2}, "", ""},
		valueTest{"some", []int{}, invalid, "should have at least 1 items"}, valueTest{"some", []int{1}, "", ""},
		valueTest{"map", object{"a": 1, "b": 2}, metav1.CauseTypeTooMany, "must have at most 1 item"}, valueTest{"map", object{"a": 1}, "", ""},
		valueTest{"full", object{}, invalid, "should have at least 1 properties"}, valueTest{"full", object{"a": 1}, "", ""},
	)
}

func checkManyErrors(ctx context.Context, d crdPerCase, c collection) error {
	body := c.withSpec("a", object{"parts": []object{{"size": "big"}}, "size": 4})
	return d.s.expect(ctx, post(c.path(), body), c.invalidField("a",
		cause(metav1.CauseTypeFieldValueRequired, "spec.parts[0].name", "Required value"),
		cause(metav1.CauseTypeTypeInvalid, "spec.parts[0].size", "must be of type integer"),
		cause(metav1.CauseTypeFieldValueInvalid, "spec.size", "should be less than or equal to 3"),
	).check, failure{code: 422, reason: metav1.StatusReasonInvalid, contains: `"a" is invalid: [spec.`}.check)
}

func checkNullableFields(ctx context.Context, d crdPerCase, c collection) error {
	nulls := c.withSpec("a", object{"nil": nil, "text": nil, "list": []any{nil, "x"}})
	return d.s.expectAll(ctx,
		send(post(c.path(), nulls), code(201), valueAt(object{"nil": nil, "list": []any{nil, "x"}}, "spec"), hasField("spec", "nil"), noField("spec", "text")),
		send(get(c.item("a")), code(200), valueAt(object{"nil": nil, "list": []any{nil, "x"}}, "spec")),
		send(jsonPatch(c.item("a"), setOp("/spec/text", nil)), code(200), noField("spec", "text"), hasField("spec", "nil")),
		send(mergePatch(c.item("a"), object{"spec": object{"nil": nil}}), code(200), noField("spec", "nil")), // null removes the field
	)
}

// checkCombinedSchemas sends values that do not match oneOf, anyOf, allOf or not. The errors are
// about the whole value, so their field is "<nil>".
func checkCombinedSchemas(ctx context.Context, d crdPerCase, c collection) error {
	of := func(field string, value int) call { return c.dryRunCreate(c.withSpec("a", object{field: value})) }
	rejected := func(text string) expectation {
		return hasCause(cause(metav1.CauseTypeFieldValueInvalid, "<nil>", text))
	}
	return d.s.expectAll(ctx,
		send(of("one", 6), code(422), rejected(`"spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives`)),
		send(of("any", 5), code(422), rejected(`"spec.any" must validate at least one schema (anyOf)`)),
		send(of("all", 5), code(422), rejected(`"spec.all" must validate all the schemas (allOf)`)),
		send(of("not", 3), code(422), rejected(`"spec.not" must not validate the schema (not)`)),
		send(of("one", 8), code(201)), send(of("any", 0), code(201)), send(of("all", 3), code(201)), send(of("not", 2), code(201)),
	)
}

func checkListMapKeys(ctx context.Context, d crdPerCase) error {
	const at = "spec.validation.openAPIV3Schema.properties[spec].properties[parts]"
	parts := d.schema(0)["properties"].(object)["spec"].(object)["properties"].(object)["parts"].(object)
	if err := d.create(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueRequired, at+".x-kubernetes-list-map-keys", ""))); err != nil {
		return err
	}
	parts["x-kubernetes-list-map-keys"] = []string{"name"}
	if err := d.create(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueRequired, at+".items.properties[name].default", "it must have a default or be a required property"))); err != nil {
		return err
	}
	parts["x-kubernetes-list-map-keys"] = []string{"id"}
	return d.create(ctx, code(422), hasCause(cause(metav1.CauseTypeFieldValueInvalid, at+".x-kubernetes-list-map-keys", "entries must all be names of item properties")))
}

func checkWholeNumbers(ctx context.Context, d crdPerCase, c collection) error {
	for name, size := range sortedByKey(map[string]int{"small": 1, "large": 100_000}) { // a server may cache small objects only
		body, err := json.Marshal(c.withSpec(name, object{"whole": 1, "half": 2, "text": strings.Repeat("x", size)}))
		if err != nil {
			return err
		}
		text := strings.NewReplacer(`"whole":1`, `"whole":1e3`, `"half":2`, `"half":2.0`).Replace(string(body))
		created, err := d.s.do(ctx, post(c.path(), text), code(201), valueAt(1000, "spec", "whole"), valueAt(2, "spec", "half"))
		if err != nil {
			return err
		}
		var o metav1.PartialObjectMetadata
		if err := created.decode(&o); err != nil {
			return err
		}
		if err := d.s.expect(ctx, put(c.item(name), string(created.body)), code(200), atResourceVersion(o.ResourceVersion), generation(1)); err != nil {
			return err
		}
	}
	return nil
}

func checkStatusSchema(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.patch(ctx, setOp(propertyPath("status"), objectSchema(object{"phase": typeSchema("string").with("enum", []string{"on"})}))); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, post(c.path(), c.withSpec("a", object{"size": 1}).with("status", object{"phase": "broken"})), code(201, 409)); err != nil {
		return err
	}
	rejected := c.invalidField("a", cause(metav1.CauseTypeFieldValueNotSupported, "status.phase", `Unsupported value: "off"`)).check
	if err := d.s.waitFor(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "off"}}), rejected); err != nil {
		return err
	}
	return d.s.expect(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"phase": "on"}}), code(200), valueAt("on", "status", "phase"))
}
