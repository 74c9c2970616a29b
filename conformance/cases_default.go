package conformance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docDefaulting = docCRDs + ", Defaulting"

// defaultCases returns the cases about defaults of schemas (CD-11).
func defaultCases() []Case {
	about := func(id, title, why string, spec object, check perCaseCheck) Case {
		return onCRDPerCase(Case{ID: id, Level: Must, Title: title, Why: why, Source: docDefaulting}, object{"spec": objectSchema(spec)}, check)
	}
	color := typeSchema("string").with("default", "grey")
	return []Case{
		about("CD-11", "every kind of write applies defaults and stores them", "controllers do not need to know the defaults", object{"size": typeSchema("integer"), "color": color}, checkDefaultsOnWrite),
		about("CD-11/read", "existing objects have a default that was added to the CRD later, in lists and watches too", "clients see all objects in one form",
			object{"size": typeSchema("integer")}, checkDefaultsOnRead),
		about("CD-11/stored", "a stored default stays when the default of the CRD changes", "an object must not change by itself", object{"color": color}, checkStoredDefaults),
		about("CD-11/nested", "a default is applied only if its parent field exists or has a default", "objects must not gain fields that were not requested", object{
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
		about("CD-11/null", "null is replaced by the default, unless the field is nullable", "some clients send null for unset fields",
			object{"color": color, "nil": typeSchema("string").with("default", "x").with("nullable", true)}, func(ctx context.Context, d crdPerCase, c collection) error {
				return d.s.expectAll(ctx,
					send(c.dryRunCreate(c.withSpec("a", object{"color": nil, "nil": nil})), code(201), valueAt(object{"color": "grey", "nil": nil}, "spec"), hasField("spec", "nil")),
					send(c.dryRunCreate(c.withSpec("a", object{})), code(201), valueAt(object{"color": "grey", "nil": "x"}, "spec")),
				)
			}),
		withCRDPerCase(Case{
			ID: "CD-11/invalid", Level: Must, Title: "a default that violates its own schema or has unknown fields is rejected",
			Why: "no valid object could be created", Source: docDefaulting,
		}, object{}, checkInvalidDefaults),
		about("CD-11/required", "a default satisfies a required field", "defaults are applied before validation", object{
			"inner": objectSchema(object{"color": color}).with("required", []string{"color"}),
		}, func(ctx context.Context, d crdPerCase, c collection) error {
			return d.s.expect(ctx, c.dryRunCreate(c.withSpec("a", object{"inner": object{}})), code(201), valueAt("grey", "spec", "inner", "color"))
		}),
		onCRDPerCase(Case{
			ID: "CD-11/status", Level: Must, Title: "defaults of the status are in the response of a create, which drops the status that was sent, and in all others",
			Why: "controllers compare the status with its default", Source: docDefaulting,
		}, object{
			"spec":   objectSchema(object{"size": typeSchema("integer")}),
			"status": objectSchema(object{"seen": typeSchema("integer"), "phase": typeSchema("string").with("default", "new")}).with("default", object{"seen": -1}),
		}, checkStatusDefaults),
		withCRDPerCase(Case{
			ID: "CD-11/scale", Level: Must, Title: "defaults are in an object whose spec was created by a write to its scale",
			Why: "clients see all objects in one form", Source: docDefaulting,
		}, object{"spec": objectSchema(object{"replicas": typeSchema("integer"), "color": color})}, checkDefaultsAfterScale),
		about("CD-11/owner", "no manager owns a default, and any manager may apply another value", "managers own the fields that they apply", object{"size": typeSchema("integer"), "color": color},
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
	r, err := d.s.do(ctx, post(c.path(), c.withSpec("a", object{"size": 1})), code(201), valueAt("grey", "spec", "color"))
	if err != nil {
		return err
	}
	if err := r.decode(&o); err != nil {
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

func checkStatusDefaults(ctx context.Context, d crdPerCase, c collection) error {
	sent := c.withSpec("a", object{"size": 1}).with("status", object{"seen": 7, "phase": "old"})
	want := object{"seen": -1, "phase": "new"}
	return d.s.expectAll(ctx,
		send(c.dryRunCreate(sent), code(201), valueAt(want, "status")),
		send(post(c.path(), sent), code(201), valueAt(want, "status")),
		send(get(c.item("a")), code(200), valueAt(want, "status")),
		send(get(c.path()), code(200), valueAt(want, "items", "0", "status")),
		send(mergePatch(c.item("a"), object{"spec": object{"size": 2}}), code(200), valueAt(want, "status"), generation(2)),
		send(mergePatch(c.item("a")+"/status", object{"status": object{"seen": 2}}), code(200), valueAt(object{"seen": 2, "phase": "new"}, "status"), generation(2)),
	)
}

func checkDefaultsAfterScale(ctx context.Context, d crdPerCase) error {
	d.version(0)["subresources"].(object)["scale"] = object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
	c, err := d.createAndWait(ctx)
	if err != nil {
		return err
	}
	want := object{"replicas": 2, "color": "grey"}
	return d.s.expectAll(ctx,
		send(post(c.path(), c.object("a")), code(201), valueAt(nil, "spec")),
		send(mergePatch(c.item("a")+"/scale", object{"spec": object{"replicas": 2}}), code(200), valueAt(2, "spec", "replicas")),
		send(get(c.item("a")), code(200), valueAt(want, "spec")),
		send(get(c.path()), code(200), valueAt(want, "items", "0", "spec")),
	)
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
