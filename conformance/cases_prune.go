package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docStructural = docDefinitions + ", Specifying a structural schema"
	docPruning    = docDefinitions + ", Field pruning"
)

// pruneCases are about schemas that have to be structural, and about what they do not name (CD-09).
func pruneCases() []Case {
	about := func(id, title, why string, properties object, check gearCheck) Case {
		return onGears(Case{ID: id, Level: Must, Title: title, Why: why, Source: docPruning}, properties, check)
	}
	size := record(object{"size": typed("integer")})
	return []Case{
		defining(Case{
			ID: "CD-09", Level: Must, Title: "a schema that is not structural is refused",
			Why: "without a type for each field nothing can be pruned", Source: docStructural,
		}, object{}, notStructural),
		defining(Case{
			ID: "CD-09/absent", Level: Must, Title: "a version without a schema is refused",
			Why: "nothing would be known of its objects", Source: docStructural,
		}, object{}, func(ctx context.Context, d definition) error {
			delete(d.version(0), "schema")
			return d.send(ctx, d.invalid(cause(metav1.CauseTypeFieldValueRequired, "spec.versions[0].schema.openAPIV3Schema", "Required value")))
		}),
		defining(Case{
			ID: "CD-09/forbidden", Level: Must, Title: "schemas have no references, no uniqueItems, no properties beside additionalProperties and no schema of the metadata but for the name",
			Why: "they would promise what the server does not do", Source: docStructural,
		}, object{}, forbiddenInSchemas),
		defining(Case{
			ID: "CD-09/preserveUnknownFields", Level: Must, Title: "a definition that keeps all unknown fields is refused",
			Why: "it belongs to a version of the API that is gone", Source: docPruning,
		}, object{}, func(ctx context.Context, d definition) error {
			d.spec()["preserveUnknownFields"] = true
			return d.send(ctx, d.invalid(cause(metav1.CauseTypeFieldValueInvalid, "spec.preserveUnknownFields", "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")))
		}),
		about("CD-09/write", "fields that the schema does not name are dropped by every kind of write", "what comes back is what the server understood",
			object{"spec": size}, prunedOnWrite),
		about("CD-09/read", "a field that the schema does not name any more is not shown, in lists and watches neither, and goes at the next write",
			"clients see one form of all objects", object{"spec": record(object{"size": typed("integer"), "color": typed("string")})}, prunedOnRead),
		about("CD-09/again", "a field that the schema names again is shown as it was stored", "a mistake in a schema can be taken back",
			object{"spec": record(object{"color": typed("string")})}, shownAgain),
		about("CD-09/preserve", "within x-kubernetes-preserve-unknown-fields all is kept, and what is named there still has its schema",
			"the owner of the schema knows of fields that it does not name", object{"spec": free().with("properties", object{"inner": size})}, preservedFields),
		about("CD-09/nested", "items of lists and values of maps are pruned, too", "unknown fields may stand anywhere",
			object{"spec": record(object{"list": listOf(size), "map": mapOf(size), "any": mapOf(free())})}, prunedWithin),
		about("CD-09/metadata", "unknown fields of the metadata are dropped, and apiVersion, kind and metadata need no schema", "every object has them",
			object{}, func(ctx context.Context, d definition, c collection) error {
				return d.s.try(ctx, post(c.path(), c.object("a").meta("bogus", 1).label("a", "b").with("spec", object{"x": 1})), code(201),
					kind(c.apiVersion, "Gear"), holds("b", "metadata", "labels", "a"), holds(nil, "metadata", "bogus"), holds(nil, "spec"))
			}),
		about("CD-09/embedded", "an embedded object keeps its apiVersion, kind and metadata, whose unknown fields are dropped",
			"templates are objects", object{"spec": record(object{"template": embedded()})}, embeddedObjects),
		about("CD-09/embedded/invalid", "an embedded object needs a kind and an apiVersion, and metadata that would do for an object",
			"it is to be created one day", object{"spec": record(object{"template": embedded()})}, embeddedInvalid),
		about("CD-09/status", "the status is pruned at its own path, and of the main path nothing is taken", "the schema is that of the whole object",
			object{"spec": size, "status": record(object{"phase": typed("string")})}, prunedStatus),
		about("CD-09/intOrString", "a field that is int or string takes both, and nothing else", "ports have a number or a name",
			object{"spec": record(object{"port": object{"x-kubernetes-int-or-string": true}})}, intOrString),
	}
}

// embedded is the schema of an object within the object.
func embedded() object {
	return record(object{"spec": record(object{"x": typed("integer")})}).with("x-kubernetes-embedded-resource", true)
}

