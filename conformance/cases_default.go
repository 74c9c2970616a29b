package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDefaulting = docCRDs + ", Defaulting"

// defaultCases are about the defaults of schemas (CD-11).
func defaultCases() []Case {
	about := func(id, title, why string, spec object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docDefaulting}, object{"spec": objectSchema(spec)}, check)
	}
	color := typeSchema("string").with("default", "grey")
	return []Case{
		about("CD-11", "defaults are filled in by every kind of write, and stored", "controllers need not know them", object{"size": typeSchema("integer"), "color": color}, checkDefaultsOnWrite),
		about("CD-11/read", "a default that the definition got later is shown by objects of before, in lists and watches too", "clients see one form of all objects",
			object{"size": typeSchema("integer")}, checkDefaultsOnRead),
		about("CD-11/stored", "a default that was written stays when the definition gets another", "an object does not change by itself", object{"color": color}, checkStoredDefaults),
		about("CD-11/nested", "a default needs the field that it is in, unless that has one, too", "objects do not grow parts that nobody asked for", object{
			"absent": objectSchema(object{"color": color}), "given": objectSchema(object{"color": color}).with("default", object{}), "list": arraySchema(objectSchema(object{"color": color})),
			"map": mapSchema(objectSchema(object{"color": color})), "whole": objectSchema(object{"color": color}).with("default", object{"color": "red"}),
		}, func(ctx context.Context, d crdPerCase, c collection) error {
			grey := object{"color": "grey"}
			return d.s.expectAll(ctx,
				send(c.dryRunCreate(c.object("a")), code(201), valueAt(nil, "spec")),
				send(c.dryRunCreate(c.withSpec("a", object{})), code(201), valueAt(object{"given": grey, "whole": object{"color": "red"}}, "spec")),
				send(c.dryRunCreate(c.withSpec("a", object{"absent": object{}, "list": []object{{}}, "map": object{"k": object{}}})), code(201),
					valueAt(object{"absent": grey, "given": grey, "list": []object{grey}, "map": object{"k": grey}, "whole": object{"color": "red"}}, "spec")),
			)
		}),
		about("CD-11/null", "null gives way to the default, unless the field may be null", "null is how some clients say nothing",
			object{"color": color, "nil": typeSchema("string").with("default", "x").with("nullable", true)}, func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expectAll(ctx,
					send(c.dryRunCreate(c.withSpec("a", object{"color": nil, "nil": nil})), code(201), valueAt(object{"color": "grey", "nil": nil}, "spec"), hasField("spec", "nil")),
					send(c.dryRunCreate(c.withSpec("a", object{})), code(201), valueAt(object{"color": "grey", "nil": "x"}, "spec")),
				)
			}),
		withCRDPerCase(Case{
			ID: "CD-11/invalid", Level: Must, Title: "a default that its own schema does not allow is refused, and one with unknown fields",
			Why: "no object could be made", Source: docDefaulting,
		}, object{}, checkInvalidDefaults),
		about("CD-11/required", "a default does for a field that is required", "defaults come before validation", object{
			"inner": objectSchema(object{"color": color}).with("required", []string{"color"}),
		}, func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"inner": object{}})), code(201), valueAt("grey", "spec", "inner", "color"))
		}),
		about("CD-11/owner", "nobody owns a default that was applied without, and any may apply another value", "managers own what they named", object{"size": typeSchema("integer"), "color": color},
			func(ctx context.Context, d crdPerCase, c collection) error {
				with := func(spec object) object { return c.withSpec("a", spec) }
				return d.s.expectAll(ctx,
					send(applyAs("m1", c.item("a"), with(object{"size": 1})), code(201), valueAt("grey", "spec", "color"), managedFieldsAre(applyEntry("m1", `{"f:spec":{"f:size":{}}}`))),
					send(applyAs("m2", c.item("a"), with(object{"color": "red"})), code(200), valueAt("red", "spec", "color")),
					send(applyAs("m2", c.item("a"), with(object{})), code(200), valueAt("grey", "spec", "color")),
				)
			}),
	}
}

func checkDefaultsOnWrite(ctx context.Context, d crdPerCase, c collection) error {
	var o metav1.PartialObjectMetadata
	a, err := d.s.do(ctx, post(c.path(), c.withSpec("a", object{"size": 1})), code(201), valueAt("grey", "spec", "color"))
	if err != nil {
		return err
	}
	if err := a.decode(&o); err != nil {
		return err
	}
	return d.s.expectAll(ctx,
		send(get(c.item("a")), code(200), valueAt("grey", "spec", "color")),
		send(put(c.item("a"), c.withSpec("a", object{"size": 2}).withMeta("resourceVersion", o.ResourceVersion)), code(200), valueAt("grey", "spec", "color")),
		send(mergePatch(c.item("a"), object{"spec": object{"color": "red"}}), code(200), valueAt("red", "spec", "color")),
		send(mergePatch(c.item("a"), object{"spec": object{"color": nil}}), code(200), valueAt("grey", "spec", "color")),
		send(jsonPatch(c.item("a"), object{"op": "remove", "path": "/spec/color"}), code(200), valueAt("grey", "spec", "color")),
	)
}

func checkDefaultsOnRead(ctx context.Context, d crdPerCase, c collection) error {
	o, err := c.create(ctx, c.withSpec("a", object{"size": 1}))
	if err != nil {
		return err
	}
	if err := d.patch(ctx, setOp(propertyPath("spec/properties/color"), typeSchema("string").with("default", "grey"))); err != nil {
		return err
	}
	spec := object{"size": 1, "color": "grey"}
	if err := d.s.waitFor(ctx, get(c.item("a")), code(200), valueAt(spec, "spec"), atResourceVersion(o.ResourceVersion)); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(c.path()), code(200), valueAt(spec, "items", "0", "spec")); err != nil {
		return err
	}
	return expectFirstEvent(ctx, c, `{"size":1,"color":"grey"}`)
}

func checkStoredDefaults(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.s.expect(ctx, post(c.path(), c.withSpec("a", object{})), code(201), valueAt("grey", "spec", "color")); err != nil {
		return err
	}
	if err := d.patch(ctx, setOp(propertyPath("spec/properties/color/default"), "white")); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, c.dryRunCreate(c.withSpec("b", object{})), code(201), valueAt("white", "spec", "color")); err != nil {
		return err
	}
	return d.s.expect(ctx, get(c.item("a")), code(200), valueAt("grey", "spec", "color"))
}

func checkInvalidDefaults(ctx context.Context, d crdPerCase) error {
	const at = "spec.validation.openAPIV3Schema.properties[spec]"
	for _, one := range []struct {
		schema object
		cause  metav1.StatusCause
	}{
		{typeSchema("string").with("default", 1), cause(metav1.CauseTypeTypeInvalid, at+".default", "must be of type string")},
		{typeSchema("integer").with("minimum", 3).with("default", 1), cause(metav1.CauseTypeFieldValueInvalid, at+".default", "should be greater than or equal to 3")},
		{objectSchema(object{"x": typeSchema("string")}).with("default", object{"y": 1}), cause(metav1.CauseTypeFieldValueInvalid, at+".default", "must not have unknown fields")},
	} {
		d.schema(0)["properties"] = object{"spec": one.schema}
		if err := d.create(ctx, code(422), hasCause(one.cause)); err != nil {
			return err
		}
	}
	return nil
}
