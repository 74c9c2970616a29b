package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docPatch     = "Kubernetes API Concepts, Patching"
	patchHandler = "apiserver handlers/patch.go"
)

// patchCases are about what all types of patches have in common (PA).
func patchCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "PA-01", Level: Must, Title: "a patch may be of any of its media types",
			Why:    "kubectl, controllers and scripts each use another",
			Source: docPatch,
		}, patchTypes),
		onMap(Case{
			ID: "PA-02", Level: Must, Title: "a patch of another media type is refused as unsupported",
			Why:    "a client learns what to send instead of patching by guess",
			Source: docPatch,
		}, func(ctx context.Context, s *session, c collection) error {
			for _, mediaType := range []string{"application/json", "text/plain", " "} {
				if err := s.try(ctx, patch(mediaType, c.item("a"), object{}), c.noSuchPatch()); err != nil {
					return err
				}
			}
			return nil
		}),
		onMap(Case{
			ID: "PA-03", Level: Must, Title: "a strategic merge patch works on built-in types, and is refused on custom resources",
			Why:    "clients fall back to a merge patch by this answer",
			Source: docPatch,
		}, func(ctx context.Context, s *session, c collection) error {
			request := strategicPatch(c.item("a"), object{"data": object{"k": "2"}})
			if c.custom() {
				return s.try(ctx, request, c.noSuchPatch())
			}
			return s.try(ctx, request, code(200), holds("2", "data", "k"))
		}),
		onMap(Case{
			ID: "PA-04", Level: Must, Title: "parameters of the media type are ignored",
			Why:    "HTTP libraries add a charset",
			Source: patchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(patch(mergePatchType+"; charset=utf-8", c.item("a"), object{"data": object{"k": "2"}}), code(200), holds("2", "data", "k")),
				ask(patch(jsonPatchType+";charset=utf-8", c.item("a"), []object{{"op": "remove", "path": "/data/k"}}), code(200), holds(nil, "data", "k")),
			)
		}),
		onMap(Case{
			ID: "PA-05", Level: Must, Title: "an apply patch in CBOR is refused as unsupported, or else as no CBOR",
			Why:    "CBOR is off by default, and JSON is not taken for it",
			Source: patchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			request := patch(cborApplyType, c.item("a"), c.object("a")).query("fieldManager=m")
			a, err := s.do(ctx, request, code(415, 400))
			if err == nil && a.code == 415 {
				err = a.meets(c.noSuchPatch())
			}
			return err
		}),
		onMaps(Case{
			ID: "PA-15", Level: Must, Title: "a patch other than apply creates nothing",
			Why:    "a patch alone is no object",
			Source: patchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(mergePatch(c.item("a"), object{"data": object{"k": "1"}}), notFound(c, "a").check),
				ask(mergePatch(c.item("a"), object{"metadata": object{"uid": "00000000-1111-2222-3333-444444444444"}}), notFound(c, "a").check),
				ask(jsonPatch(c.item("a"), object{"op": "add", "path": "/data/k", "value": "1"}), notFound(c, "a").check),
				ask(get(c.item("a")), code(404)),
			)
		}),
		onMaps(Case{
			ID: "PA-15/first", Level: Must, Title: "that there is no object is said before what is wrong with the patch, unless it is no JSON",
			Why:    "NotFound is the answer that a client acts on",
			Source: patchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.all(ctx,
				ask(patch(mergePatchType, c.item("a"), []object{}), notFound(c, "a").check),
				ask(patch(jsonPatchType, c.item("a"), object{}), notFound(c, "a").check),
				ask(patch(mergePatchType, c.item("a"), "{"), badRequest("invalid JSON patch")),
				ask(patch(mergePatchType, c.item("a"), object{}).query("force=true"), code(422)),
			)
		}),
		onMap(Case{
			ID: "PA-16", Level: Must, Title: "a patch that worked is answered with the whole object as it is now",
			Why:    "the client goes on with the new resourceVersion",
			Source: docPatch,
		}, patchAnswer),
		onMap(Case{
			ID: "PA-17", Level: Must, Title: "a patch that changes nothing works, and makes no new resourceVersion",
			Why:    "controllers patch again and again, which must not wake their watchers",
			Source: "Kubernetes API Concepts, No-op writes",
		}, patchNothing),
		onMap(Case{
			ID: "PA-18", Level: Must, Title: "force is for apply only",
			Why:    "other patches take everything anyway, the client means something else",
			Source: "apimachinery apis/meta/v1/validation",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.try(ctx, mergePatch(c.item("a"), object{}).query("force=true"),
				invalidOption("PatchOptions", "force", metav1.CauseTypeForbidden, "Forbidden: may not be specified for non-apply patch").check)
		}),
		onMap(Case{
			ID: "PA-13", Level: Must, Title: "a patch whose result cannot be read as an object is invalid in the field \"patch\"",
			Why:    "nothing that cannot be read back is stored",
			Source: patchHandler,
		}, patchUnreadable),
		onMap(Case{
			ID: "PA-13/kind", Level: Must, Title: "a patch cannot make another type of the object",
			Why:    "the object is where its type is served",
			Source: patchHandler,
		}, patchOfType),
		onMap(Case{
			ID: "PA-23", Level: Must, Title: "the result of a patch is validated as an update is",
			Why:    "a patch is no way around the rules",
			Source: docPatch,
		}, patchValidated),
		[]Case{
			on((*session).gadgets, Case{
				ID: "PA-14/custom", Level: Must, Title: "the result of a patch has to fit the schema of the custom resource",
				Why:    "a patch is no way around the schema",
				Source: "apiextensions-apiserver registry/customresource",
			}, patchAgainstSchema),
		},
	)
}