func notStructural(ctx context.Context, d definition) error {
	const at = "spec.validation.openAPIV3Schema"
	required, forbidden := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeForbidden
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{object{}, cause(required, at+".type", "must not be empty at the root")},
		{record(object{"spec": object{}}), cause(required, at+".properties[spec].type", "must not be empty for specified object fields")},
		{record(object{"spec": typed("array").with("items", object{})}), cause(required, at+".properties[spec].items.type", "must not be empty for specified array items")},
		{record(object{"spec": typed("string").with("anyOf", []object{{"type": "string"}})}), cause(forbidden, at+".properties[spec].anyOf[0].type", "must be empty to be structural")},
		{record(object{"spec": mapOf(object{})}), cause(required, at+".properties[spec].additionalProperties.type", "must not be empty for specified object fields")},
	} {
		d.version(0)["schema"] = object{"openAPIV3Schema": one.schema}
		if err := d.send(ctx, d.invalid(one.cause)); err != nil {
			return err
		}
	}
	return nil
}

func forbiddenInSchemas(ctx context.Context, d definition) error {
	const at = "spec.validation.openAPIV3Schema"
	forbidden := metav1.CauseTypeForbidden
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{object{"spec": object{"$ref": "#/a"}}, cause(forbidden, at+".properties[spec].$ref", "$ref is not supported")},
		{object{"spec": listOf(typed("string")).with("uniqueItems", true)}, cause(forbidden, at+".properties[spec].uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")},
		{object{"spec": mapOf(typed("string")).with("properties", object{"x": typed("string")})}, cause(forbidden, at+".properties[spec].additionalProperties", "additionalProperties and properties are mutual exclusive")},
		{object{"metadata": record(object{"labels": typed("object")})}, cause(forbidden, at+".properties[metadata]", "must not specify anything other than name and generateName")},
	} {
		d.schema(0)["properties"] = one.schema
		if err := d.send(ctx, refusal{code: 422, reason: metav1.StatusReasonInvalid}.check, hasCause(one.cause)); err != nil {
			return err
		}
	}
	return nil
}

// hasCause expects this cause of a refusal, among others.
func hasCause(want metav1.StatusCause) expectation {
	return func(a *answer) error {
		var got metav1.Status
		if err := a.decode(&got); err != nil {
			return err
		}
		if got.Details == nil {
			return a.errorf("expected details")
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

func prunedOnWrite(ctx context.Context, d definition, c collection) error {
	pruned := []expectation{holds(nil, "bogus"), holds(nil, "spec", "bogus")}
	with := func(size int) object { return c.gear("a", object{"size": size, "bogus": 1}).with("bogus", 1) }
	is := func(codes int, size int) []expectation {
		return append([]expectation{code(codes), holds(object{"size": size}, "spec")}, pruned...)
	}
	var o metav1.PartialObjectMetadata
	a, err := d.s.do(ctx, post(c.path(), with(1)), is(201, 1)...)
	if err != nil {
		return err
	}
	if err := a.decode(&o); err != nil {
		return err
	}
	return d.s.all(ctx,
		ask(put(c.item("a"), with(2).meta("resourceVersion", o.ResourceVersion)), is(200, 2)...),
		ask(mergePatch(c.item("a"), object{"bogus": 1, "spec": object{"size": 3, "bogus": 1}}), is(200, 3)...),
		ask(jsonPatch(c.item("a"), set("/spec/size", 4), set("/bogus", 1)), is(200, 4)...),
		ask(get(c.item("a")), is(200, 4)...),
	)
}

func prunedOnRead(ctx context.Context, d definition, c collection) error {
	if err := d.s.try(ctx, post(c.path(), c.gear("a", object{"size": 1, "color": "red"})), code(201), holds("red", "spec", "color")); err != nil {
		return err
	}
	if err := d.change(ctx, object{"op": "remove", "path": property("spec/properties/color")}); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(c.item("a")), code(200), holds(object{"size": 1}, "spec")); err != nil {
		return err
	}
	if err := d.s.try(ctx, get(c.path()), code(200), holds(object{"size": 1}, "items", "0", "spec")); err != nil {
		return err
	}
	if err := firstEvent(ctx, c, `{"size":1}`); err != nil {
		return err
	}
	if err := d.s.try(ctx, mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200), holds(object{"size": 2}, "spec")); err != nil {
		return err
	}
	if err := d.change(ctx, set(property("spec/properties/color"), typed("string").with("enum", []string{"blue"}))); err != nil {
		return err
	}
	if err := d.s.until(ctx, c.trial(c.gear("b", object{"color": "red"})), code(422)); err != nil { // it is the new schema
		return err
	}
	return d.s.try(ctx, get(c.item("a")), code(200), holds(object{"size": 2}, "spec"))
}

// firstEvent opens a watch, whose first event must be of an object with this spec. The server may not be ready for watches at once.
func firstEvent(ctx context.Context, c collection, spec string) error {
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
		a := answer{method: w.method, url: w.url, code: 200, header: w.response.Header, body: e.Object}
		return a.meets(func(a *answer) error {
			var o struct{ Spec any }
			if err := a.decode(&o); err != nil {
				return err
			}
			var want any
			if err := (&answer{body: []byte(spec)}).decode(&want); err != nil {
				return err
			}
			return holds(want, "spec")(a)
		})
	})
}

