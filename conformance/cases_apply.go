package conformance

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docApply    = "Kubernetes documentation, Server-Side Apply"
	fieldsetPkg = "apimachinery util/managedfields"
)

// applyCases returns the cases about apply requests and their results (SA).
func applyCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "SA-01", Level: Must, Title: "apply requires a field manager",
			Why:    "fields without a manager could never be removed",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, patch(applyPatchType, c.item("a"), c.object("a")),
				invalidOption("PatchOptions", "fieldManager", metav1.CauseTypeFieldValueRequired, "Required value: is required for apply patch").check)
		}),
		onMaps(Case{
			ID: "SA-02", Level: Must, Title: "apply creates an object that does not exist and updates one that does",
			Why:    "the client does not need to know which",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m", c.item("a"), c.object("a").withData("k", "1")), code(201), kind(c.apiVersion, c.kind), valueAt("1", "data", "k")),
				send(applyAs("m", c.item("a"), c.object("a").withData("k", "2")), code(200), kind(c.apiVersion, c.kind), valueAt("2", "data", "k")),
			)
		}),
		onMaps(Case{
			ID: "SA-03", Level: Must, Title: "the manager of an apply owns the applied fields, with the operation Apply",
			Why:    "the next apply removes owned fields that it does not contain",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			entry := applyEntry("m", `{"f:data":{"f:k":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`).withVersion(c.apiVersion)
			r, err := s.do(ctx, applyAs("m", c.item("a"), c.object("a").withLabel("l", "1").withData("k", "1")), code(201), managedFieldsAre(entry))
			if err != nil {
				return err
			}
			entries, err := managedFieldsOf(r)
			if err == nil && entries[0].Time == nil {
				err = r.errorf("expected the entry in managedFields to have a time")
			}
			return err
		}),
		onMaps(Case{
			ID: "SA-04", Level: Must, Title: "repeating an apply changes neither resourceVersion nor the time in managedFields",
			Why:    "controllers repeat their applies",
			Source: docApply,
		}, checkRepeatedApply),
		onMap(Case{
			ID: "SA-12", Level: Must, Title: "an applied object must not contain managedFields",
			Why:    "the manager owns the fields that it applies",
			Source: fieldsetPkg,
		}, func(ctx context.Context, s *session, c collection) error {
			entry := object{"manager": "m", "operation": "Apply", "apiVersion": c.apiVersion, "fieldsType": "FieldsV1", "fieldsV1": object{}}
			return s.expectAll(ctx,
				send(applyAs("m", c.item("a"), c.object("a").withMeta("managedFields", []object{entry})), badRequest("metadata.managedFields must be nil")),
				send(applyAs("m", c.item("a"), c.object("a").withMeta("managedFields", []object{})), badRequest("metadata.managedFields must be nil")),
			)
		}),
		onMap(Case{
			ID: "SA-13", Level: Must, Title: "an applied object must have the apiVersion and kind of the URL",
			Why:    "ownership is recorded by version",
			Source: fieldsetPkg,
		}, checkApplyOtherType),
		[]Case{{
			ID: "SA-13/version", Level: Must, Title: "an applied object must have the version of the URL even if the server serves both versions",
			Why:    "ownership is recorded by version",
			Source: fieldsetPkg,
			check: func(ctx context.Context, s *session) error {
				v2, v1, err := s.autoscalers(ctx)
				if err != nil {
					return err
				}
				return s.expect(ctx, applyAs("m", v2.item("a"), autoscaler(v1, "a")),
					badRequest("invalid object type: autoscaling/v1, Kind=HorizontalPodAutoscaler"))
			},
		}},
		onMap(Case{
			ID: "SA-14", Level: Must, Title: "an applied object must have apiVersion and kind",
			Why:    "the URL alone does not identify the intended type",
			Source: fieldsetPkg,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m", c.item("a"), object{"metadata": object{"name": "a"}}), badRequest("invalid object type: /, Kind=")),
				send(applyAs("m", c.item("a"), object{"apiVersion": c.apiVersion, "metadata": object{"name": "a"}}),
					badRequest("invalid object type: "+c.groupVersion()+", Kind=")),
			)
		}),
		onMap(Case{
			ID: "SA-15", Level: Must, Title: "an apply that is not YAML, or not an object, is rejected",
			Why:    "a malformed document must not be applied in part",
			Source: docPatchHandler,
		}, checkApplyMalformed),
		onMaps(Case{
			ID: "SA-15/yaml", Level: Must, Title: "an apply may be YAML",
			Why:    "its media type is application/apply-patch+yaml",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			yaml := "apiVersion: " + c.apiVersion + "\nkind: " + c.kind + "\nmetadata:\n  name: a\ndata:\n  k: \"1\" # one\n"
			return s.expect(ctx, applyAs("m", c.item("a"), yaml), code(201), valueAt("1", "data", "k"), managedFieldsAre(applyEntry("m", dataFields("k"))))
		}),
		onMap(Case{
			ID: "SA-26", Level: Must, Title: "the name of a field manager has at most 128 printable characters",
			Why:    "it is stored in every object that the manager writes",
			Source: "apimachinery apis/meta/v1/validation",
		}, checkManagerLength),
		onMaps(Case{
			ID: "SA-33", Level: Must, Title: "the result of an apply is validated as an update is",
			Why:    "apply must not bypass validation",
			Source: docApply,
		}, checkApplyValidation),
		[]Case{onCollection((*session).dataCRs, Case{
			ID: "SA-33/defaults/custom", Level: Must, Title: "the result of an apply has defaults, which the manager does not own",
			Why:    "apply is an update like any other",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(applyAs("m", c.item("a"), c.object("a").with("spec", object{"size": 1})), code(201),
					valueAt("grey", "spec", "color"), managedFieldsAre(applyEntry("m", `{"f:spec":{"f:size":{}}}`))),
				send(applyAs("m", c.item("b"), c.object("b").with("spec", object{"size": -1})), c.invalidField("b", metav1.StatusCause{
					Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.size", Message: "should be greater than or equal to 0",
				}).check),
				send(get(c.item("b")), code(404)),
			)
		})},
		onMap(Case{
			ID: "SA-38", Level: Must, Title: "apply supports dryRun, including conflicts",
			Why:    "kubectl diff --server-side uses it",
			Source: docApply,
		}, checkApplyDryRun),
	)
}