// noSuchPatch is how the media type of a patch is refused. Built-in types are refused by the router, which has no list to give.
func (c collection) noSuchPatch() expectation {
	if !c.custom() {
		return refusal{code: 415, reason: metav1.StatusReasonUnsupportedMediaType, message: "415: Unsupported Media Type"}.check
	}
	known := []string{jsonPatchType, mergePatchType, applyPatchType}
	return c.s.gated(CBORServingAndStorage, unknownFormat(known...), unknownFormat(append(known, cborApplyType)...))
}

func patchTypes(ctx context.Context, s *session, c collection) error {
	to := func(value string) object { return object{"data": object{"k": value}} }
	exchanges := []exchange{
		ask(mergePatch(c.item("a"), to("2")), code(200), holds("2", "data", "k")),
		ask(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "3"}), code(200), holds("3", "data", "k")),
		ask(applyAs("m", c.item("a"), c.object("a").data("other", "4")), code(200), holds("4", "data", "other")),
	}
	if !c.custom() {
		exchanges = append(exchanges, ask(strategicPatch(c.item("a"), to("5")), code(200), holds("5", "data", "k")))
	}
	return s.all(ctx, exchanges...)
}

func patchAnswer(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	a, err := s.do(ctx, mergePatch(c.item("a"), object{"metadata": object{"labels": object{"new": "yes"}}}), code(200),
		mediaType("application/json"), kind(c.apiVersion, c.kind), field("a", "metadata", "name"), holds("1", "data", "k"),
		field("yes", "metadata", "labels", "new"), field(string(before.UID), "metadata", "uid"))
	if err != nil {
		return err
	}
	var after metav1.PartialObjectMetadata
	if err := a.decode(&after); err != nil {
		return err
	}
	if after.ResourceVersion == before.ResourceVersion {
		return a.errorf("expected a new resourceVersion")
	}
	return s.try(ctx, get(c.item("a")), code(200), unchanged(after), field("yes", "metadata", "labels", "new"))
}