func shownAgain(ctx context.Context, d definition, c collection) error {
	if err := d.s.try(ctx, post(c.path(), c.gear("a", object{"color": "red"})), code(201)); err != nil {
		return err
	}
	if err := d.change(ctx, object{"op": "remove", "path": property("spec/properties/color")}); err != nil {
		return err
	}
	if err := d.s.until(ctx, get(c.item("a")), code(200), holds(object{}, "spec")); err != nil {
		return err
	}
	if err := d.change(ctx, set(property("spec/properties"), object{"color": typed("string")})); err != nil {
		return err
	}
	return d.s.until(ctx, get(c.item("a")), code(200), holds(object{"color": "red"}, "spec"))
}

func preservedFields(ctx context.Context, d definition, c collection) error {
	spec := object{"any": []any{object{"x": 1}, nil}, "inner": object{"size": 1, "bogus": 1}}
	return d.s.all(ctx,
		ask(post(c.path(), c.gear("a", spec)), code(201), holds(object{"any": []any{object{"x": 1}, nil}, "inner": object{"size": 1}}, "spec")),
		ask(post(c.path(), c.gear("b", object{"inner": object{"size": "large"}})),
			c.invalidField("b", cause(metav1.CauseTypeTypeInvalid, "spec.inner.size", "must be of type integer")).check),
	)
}

func prunedWithin(ctx context.Context, d definition, c collection) error {
	item := object{"size": 1, "bogus": 1}
	return d.s.try(ctx, post(c.path(), c.gear("a", object{"list": []object{item}, "map": object{"k": item}, "any": object{"k": item}})), code(201),
		holds(object{"list": []object{{"size": 1}}, "map": object{"k": object{"size": 1}}, "any": object{"k": item}}, "spec"))
}

func embeddedObjects(ctx context.Context, d definition, c collection) error {
	template := newObject("v1", "Thing", "t").label("a", "b").meta("bogus", 1).with("bogus", 1).with("spec", object{"x": 1, "bogus": 1})
	return d.s.try(ctx, post(c.path(), c.gear("a", object{"template": template})), code(201),
		holds(newObject("v1", "Thing", "t").label("a", "b").with("spec", object{"x": 1}), "spec", "template"))
}

func embeddedInvalid(ctx context.Context, d definition, c collection) error {
	required, invalid := metav1.CauseTypeFieldValueRequired, metav1.CauseTypeFieldValueInvalid
	in := func(template object) call { return post(c.path(), c.gear("a", object{"template": template})) }
	return d.s.all(ctx,
		ask(in(object{"metadata": object{"name": "t"}}), c.invalidField("a",
			cause(required, "spec.template.apiVersion", ""), cause(required, "spec.template.kind", "")).check),
		ask(in(newObject("v1", "Thing", "a/b")), c.invalidField("a", cause(invalid, "spec.template.metadata.name", "may not contain '/'")).check),
		ask(in(newObject("v1", "Thing", "t").label("-", "x")), c.invalidField("a", cause(invalid, "spec.template.metadata.labels", "name part must consist of")).check),
	)
}

func prunedStatus(ctx context.Context, d definition, c collection) error {
	status := object{"phase": "on", "bogus": 1}
	return d.s.all(ctx,
		ask(post(c.path(), c.gear("a", object{"size": 1}).with("status", status)), code(201), holds(nil, "status")),
		ask(mergePatch(c.item("a")+"/status", object{"status": status, "spec": object{"size": 2}}), code(200),
			holds(object{"phase": "on"}, "status"), holds(object{"size": 1}, "spec")),
		ask(mergePatch(c.item("a"), object{"status": object{"phase": "off"}}), code(200), holds(object{"phase": "on"}, "status")),
	)
}

func intOrString(ctx context.Context, d definition, c collection) error {
	with := func(port any) object { return c.gear("a", object{"port": port}) }
	return d.s.all(ctx,
		ask(c.trial(with(80)), code(201), holds(80, "spec", "port")),
		ask(c.trial(with("http")), code(201), holds("http", "spec", "port")),
		ask(c.trial(with(true)), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
		ask(c.trial(with(1.5)), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
		ask(c.trial(with(object{})), c.invalidField("a", cause(metav1.CauseTypeTypeInvalid, "spec.port", "must be of type integer,string")).check),
	)
}
