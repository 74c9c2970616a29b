package conformance

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docCustomHandler = "apiextensions customresource_handler.go"

// applyCustomCases returns the cases about applies that the schema of a custom resource decides on
// (SA).
func applyCustomCases() []Case {
	custom := func(c Case, check collectionCheck) Case { return onCollection((*session).dataCRs, c, check) }
	return []Case{
		custom(Case{
			ID: "SA-39/scalar/custom", Level: Must, Title: "an apply of null for a scalar, an item or a map value is rejected, and changes nothing",
			Why:    "a manager must not remove the data of another one by accident",
			Source: docCustomHandler,
		}, checkApplyNullScalar),
		custom(Case{
			ID: "SA-39/merged/custom", Level: Must, Title: "an apply of null for a map, an object or a list with keys that has content does not change it",
			Why:    "null is an empty value in a merge",
			Source: fieldsetPkg,
		}, checkApplyNullMerged),
		custom(Case{
			ID: "SA-39/metadata/custom", Level: Must, Title: "empty metadata in an apply is not in the object",
			Why:    "clients compare objects",
			Source: docCustomHandler,
		}, checkApplyEmptyMetadata),
		custom(Case{
			ID: "SA-40/custom", Level: Must, Title: "an apply in JSON is read as YAML: 1e3 is an integer, and \\ud83d and \\/ are errors",
			Why:    "the media type is that of YAML",
			Source: docPatchHandler,
		}, checkApplyReadsYAML),
		withCRDPerCase(Case{
			ID: "SA-34/schema", Level: Must, Title: "an apply fails if the versions of the managers do not all have the fields of the result",
			Why:    "ownership of the field could not be tracked",
			Source: fieldsetPkg,
		}, object{"spec": objectSchema(object{"size": typeSchema("integer"), "first": typeSchema("string")})}, checkApplyFieldOfOneVersion),
		custom(Case{
			ID: "SA-41/custom", Level: Must, Title: "an apply that changes the scale of a custom resource is answered 500",
			Why:    "the server cannot convert the result, and clients need another patch",
			Source: docCustomHandler,
		}, checkApplyCustomScale),
	}
}

func checkApplyNullScalar(ctx context.Context, s *session, c collection) error {
	spec := func() object {
		return object{"size": 1, "tags": []string{"t"}, "parts": []object{{"name": "p", "quantity": 1}}}
	}
	with := func(spec object) object { return c.object("a").with("spec", spec) }
	isNull := func(field, kind string) expectation {
		return c.invalidField("a", metav1.StatusCause{Type: metav1.CauseTypeTypeInvalid, Field: field, Message: "must be of type " + kind + `: "null"`}).check
	}
	forced := func(body object) call { return applyAs("m2", c.item("a"), body).withQuery("force=true") }
	absent := c.object("b").with("spec", object{"size": nil})
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), with(spec()).withData("k", "1")), code(201)),
		send(forced(with(object{"size": nil})), isNull("spec.size", "integer")),
		send(forced(with(object{"whole": nil})), isNull("spec.whole", "object")),
		send(forced(with(object{"plain": []object{{"x": nil}}})), isNull("spec.plain[0].x", "string")),
		send(forced(with(object{"parts": []object{{"name": "p", "quantity": nil}}})), isNull("spec.parts[0].quantity", "integer")),
		send(forced(c.object("a").with("data", object{"k": nil})), isNull("data.k", "string")),
		send(applyAs("m2", c.item("a")+"/status", c.object("a").with("status", object{"phase": nil})), isNull("status.phase", "string")),
		send(applyAs("m2", c.item("b"), absent), code(422)),
		send(get(c.item("b")), code(404)),
		send(get(c.item("a")), code(200), valueAt(spec().with("color", "grey"), "spec"), valueAt(object{"k": "1"}, "data")),
	)
}

func checkApplyNullMerged(ctx context.Context, s *session, c collection) error {
	spec := object{"color": "red", "parts": []object{{"name": "p", "quantity": 1}}}
	content := c.object("a").withData("k", "1").with("spec", spec)
	null := func(field string) object { return c.object("a").with(field, nil) }
	return s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), content), code(201)),
		send(applyAs("m2", c.item("a"), null("data")).withQuery("force=true"), code(200), valueAt(object{"k": "1"}, "data"), valueAt(spec, "spec")),
		send(applyAs("m2", c.item("a"), null("spec")).withQuery("force=true"), code(200), valueAt(object{"k": "1"}, "data"), valueAt(spec, "spec")),
		send(applyAs("m2", c.item("a"), c.object("a").with("spec", object{"parts": nil})).withQuery("force=true"), code(200), valueAt(spec, "spec")),
	)
}