// groupVersion returns the apiVersion as in messages of the field manager, which include the empty
// group.
func (c collection) groupVersion() string {
	if c.group == "" {
		return "/" + c.apiVersion
	}
	return c.apiVersion
}

func checkRepeatedApply(ctx context.Context, s *session, c collection) error {
	request := applyAs("m", c.item("a"), c.object("a").withData("k", "1"))
	r, err := s.do(ctx, request, code(201))
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	if err := r.decode(&o); err != nil {
		return err
	}
	same := func(r *response) error {
		entries, err := managedFieldsOf(r)
		if err == nil && (len(entries) != 1 || !entries[0].Time.Equal(o.ManagedFields[0].Time)) {
			err = r.errorf("expected the entry in managedFields to keep its time %v", o.ManagedFields[0].Time)
		}
		return err
	}
	return s.expectAll(ctx, send(request, code(200), isUnchanged(o), same), send(get(c.item("a")), code(200), isUnchanged(o), same))
}

func checkApplyOtherType(ctx context.Context, s *session, c collection) error {
	other := func(apiVersion, kind string) call {
		return applyAs("m", c.item("a"), newObject(apiVersion, kind, "a"))
	}
	exchanges := []exchange{
		send(other("v9", c.kind), badRequest("invalid object type: /v9, Kind="+c.kind)),
		send(other(c.apiVersion, "Wrong"), badRequest("invalid object type: "+c.groupVersion()+", Kind=Wrong")),
	}
	if c.isCustom() {
		old := c.inDeprecatedVersion().apiVersion
		exchanges = append(exchanges, send(other(old, c.kind), badRequest("invalid object type: "+old+", Kind="+c.kind)))
	}
	return s.expectAll(ctx, exchanges...)
}

