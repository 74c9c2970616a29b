package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDefaulting = docDefinitions + ", Defaulting"

// defaultCases are about the defaults of schemas (CD-11).
func defaultCases() []Case {
	about := func(id, title, why string, spec object, check gearCheck) Case {
		return onGears(Case{ID: id, Level: Must, Title: title, Why: why, Source: docDefaulting}, object{"spec": record(spec)}, check)
	}
	color := typed("string").with("default", "grey")
	return []Case{
		about("CD-11", "defaults are filled in by every kind of write, and stored", "controllers need not know them", object{"size": typed("integer"), "color": color}, defaultsOnWrite),
		about("CD-11/read", "a default that the definition got later is shown by objects of before, in lists and watches too", "clients see one form of all objects",
			object{"size": typed("integer")}, defaultsOnRead),
		about("CD-11/stored", "a default that was written stays when the definition gets another", "an object does not change by itself", object{"color": color}, defaultsStay),
		about("CD-11/nested", "a default needs the field that it is in, unless that has one, too", "objects do not grow parts that nobody asked for", object{
			"absent": record(object{"color": color}), "given": record(object{"color": color}).with("default", object{}), "list": listOf(record(object{"color": color})),
			"map": mapOf(record(object{"color": color})), "whole": record(object{"color": color}).with("default", object{"color": "red"}),
		}, func(ctx context.Context, d definition, c collection) error {
			grey := object{"color": "grey"}
			return d.s.all(ctx,
				ask(c.trial(c.object("a")), code(201), holds(nil, "spec")),
				ask(c.trial(c.gear("a", object{})), code(201), holds(object{"given": grey, "whole": object{"color": "red"}}, "spec")),
				ask(c.trial(c.gear("a", object{"absent": object{}, "list": []object{{}}, "map": object{"k": object{}}})), code(201),
					holds(object{"absent": grey, "given": grey, "list": []object{grey}, "map": object{"k": grey}, "whole": object{"color": "red"}}, "spec")),
			)
		}),
		about("CD-11/null", "null gives way to the default, unless the field may be null", "null is how some clients say nothing",
			object{"color": color, "nil": typed("string").with("default", "x").with("nullable", true)}, func(ctx context.Context, d definition, c collection) error {
				return d.s.all(ctx,
					ask(c.trial(c.gear("a", object{"color": nil, "nil": nil})), code(201), holds(object{"color": "grey", "nil": nil}, "spec"), present("spec", "nil")),
					ask(c.trial(c.gear("a", object{})), code(201), holds(object{"color": "grey", "nil": "x"}, "spec")),
				)
			}),
		defining(Case{
			ID: "CD-11/invalid", Level: Must, Title: "a default that its own schema does not allow is refused, and one with unknown fields",
			Why: "no object could be made", Source: docDefaulting,
		}, object{}, badDefaults),
		about("CD-11/required", "a default does for a field that is required", "defaults come before validation", object{
			"inner": record(object{"color": color}).with("required", []string{"color"}),
		}, func(ctx context.Context, d definition, c collection) error {
			return d.s.try(ctx, c.trial(c.gear("a", object{"inner": object{}})), code(201), holds("grey", "spec", "inner", "color"))
		}),
		about("CD-11/owner", "nobody owns a default that was applied without, and any may apply another value", "managers own what they named", object{"size": typed("integer"), "color": color},
			func(ctx context.Context, d definition, c collection) error {
				with := func(spec object) object { return c.gear("a", spec) }
				return d.s.all(ctx,
					ask(applyAs("m1", c.item("a"), with(object{"size": 1})), code(201), holds("grey", "spec", "color"), owned(applied("m1", `{"f:spec":{"f:size":{}}}`))),
					ask(applyAs("m2", c.item("a"), with(object{"color": "red"})), code(200), holds("red", "spec", "color")),
					ask(applyAs("m2", c.item("a"), with(object{})), code(200), holds("grey", "spec", "color")),
				)
			}),
	}
}

func defaultsOnWrite(ctx context.Context, d definition, c collection) error {
	var o metav1.PartialObjectMetadata
	a, err := d.s.do(ctx, post(c.path(), c.gear("a", object{"size": 1})), code(201), holds("grey", "spec", "color"))
	if err != nil {
		return err
	}
	if err := a.decode(&o); err != nil {
		return err
	}
	return d.s.all(ctx,
		ask(get(c.item("a")), code(200), holds("grey", "spec", "color")),
		ask(put(c.item("a"), c.gear("a", object{"size": 2}).meta("resourceVersion", o.ResourceVersion)), code(200), holds("grey", "spec", "color")),
		ask(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), holds("red", "spec", "color")),
		ask(mergePatch(c.item("a"), object{"spec": object{"color": nil}}), code(200), holds("grey", "spec", "color")),
		ask(jsonPatch(c.item("a"), object{"op": "remove", "path": "/spec/color"}), code(200), holds("grey", "spec", "color")),
	)
}

func defaultsOnRead(ctx context.Context, d definition, c collection) error {
	o, err := c.create(ctx, c.gear("a", object{"size": 1}))
	if err != nil {
		return err
	}
	if err := d.change(ctx, set(property("spec/properties/color"), typed("string").with("default", "grey"))); err != nil {
		return err
	}
	spec := object{"size": 1, "color": "grey"}
	if err := d.s.until(ctx, get(c.item("a")), code(200), holds(spec, "spec"), at(o.ResourceVersion)); err != nil {
		return err
	}
	if err := d.s.try(ctx, get(c.path()), code(200), holds(spec, "items", "0", "spec")); err != nil {
		return err
	}
	return firstEvent(ctx, c, `{"size":1,"color":"grey"}`)
}

func defaultsStay(ctx context.Context, d definition, c collection) error {
	if err := d.s.try(ctx, post(c.path(), c.gear("a", object{})), code(201), holds("grey", "spec", "color")); err != nil {
		return err
	}
	if err := d.change(ctx, set(property("spec/properties/color/default"), "white")); err != nil {
		return err
	}
	if err := d.s.until(ctx, c.trial(c.gear("b", object{})), code(201), holds("white", "spec", "color")); err != nil {
		return err
	}
	return d.s.try(ctx, get(c.item("a")), code(200), holds("grey", "spec", "color"))
}

func badDefaults(ctx context.Context, d definition) error {
	const at = "spec.validation.openAPIV3Schema.properties[spec]"
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{typed("string").with("default", 1), cause(metav1.CauseTypeTypeInvalid, at+".default", "must be of type string")},
		{typed("integer").with("minimum", 3).with("default", 1), cause(metav1.CauseTypeFieldValueInvalid, at+".default", "should be greater than or equal to 3")},
		{record(object{"x": typed("string")}).with("default", object{"y": 1}), cause(metav1.CauseTypeFieldValueInvalid, at+".default", "must not have unknown fields")},
	} {
		d.schema(0)["properties"] = object{"spec": one.schema}
		if err := d.send(ctx, code(422), hasCause(one.cause)); err != nil {
			return err
		}
	}
	return nil
}
