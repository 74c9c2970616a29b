package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docStructural = docCRDs + ", Specifying a structural schema"
	docPruning    = docCRDs + ", Field pruning"
)

// pruneCases returns the cases about structural schemas and pruning (CD-09).
func pruneCases() []Case {
	about := func(id, title, why string, properties object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docPruning}, properties, check)
	}
	size := objectSchema(object{"size": typeSchema("integer")})
	return []Case{
		withCRDPerCase(Case{
			ID: "CD-09", Level: Must, Title: "a schema that is not structural is rejected",
			Why: "pruning requires a type for each field", Source: docStructural,
		}, object{}, checkStructuralSchema),
		withCRDPerCase(Case{
			ID: "CD-09/absent", Level: Must, Title: "a version without a schema is rejected",
			Why: "the server could not validate its objects", Source: docStructural,
		}, object{}, func(ctx context.Context, d crdPerCase) error {
			delete(d.version(0), "schema")
			return d.create(ctx, d.invalid(cause(metav1.CauseTypeFieldValueRequired, "spec.versions[0].schema.openAPIV3Schema", "Required value")))
		}),
		withCRDPerCase(Case{
			ID: "CD-09/forbidden", Level: Must, Title: "schemas must not have references, uniqueItems, properties beside additionalProperties, or a schema for metadata other than the name",
			Why: "the server does not implement them", Source: docStructural,
		}, object{}, checkForbiddenInSchemas),
		withCRDPerCase(Case{
			ID: "CD-09/preserveUnknownFields", Level: Must, Title: "a CRD with preserveUnknownFields is rejected",
			Why: "the field belongs to a removed version of the API", Source: docPruning,
		}, object{}, func(ctx context.Context, d crdPerCase) error {
			d.spec()["preserveUnknownFields"] = true
			return d.create(ctx, d.invalid(cause(metav1.CauseTypeFieldValueInvalid, "spec.preserveUnknownFields", "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")))
		}),
		about("CD-09/write", "every kind of write drops fields that are not in the schema", "the response shows what the server decoded",
			object{"spec": size}, checkPrunedOnWrite),
		about("CD-09/read", "a field that was removed from the schema is not returned, in lists and watches either, and is removed at the next write",
			"clients see all objects in one form", object{"spec": objectSchema(object{"size": typeSchema("integer"), "color": typeSchema("string")})}, checkPrunedOnRead),
		about("CD-09/again", "a field that is added to the schema again is returned as stored", "an error in a schema can be reverted",
			object{"spec": objectSchema(object{"color": typeSchema("string")})}, checkFieldShownAgain),
		about("CD-09/preserve", "x-kubernetes-preserve-unknown-fields keeps unknown fields, and listed fields still have their schema",
			"the owner of the schema allows fields that it does not list", object{"spec": anySchema().with("properties", object{"inner": size})}, checkPreservedFields),
		about("CD-09/nested", "items of lists and values of maps are pruned, too", "unknown fields are possible at every level",
			object{"spec": objectSchema(object{"list": arraySchema(size), "map": mapSchema(size), "any": mapSchema(anySchema())})}, checkNestedPruning),
		about("CD-09/metadata", "unknown fields of the metadata are dropped, and apiVersion, kind and metadata need no schema", "every object has them",
			object{}, func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expect(ctx, post(c.path(), c.object("a").withMeta("bogus", 1).withLabel("a", "b").with("spec", object{"x": 1})), code(201),
					kind(c.apiVersion, "Gear"), valueAt("b", "metadata", "labels", "a"), valueAt(nil, "metadata", "bogus"), valueAt(nil, "spec"))
			}),
		about("CD-09/embedded", "an embedded object keeps its apiVersion, kind and metadata, and unknown metadata fields are dropped",
			"templates are complete objects", object{"spec": objectSchema(object{"template": embeddedSchema()})}, checkEmbeddedObjects),
		about("CD-09/embedded/invalid", "an embedded object requires a kind, an apiVersion and valid metadata",
			"a controller may create it later", object{"spec": objectSchema(object{"template": embeddedSchema()})}, checkInvalidEmbedded),
		about("CD-09/status", "the status is pruned at its own path, and the main path ignores it", "the schema describes the complete object",
			object{"spec": size, "status": objectSchema(object{"phase": typeSchema("string")})}, checkPrunedStatus),
		about("CD-09/intOrString", "an int-or-string field accepts only integers and strings", "ports are numbers or names",
			object{"spec": objectSchema(object{"port": object{"x-kubernetes-int-or-string": true}})}, checkIntOrString),
	}
}

// embeddedSchema returns the schema of an embedded object.
func embeddedSchema() object {
	return objectSchema(object{"spec": objectSchema(object{"x": typeSchema("integer")})}).with("x-kubernetes-embedded-resource", true)
}