func checkApplyMalformed(ctx context.Context, s *session, c collection) error {
	rejected := func(text string) expectation {
		return failure{code: 400, reason: metav1.StatusReasonBadRequest, contains: "error decoding patch: " + text}.check
	}
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a"), "a: b: c\n"), badRequest("error encoding patch: yaml: mapping values are not allowed in this context")),
		send(applyAs("m", c.item("a"), `{"a": b: c}`), rejected("error converting YAML to JSON: yaml: ")),
		send(applyAs("m", c.item("a"), ":::none"), rejected("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string")),
		send(applyAs("m", c.item("a"), "[]"), rejected("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array")),
		send(get(c.item("a")), code(200), valueAt("1", "data", "k")),
	)
}

func checkManagerLength(ctx context.Context, s *session, c collection) error {
	const maxLength = 128
	long := strings.Repeat("m", maxLength)
	tooLong := func(options string) expectation {
		return invalidOption(options, "fieldManager", metav1.CauseTypeTooLong, "Too long: may not be more than 128 bytes").check
	}
	return s.expectAll(ctx,
		send(applyAs(long, c.item("a"), c.object("a").withLabel("l", "1")), code(200)),
		send(applyAs(long+"m", c.item("a"), c.object("a")), tooLong("PatchOptions")),
		send(post(c.path(), c.object("b")).withQuery("fieldManager="+long+"m"), tooLong("CreateOptions")),
		send(put(c.item("a"), c.object("a")).withQuery("fieldManager="+long+"m"), tooLong("UpdateOptions")),
		send(mergePatch(c.item("a"), object{}).withQuery("fieldManager="+long+"m"), tooLong("PatchOptions")),
		send(applyAs("bad%01", c.item("a"), c.object("a")), invalidOption("PatchOptions", "fieldManager",
			metav1.CauseTypeFieldValueInvalid, `Invalid value: "bad\x01": invalid character U+0001 (at position 3)`).check),
	)
}

func checkApplyValidation(ctx context.Context, s *session, c collection) error {
	want := c.invalidField("a")
	want.contains = `metadata.labels: Invalid value: "not a value": a valid label must`
	return s.expectAll(ctx,
		send(applyAs("m", c.item("a"), c.object("a").withLabel("l", "not a value")), want.check),
		send(get(c.item("a")), code(404)),
		send(applyAs("m", c.item("a"), c.object("a")), code(201)),
		send(applyAs("m", c.item("a"), c.object("a").withLabel("l", "not a value")), want.check),
		send(get(c.item("a")), code(200), valueAt(nil, "metadata", "labels")),
	)
}

func checkApplyDryRun(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	change := c.object("a").withData("k", "2")
	return s.expectAll(ctx,
		send(applyAs("m", c.item("new"), c.object("new").withData("k", "1")).withQuery("dryRun=All"), code(201),
			valueAt("1", "data", "k"), managedFieldsAre(applyEntry("m", dataFields("k"))), valueAt(nil, "metadata", "resourceVersion")),
		send(get(c.item("new")), code(404)),
		send(applyAs("m", c.item("a"), change).withQuery("dryRun=All"), fieldConflict(`"creator" using `+c.apiVersion, ".data.k").check),
		send(applyAs("m", c.item("a"), change).withQuery("dryRun=All&force=true"), code(200), valueAt("2", "data", "k"), isUnchanged(before),
			managedFieldsAre(applyEntry("m", dataFields("k")), updateEntry("creator", `{"f:data":{}}`))),
		send(get(c.item("a")), code(200), isUnchanged(before), valueAt("1", "data", "k"), managedFieldsAre(updateEntry("creator", dataFieldsAndSelf("k")))),
	)
}