func checkApplyEmptyMetadata(ctx context.Context, s *session, c collection) error {
	empty := func(name string) call {
		body := c.object(name).withMeta("annotations", nil).withMeta("labels", object{}).withMeta("finalizers", []string{}).withMeta("ownerReferences", []object{})
		return applyAs("m", c.item(name), body)
	}
	isEmpty := func(expect ...expectation) []expectation {
		for _, field := range []string{"annotations", "labels", "finalizers", "ownerReferences"} {
			expect = append(expect, noField("metadata", field))
		}
		return expect
	}
	return s.expectAll(ctx,
		send(empty("a"), isEmpty(code(201))...),
		send(get(c.item("a")), isEmpty(code(200))...),
		send(empty("a"), isEmpty(code(200))...),
		send(empty("b").withQuery("dryRun=All"), isEmpty(code(201))...),
	)
}

func checkApplyReadsYAML(ctx context.Context, s *session, c collection) error {
	body := func(size, color string) string {
		return `{"apiVersion":"` + c.apiVersion + `","kind":"` + c.kind + `","metadata":{"name":"a"},"spec":{"size":` + size + `,"color":"` + color + `"}}`
	}
	unreadable := func(text string) expectation {
		return failure{code: 400, reason: metav1.StatusReasonBadRequest, message: "error decoding patch: error converting YAML to JSON: yaml: " + text}.check
	}
	long := strings.Replace(body("1", "x"), `"spec"`, `"data":{"`+strings.Repeat("k", 1100)+`":"x"},"spec"`, 1)
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a"), body("1e18", "x")), code(201), valueAt(int64(1e18), "spec", "size")),
		send(applyAs("m", c.item("a"), body("11.0", "x")), code(200), valueAt(11, "spec", "size")),
		send(applyAs("m", c.item("a"), body("11", `\ud83d\ude00`)), unreadable("found invalid Unicode character escape code")),
		send(applyAs("m", c.item("a"), body("11", `\/`)), unreadable("found unknown escape character")),
		send(applyAs("m", c.item("a"), long), unreadable("did not find expected ',' or '}'")),
		send(applyAs("m", c.item("a"), body("11", "\U0001f600")), code(200), valueAt("\U0001f600", "spec", "color")),
	)
}

func checkApplyFieldOfOneVersion(ctx context.Context, d crdPerCase) error {
	c, err := d.addVersions(crdVersion("v2", object{"spec": objectSchema(object{"size": typeSchema("integer"), "second": typeSchema("string")})})).createAndWait(ctx)
	if err != nil {
		return err
	}
	second := d.inVersion("v2", c)
	inSecond := func(manager string, spec object) call {
		return applyAs(manager, second.item("a"), second.withSpec("a", spec))
	}
	return d.s.expectAll(ctx,
		send(applyAs("m1", c.item("a"), c.withSpec("a", object{"size": 1, "first": "f"})), code(201)),
		send(inSecond("m2", object{"size": 1}), code(200), valueAt(object{"size": 1}, "spec")),
		send(inSecond("m3", object{"second": "s"}), isServerError("failed to convert new object: .spec.second: field not declared in schema")),
		send(inSecond("m3", object{"second": "s"}).withQuery("force=true"), isServerError("failed to convert new object: .spec.second: field not declared in schema")),
		send(mergePatch(second.item("a")+"?fieldManager=u", object{"spec": object{"size": 2, "second": "s"}}), code(200),
			valueAt(object{"size": 2}, "spec"), managedFieldsAre(applyEntry("m1", ""), applyEntry("m2", ""))),
	)
}

func checkApplyCustomScale(ctx context.Context, s *session, c collection) error {
	scale := func(replicas int) object {
		return newObject("autoscaling/v1", "Scale", "a").with("spec", object{"replicas": replicas})
	}
	unconverted := func(what string) expectation {
		return isServerError(what + " to proper version: request to convert CR to an invalid group/version: autoscaling/v1")
	}
	apply := func(replicas int) call {
		return applyAs("m2", c.item("a")+"/scale", scale(replicas)).withQuery("force=true")
	}
	return s.expectAll(ctx,
		send(post(c.path()+"?fieldManager=m1", c.object("a").withData("k", "1")), code(201)),
		send(mergePatch(c.item("a")+"?fieldManager=m1", object{"spec": object{"replicas": 1}}), code(200)),
		send(apply(1), code(200), valueAt(1, "spec", "replicas")),
		send(apply(2), unconverted("failed to convert new object (/a; autoscaling/v1, Kind=Scale)")),
		send(applyAs("m1", c.item("b"), c.object("b")), code(201)),
		send(applyAs("m2", c.item("b")+"/scale", scale(1)), unconverted("failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale)")),
		send(get(c.item("a")), code(200), valueAt(1, "spec", "replicas")),
	)
}