func patchNothing(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	return s.all(ctx,
		ask(mergePatch(c.item("a"), object{}), code(200), unchanged(before)),
		ask(mergePatch(c.item("a"), object{"data": object{"k": "1", "absent": nil}}), code(200), unchanged(before)),
		ask(jsonPatch(c.item("a")), code(200), unchanged(before)),
		ask(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "1"}), code(200), unchanged(before)),
		ask(get(c.item("a")), code(200), unchanged(before)),
	)
}

func patchUnreadable(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if !c.custom() { // a strategic merge patch becomes an object by other ways
		if err := s.all(ctx,
			ask(strategicPatch(c.item("a"), object{"data": []string{}}), invalidPatch("cannot restore map from slice").check),
			ask(strategicPatch(c.item("a"), object{"apiVersion": "v2", "kind": "Secret"}), code(200), kind(c.apiVersion, c.kind), unchanged(before)),
			ask(strategicPatch(c.item("a"), object{"metadata": 1}), invalidPatch("cannot restore struct from: int64").check),
		); err != nil {
			return err
		}
	}
	return s.all(ctx,
		ask(mergePatch(c.item("a"), object{"metadata": object{"annotations": object{"foo": []string{"bar"}}}}),
			invalidPatch("json: cannot unmarshal array into Go struct field ObjectMeta.").check),
		ask(jsonPatch(c.item("a"), object{"op": "add", "path": "/metadata/labels", "value": "none"}),
			invalidPatch("json: cannot unmarshal string into Go struct field ObjectMeta.").check),
		ask(get(c.item("a")), code(200), unchanged(before)),
	)
}

func patchOfType(ctx context.Context, s *session, c collection) error {
	kind, version := object{"kind": "Bogus"}, object{"apiVersion": "v9"}
	refusedKind := invalidPatch(fmt.Sprintf("no kind %q is registered for version %q in scheme", "Bogus", c.apiVersion))
	refusedVersion := invalidPatch(fmt.Sprintf("no kind %q is registered for version %q in scheme", c.kind, "v9"))
	if c.custom() {
		other := func(group, kind, field, value, must string) refusal {
			return collection{group: group, kind: kind}.invalidField("a", metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: fmt.Sprintf("Invalid value: %q: must be %s", value, must),
			})
		}
		refusedKind = other(c.group, "Bogus", "kind", "Bogus", c.kind)
		refusedVersion = other("", c.kind, "apiVersion", "v9", c.apiVersion)
	}
	return s.all(ctx,
		ask(mergePatch(c.item("a"), kind), refusedKind.check),
		ask(jsonPatch(c.item("a"), object{"op": "replace", "path": "/kind", "value": "Bogus"}), refusedKind.check),
		ask(mergePatch(c.item("a"), version), refusedVersion.check),
		ask(get(c.item("a")), code(200), holds("1", "data", "k")),
	)
}

func patchValidated(ctx context.Context, s *session, c collection) error {
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	bad := object{"metadata": object{"labels": object{"k": "not a value"}}}
	causes := fmt.Sprintf("Invalid value: %q: a valid label must be an empty string or consist of alphanumeric characters", "not a value")
	// A label is named once for every check that it did not pass, so causes are not counted.
	want := c.invalidField("a")
	want.says = "metadata.labels: " + causes
	return s.all(ctx,
		ask(mergePatch(c.item("a"), bad), want.check),
		ask(get(c.item("a")), code(200), unchanged(before)),
	)
}

func patchAgainstSchema(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a").with("spec", object{"size": 1}))
	if err != nil {
		return err
	}
	want := c.invalidField("a", metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.size",
		Message: "Invalid value: -1: spec.size in body should be greater than or equal to 0",
	})
	return s.all(ctx,
		ask(mergePatch(c.item("a"), object{"spec": object{"size": -1}}), want.check),
		ask(jsonPatch(c.item("a"), object{"op": "replace", "path": "/spec/size", "value": -1}), want.check),
		ask(get(c.item("a")), code(200), unchanged(o)),
	)
}