func checkStructuralSchema(ctx context.Context, d crdPerCase) error {
	const at = "spec.validation.openAPIV3Schema"
	required, forbidden := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeForbidden
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{object{}, cause(required, at+".type", "must not be empty at the root")},
		{objectSchema(object{"spec": object{}}), cause(required, at+".properties[spec].type", "must not be empty for specified object fields")},
		{objectSchema(object{"spec": typeSchema("array").with("items", object{})}), cause(required, at+".properties[spec].items.type", "must not be empty for specified array items")},
		{objectSchema(object{"spec": typeSchema("string").with("anyOf", []object{{"type": "string"}})}), cause(forbidden, at+".properties[spec].anyOf[0].type", "must be empty to be structural")},
		{objectSchema(object{"spec": mapSchema(object{})}), cause(required, at+".properties[spec].additionalProperties.type", "must not be empty for specified object fields")},
	} {
		d.version(0)["schema"] = object{"openAPIV3Schema": one.schema}
		if err := d.create(ctx, d.invalid(one.cause)); err != nil {
			return err
		}
	}
	return nil
}

func checkForbiddenInSchemas(ctx context.Context, d crdPerCase) error {
	const at = "spec.validation.openAPIV3Schema"
	forbidden := metav1.CauseTypeForbidden
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{object{"spec": object{"$ref": "#/a"}}, cause(forbidden, at+".properties[spec].$ref", "$ref is not supported")},
		{object{"spec": arraySchema(typeSchema("string")).with("uniqueItems", true)}, cause(forbidden, at+".properties[spec].uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")},
		{object{"spec": mapSchema(typeSchema("string")).with("properties", object{"x": typeSchema("string")})}, cause(forbidden, at+".properties[spec].additionalProperties", "additionalProperties and properties are mutual exclusive")},
		{object{"metadata": objectSchema(object{"labels": typeSchema("object")})}, cause(forbidden, at+".properties[metadata]", "must not specify anything other than name and generateName")},
	} {
		d.schema(0)["properties"] = one.schema
		if err := d.create(ctx, failure{code: 422, reason: metav1.StatusReasonInvalid}.check, hasCause(one.cause)); err != nil {
			return err
		}
	}
	return nil
}

// hasCause expects a Status with this cause and possibly others.
func hasCause(want metav1.StatusCause) expectation {
	return func(r *response) error {
		var got metav1.Status
		if err := r.decode(&got); err != nil {
			return err
		}
		if got.Details == nil {
			return r.errorf("expected details")
		}
		var last error
		for _, one := range got.Details.Causes {
			if last = matchCauses([]metav1.StatusCause{want}, []metav1.StatusCause{one}); last == nil {
				return nil
			}
		}
		return last
	}
}

func checkPrunedOnWrite(ctx context.Context, d crdPerCase, c collection) error {
	pruned := []expectation{valueAt(nil, "bogus"), valueAt(nil, "spec", "bogus")}
	with := func(size int) object { return c.withSpec("a", object{"size": size, "bogus": 1}).with("bogus", 1) }
	is := func(codes int, size int) []expectation {
		return append([]expectation{code(codes), valueAt(object{"size": size}, "spec")}, pruned...)
	}
	var o metav1.PartialObjectMetadata
	r, err := d.s.do(ctx, post(c.path(), with(1)), is(201, 1)...)
	if err != nil {
		return err
	}
	if err := r.decode(&o); err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(put(c.item("a"), with(2).withMeta("resourceVersion", o.ResourceVersion)), is(200, 2)...),
		send(mergePatch(c.item("a"), object{"bogus": 1, "spec": object{"size": 3, "bogus": 1}}), is(200, 3)...),
		send(jsonPatch(c.item("a"), setOp("/spec/size", 4), setOp("/bogus", 1)), is(200, 4)...),
		send(get(c.item("a")), is(200, 4)...),
	)
}

func checkPrunedOnRead(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"size": 1, "color": "red"})), code(201), valueAt("red", "spec", "color")); err != nil {
		return err
	}
	if err := d.patch(ctx, object{"op": "remove", "path": propertyPath("spec/properties/color")}); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(c.item("a")), code(200), valueAt(object{"size": 1}, "spec")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(c.path()), code(200), valueAt(object{"size": 1}, "items", "0", "spec")); err != nil {
		return err
	}
	if err := expectFirstEvent(ctx, c, `{"size":1}`); err != nil {
		return err
	}
	if err := d.s.expect(ctx, mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200), valueAt(object{"size": 2}, "spec")); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp(propertyPath("spec/properties/color"), typeSchema("string").with("enum", []string{"blue"}))); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, c.dryRunCreate(c.withSpec("b", object{"color": "red"})), code(422)); err != nil { // until the new schema is in effect
		return err
	}
	return d.s.expect(ctx, get(c.item("a")), code(200), valueAt(object{"size": 2}, "spec"))
}

