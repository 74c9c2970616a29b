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

// applyCases are about what an apply request needs and makes (SA).
func applyCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "SA-01", Level: Must, Title: "apply needs a field manager",
			Why:    "fields without an owner could never be given up",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, patch(applyPatchType, c.item("a"), c.object("a")),
				invalidOption("PatchOptions", "fieldManager", metav1.CauseTypeFieldValueRequired, "Required value: is required for apply patch").check)
		}),
		onMaps(Case{
			ID: "SA-02", Level: Must, Title: "apply creates what is not there, and changes what is",
			Why:    "the client need not know which",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(applyAs("m", c.item("a"), c.object("a").data("k", "1")), code(201), kind(c.apiVersion, c.kind), holds("1", "data", "k")),
				ask(applyAs("m", c.item("a"), c.object("a").data("k", "2")), code(200), kind(c.apiVersion, c.kind), holds("2", "data", "k")),
			)
		}),
		onMaps(Case{
			ID: "SA-03", Level: Must, Title: "what was applied is owned by the manager, with the operation Apply",
			Why:    "the next apply takes away by it what is no longer there",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			entry := applied("m", `{"f:data":{"f:k":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`).in(c.apiVersion)
			a, err := s.do(ctx, applyAs("m", c.item("a"), c.object("a").label("l", "1").data("k", "1")), code(201), owned(entry))
			if err != nil {
				return err
			}
			entries, err := managers(a)
			if err == nil && entries[0].Time == nil {
				err = a.errorf("expected the entry in managedFields to have a time")
			}
			return err
		}),
		onMaps(Case{
			ID: "SA-04", Level: Must, Title: "the same apply again changes nothing, neither resourceVersion nor time",
			Why:    "controllers apply the same again and again",
			Source: docApply,
		}, applyAgain),
		onMap(Case{
			ID: "SA-12", Level: Must, Title: "managedFields have no place in what is applied",
			Why:    "the manager's fields are those that it applies",
			Source: fieldsetPkg,
		}, func(ctx context.Context, s *session, c collection) error {
			entry := object{"manager": "m", "operation": "Apply", "apiVersion": c.apiVersion, "fieldsType": "FieldsV1", "fieldsV1": object{}}
			return s.all(ctx,
				ask(applyAs("m", c.item("a"), c.object("a").meta("managedFields", []object{entry})), badRequest("metadata.managedFields must be nil")),
				ask(applyAs("m", c.item("a"), c.object("a").meta("managedFields", []object{})), badRequest("metadata.managedFields must be nil")),
			)
		}),
		onMap(Case{
			ID: "SA-13", Level: Must, Title: "what is applied has to be of the version of the URL, and of its kind",
			Why:    "ownership is kept by version",
			Source: fieldsetPkg,
		}, applyOtherType),
		[]Case{{
			ID: "SA-13/version", Level: Must, Title: "what is applied has to be of the version of the URL even if the server has both",
			Why:    "ownership is kept by version",
			Source: fieldsetPkg,
			check: func(ctx context.Context, s *session) error {
				v2, v1, err := s.autoscalers(ctx)
				if err != nil {
					return err
				}
				return s.try(ctx, applyAs("m", v2.item("a"), autoscaler(v1, "a")),
					badRequest("invalid object type: autoscaling/v1, Kind=HorizontalPodAutoscaler"))
			},
		}},
		onMap(Case{
			ID: "SA-14", Level: Must, Title: "what is applied has to name its apiVersion and kind",
			Why:    "the URL alone does not say what the client meant",
			Source: fieldsetPkg,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(applyAs("m", c.item("a"), object{"metadata": object{"name": "a"}}), badRequest("invalid object type: /, Kind=")),
				ask(applyAs("m", c.item("a"), object{"apiVersion": c.apiVersion, "metadata": object{"name": "a"}}),
					badRequest("invalid object type: "+c.groupVersion()+", Kind=")),
			)
		}),
		onMap(Case{
			ID: "SA-15", Level: Must, Title: "an apply that is no YAML, or no object, is refused",
			Why:    "nothing is applied by half a document",
			Source: patchHandler,
		}, applyNoYAML),
		onMaps(Case{
			ID: "SA-15/yaml", Level: Must, Title: "an apply may be in YAML",
			Why:    "that is what its media type says",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			yaml := "apiVersion: " + c.apiVersion + "\nkind: " + c.kind + "\nmetadata:\n  name: a\ndata:\n  k: \"1\" # one\n"
			return s.try(ctx, applyAs("m", c.item("a"), yaml), code(201), holds("1", "data", "k"), owned(applied("m", dataFields("k"))))
		}),
		onMap(Case{
			ID: "SA-26", Level: Must, Title: "the name of a field manager has at most 128 printable characters",
			Why:    "it stands in every object that the manager writes",
			Source: "apimachinery apis/meta/v1/validation",
		}, longManager),
		onMaps(Case{
			ID: "SA-33", Level: Must, Title: "what apply makes is validated as an update is",
			Why:    "apply is no way around the rules",
			Source: docApply,
		}, applyValidated),
		[]Case{on((*session).gadgets, Case{
			ID: "SA-33/defaults/custom", Level: Must, Title: "what apply makes gets its defaults, which the manager does not own",
			Why:    "apply is an update like any other",
			Source: docApply,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(applyAs("m", c.item("a"), c.object("a").with("spec", object{"size": 1})), code(201),
					holds("grey", "spec", "color"), owned(applied("m", `{"f:spec":{"f:size":{}}}`))),
				ask(applyAs("m", c.item("b"), c.object("b").with("spec", object{"size": -1})), c.invalidField("b", metav1.StatusCause{
					Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.size", Message: "should be greater than or equal to 0",
				}).check),
				ask(get(c.item("b")), code(404)),
			)
		})},
		onMap(Case{
			ID: "SA-38", Level: Must, Title: "apply can be tried with dryRun, conflicts included",
			Why:    "kubectl diff --server-side lives on it",
			Source: docApply,
		}, applyDry),
	)
}

// groupVersion is the apiVersion as messages of the field manager show it, which do not leave out the empty group.
func (c collection) groupVersion() string {
	if c.group == "" {
		return "/" + c.apiVersion
	}
	return c.apiVersion
}

func applyAgain(ctx context.Context, s *session, c collection) error {
	request := applyAs("m", c.item("a"), c.object("a").data("k", "1"))
	a, err := s.do(ctx, request, code(201))
	if err != nil {
		return err
	}
	var o metav1.PartialObjectMetadata
	if err := a.decode(&o); err != nil {
		return err
	}
	same := func(a *answer) error {
		entries, err := managers(a)
		if err == nil && (len(entries) != 1 || !entries[0].Time.Equal(o.ManagedFields[0].Time)) {
			err = a.errorf("expected the entry in managedFields to keep its time %v", o.ManagedFields[0].Time)
		}
		return err
	}
	return s.all(ctx, ask(request, code(200), unchanged(o), same), ask(get(c.item("a")), code(200), unchanged(o), same))
}

func applyOtherType(ctx context.Context, s *session, c collection) error {
	other := func(apiVersion, kind string) call {
		return applyAs("m", c.item("a"), newObject(apiVersion, kind, "a"))
	}
	exchanges := []exchange{
		ask(other("v9", c.kind), badRequest("invalid object type: /v9, Kind="+c.kind)),
		ask(other(c.apiVersion, "Wrong"), badRequest("invalid object type: "+c.groupVersion()+", Kind=Wrong")),
	}
	if c.custom() {
		old := c.s.run.gadgets.in("v1beta1").apiVersion
		exchanges = append(exchanges, ask(other(old, c.kind), badRequest("invalid object type: "+old+", Kind="+c.kind)))
	}
	return s.all(ctx, exchanges...)
}

func applyNoYAML(ctx context.Context, s *session, c collection) error {
	refused := func(says string) expectation {
		return refusal{code: 400, reason: metav1.StatusReasonBadRequest, says: "error decoding patch: " + says}.check
	}
	return s.all(ctx,
		ask(applyAs("m", c.item("a"), "a: b: c\n"), badRequest("error encoding patch: yaml: mapping values are not allowed in this context")),
		ask(applyAs("m", c.item("a"), `{"a": b: c}`), refused("error converting YAML to JSON: yaml: ")),
		ask(applyAs("m", c.item("a"), ":::none"), refused("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string")),
		ask(applyAs("m", c.item("a"), "[]"), refused("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array")),
		ask(get(c.item("a")), code(200), holds("1", "data", "k")),
	)
}

func longManager(ctx context.Context, s *session, c collection) error {
	const most = 128
	long := strings.Repeat("m", most)
	tooLong := func(options string) expectation {
		return invalidOption(options, "fieldManager", metav1.CauseTypeTooLong, "Too long: may not be more than 128 bytes").check
	}
	return s.all(ctx,
		ask(applyAs(long, c.item("a"), c.object("a").label("l", "1")), code(200)),
		ask(applyAs(long+"m", c.item("a"), c.object("a")), tooLong("PatchOptions")),
		ask(post(c.path(), c.object("b")).query("fieldManager="+long+"m"), tooLong("CreateOptions")),
		ask(put(c.item("a"), c.object("a")).query("fieldManager="+long+"m"), tooLong("UpdateOptions")),
		ask(mergePatch(c.item("a"), object{}).query("fieldManager="+long+"m"), tooLong("PatchOptions")),
		ask(applyAs("bad%01", c.item("a"), c.object("a")), invalidOption("PatchOptions", "fieldManager",
			metav1.CauseTypeFieldValueInvalid, `Invalid value: "bad\x01": invalid character U+0001 (at position 3)`).check),
	)
}

func applyValidated(ctx context.Context, s *session, c collection) error {
	want := c.invalidField("a")
	want.says = `metadata.labels: Invalid value: "not a value": a valid label must`
	return s.all(ctx,
		ask(applyAs("m", c.item("a"), c.object("a").label("l", "not a value")), want.check),
		ask(get(c.item("a")), code(404)),
		ask(applyAs("m", c.item("a"), c.object("a")), code(201)),
		ask(applyAs("m", c.item("a"), c.object("a").label("l", "not a value")), want.check),
		ask(get(c.item("a")), code(200), holds(nil, "metadata", "labels")),
	)
}

func applyDry(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	change := c.object("a").data("k", "2")
	return s.all(ctx,
		ask(applyAs("m", c.item("new"), c.object("new").data("k", "1")).query("dryRun=All"), code(201),
			holds("1", "data", "k"), owned(applied("m", dataFields("k"))), holds(nil, "metadata", "resourceVersion")),
		ask(get(c.item("new")), code(404)),
		ask(applyAs("m", c.item("a"), change).query("dryRun=All"), fieldConflict(`"creator" using `+c.apiVersion, ".data.k").check),
		ask(applyAs("m", c.item("a"), change).query("dryRun=All&force=true"), code(200), holds("2", "data", "k"), unchanged(before),
			owned(applied("m", dataFields("k")), updated("creator", `{"f:data":{}}`))),
		ask(get(c.item("a")), code(200), unchanged(before), holds("1", "data", "k"), owned(updated("creator", wholeDataFields("k")))),
	)
}