// expectFirstEvent opens a watch, and expects an object with this spec in the first event. It
// retries until the server is ready for watches.
func expectFirstEvent(ctx context.Context, c collection, spec string) error {
	return poll(ctx, func(ctx context.Context) error {
		w, err := c.watch(ctx, "?watch=1")
		if err != nil {
			return err
		}
		defer w.close()
		e, err := w.want("ADDED", "a")
		if err != nil {
			return err
		}
		r := response{method: w.method, url: w.url, code: 200, header: w.response.Header, body: e.Object}
		return r.expect(func(r *response) error {
			var o struct{ Spec any }
			if err := r.decode(&o); err != nil {
				return err
			}
			var want any
			if err := (&response{body: []byte(spec)}).decode(&want); err != nil {
				return err
			}
			return valueAt(want, "spec")(r)
		})
	})
}

func checkFieldShownAgain(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"color": "red"})), code(201)); err != nil {
		return err
	}
	if err := d.patch(ctx, object{"op": "remove", "path": propertyPath("spec/properties/color")}); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(c.item("a")), code(200), valueAt(object{}, "spec")); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp(propertyPath("spec/properties"), object{"color": typeSchema("string")})); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(c.item("a")), code(200), valueAt(object{"color": "red"}, "spec"))
}

func checkPreservedFields(ctx context.Context, d crdPerCase, c collection) error {
	spec := object{"any": []any{object{"x": 1}, nil}, "inner": object{"size": 1, "bogus": 1}}
	return d.s.expectAll(ctx,
		send(post(c.path(), c.withSpec("a", spec)), code(201), valueAt(object{"any": []any{object{"x": 1}, nil}, "inner": object{"size": 1}}, "spec")),
		send(post(c.path(), c.withSpec("b", object{"inner": object{"size": "large"}})),
			c.invalidField("b", cause(metav1.CauseTypeTypeInvalid, "spec.inner.size", "must be of type integer")).check),
	)
}

func checkNestedPruning(ctx context.Context, d crdPerCase, c collection) error {
	item := object{"size": 1, "bogus": 1}
	return d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"list": []object{item}, "map": object{"k": item}, "any": object{"k": item}})), code(201),
		valueAt(object{"list": []object{{"size": 1}}, "map": object{"k": object{"size": 1}}, "any": object{"k": item}}, "spec"))
}

func checkEmbeddedObjects(ctx context.Context, d crdPerCase, c collection) error {
	template := newObject("v1", "Thing", "t").withLabel("a", "b").withMeta("bogus", 1).with("bogus", 1).with("spec", object{"x": 1, "bogus": 1})
	return d.s.expect(ctx, post(c.path(), c.withSpec("a", object{"template": template})), code(201),
		valueAt(newObject("v1", "Thing", "t").withLabel("a", "b").with("spec", object{"x": 1}), "spec", "template"))
}

func checkInvalidEmbedded(ctx context.Context, d crdPerCase, c collection) error {
	required, invalid := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeFieldValueInvalid
	in := func(template object) call { return post(c.path(), c.withSpec("a", object{"template": template})) }
	return d.s.expectAll(ctx,
		send(in(object{"metadata": object{"name": "t"}}), c.invalidField("a",
			cause(required, "spec.template.apiVersion", ""), cause(required, "spec.template.kind", "")).check),
		send(in(newObject("v1", "Thing", "a/b")), c.invalidField("a", cause(invalid, "spec.template.metadata.name", "may not contain '/'")).check),
		send(in(newObject("v1", "Thing", "t").withLabel("-", "x")), c.invalidField("a", cause(invalid, "spec.template.metadata.labels", "name part must consist of")).check),
	)
}

func checkPrunedStatus(ctx context.Context, d crdPerCase, c collection) error {
	status := object{"phase": "on", "bogus": 1}
	return d.s.expectAll(ctx,
		send(post(c.path(), c.withSpec("a", object{"size": 1}).with("status", status)), code(201), valueAt(nil, "status")),
		send(mergePatch(c.item("a")+"/status", object{"status": status, "spec": object{"size": 2}}), code(200),
			valueAt(object{"phase": "on"}, "status"), valueAt(object{"size": 1}, "spec")),
		send(mergePatch(c.item("a"), object{"status": object{"phase": "off"}}), code(200), valueAt(object{"phase": "on"}, "status")),
	)
}

func checkIntOrString(ctx context.Context, d crdPerCase, c collection) error {
	with := func(port any) object { return c.withSpec("a", object{"port": port}) }
	return d.s.expectAll(ctx,
		send(c.dryRunCreate(with(80)), code(201), valueAt(80, "spec", "port")),
		send(c.dryRunCreate(with("http")), code(201), valueAt("http", "spec", "port")),
		send(c.dryRunCreate(with(true)), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
		send(c.dryRunCreate(with(1.5)), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
		send(c.dryRunCreate(with(object{})), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
	)
}
