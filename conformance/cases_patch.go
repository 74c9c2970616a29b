package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docPatch = "Kubernetes API Concepts, Patching"
)

// patchCases returns the cases about all types of patches (PA).
func patchCases() []Case {
	return slices.Concat(
		onMap(Case{
			ID: "PA-01", Level: Must, Title: "a patch can have any of the patch media types",
			Why:    "kubectl, controllers and scripts use different ones",
			Source: docPatch,
		}, checkPatchTypes),
		onMap(Case{
			ID: "PA-02", Level: Must, Title: "a patch of another media type is rejected as unsupported",
			Why:    "a client learns the supported types",
			Source: docPatch,
		}, func(ctx context.Context, s *session, c collection) error {
			for _, mediaType := range []string{"application/json", "text/plain", " "} {
				if err := s.expect(ctx, patch(mediaType, c.item("a"), object{}), c.isUnsupportedPatchType()); err != nil {
					return err
				}
			}
			return nil
		}),
		onMap(Case{
			ID: "PA-03", Level: Must, Title: "a strategic merge patch is supported on built-in types, and rejected on custom resources",
			Why:    "clients fall back to a merge patch",
			Source: docPatch,
		}, func(ctx context.Context, s *session, c collection) error {
			request := strategicPatch(c.item("a"), object{"data": object{"k": "2"}})
			if c.isCustom() {
				return s.expect(ctx, request, c.isUnsupportedPatchType())
			}
			return s.expect(ctx, request, code(200), valueAt("2", "data", "k"))
		}),
		onMap(Case{
			ID: "PA-04", Level: Must, Title: "parameters of the media type are ignored",
			Why:    "HTTP libraries add a charset",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(patch(mergePatchType+"; charset=utf-8", c.item("a"), object{"data": object{"k": "2"}}), code(200), valueAt("2", "data", "k")),
				send(patch(jsonPatchType+";charset=utf-8", c.item("a"), []object{{"op": "remove", "path": "/data/k"}}), code(200), valueAt(nil, "data", "k")),
			)
		}),
		onMap(Case{
			ID: "PA-05", Level: Must, Title: "an apply patch in CBOR is unsupported by a server that does not serve CBOR, and one that does rejects invalid CBOR",
			Why:    "CBOR is off by default, and a client then uses JSON",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			request := patch(cborApplyType, c.item("a"), c.object("a")).withQuery("fieldManager=m")
			r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeCBOR), code(200, 406))
			switch {
			case err != nil:
				return err
			case r.code == 200: // JSON is not valid CBOR
				return s.expect(ctx, request, code(400))
			}
			return s.expect(ctx, request, c.isUnsupportedPatchType())
		}),
		onMaps(Case{
			ID: "PA-15", Level: Must, Title: "only apply patches create objects",
			Why:    "other patches do not describe a complete object",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(mergePatch(c.item("a"), object{"data": object{"k": "1"}}), notFound(c, "a").check),
				send(mergePatch(c.item("a"), object{"metadata": object{"uid": "00000000-1111-2222-3333-444444444444"}}), notFound(c, "a").check),
				send(jsonPatch(c.item("a"), object{"op": "add", "path": "/data/k", "value": "1"}), notFound(c, "a").check),
				send(get(c.item("a")), code(404)),
			)
		}),
		onMaps(Case{
			ID: "PA-15/first", Level: Must, Title: "NotFound takes precedence over errors in the patch, unless the patch is not JSON",
			Why:    "clients react to NotFound",
			Source: docPatchHandler,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expectAll(ctx,
				send(patch(mergePatchType, c.item("a"), []object{}), notFound(c, "a").check),
				send(patch(jsonPatchType, c.item("a"), object{}), notFound(c, "a").check),
				send(patch(mergePatchType, c.item("a"), "{"), badRequest("invalid JSON patch")),
				send(patch(mergePatchType, c.item("a"), object{}).withQuery("force=true"), code(422)),
			)
		}),
		onMap(Case{
			ID: "PA-16", Level: Must, Title: "a successful patch returns the updated object",
			Why:    "the client continues with the new resourceVersion",
			Source: docPatch,
		}, checkPatchResponse),
		onMap(Case{
			ID: "PA-17", Level: Must, Title: "a patch without changes succeeds and keeps the resourceVersion",
			Why:    "repeated patches of controllers must not trigger their watches",
			Source: "Kubernetes API Concepts, No-op writes",
		}, checkNoopPatch),
		onMap(Case{
			ID: "PA-18", Level: Must, Title: "force is supported for apply only",
			Why:    "other patches never conflict",
			Source: "apimachinery apis/meta/v1/validation",
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, mergePatch(c.item("a"), object{}).withQuery("force=true"),
				invalidOption("PatchOptions", "force", metav1.CauseTypeForbidden, "Forbidden: may not be specified for non-apply patch").check)
		}),
		onMap(Case{
			ID: "PA-13", Level: Must, Title: "a patch whose result cannot be decoded is invalid in the field \"patch\"",
			Why:    "objects that cannot be decoded must not be stored",
			Source: docPatchHandler,
		}, checkUndecodablePatch),
		onMap(Case{
			ID: "PA-13/kind", Level: Must, Title: "a patch cannot change the type of the object",
			Why:    "the URL determines the type",
			Source: docPatchHandler,
		}, checkPatchOfType),
		onMap(Case{
			ID: "PA-23", Level: Must, Title: "the result of a patch is validated as an update is",
			Why:    "a patch must not bypass validation",
			Source: docPatch,
		}, checkPatchValidation),
		[]Case{
			onCollection((*session).dataCRs, Case{
				ID: "PA-14/custom", Level: Must, Title: "the result of a patch must match the schema of the custom resource",
				Why:    "a patch must not bypass the schema",
				Source: "apiextensions-apiserver registry/customresource",
			}, checkPatchAgainstSchema),
		},
	)
}

// isUnsupportedPatchType expects that the media type of a patch is rejected. The router rejects it
// for built-in types, without a list of supported types.
func (c collection) isUnsupportedPatchType() expectation {
	if !c.isCustom() {
		return failure{code: 415, reason: metav1.StatusReasonUnsupportedMediaType, message: "415: Unsupported Media Type"}.check
	}
	known := []string{jsonPatchType, mergePatchType, applyPatchType}
	return c.s.forFeature(CBORServingAndStorage, unsupportedMediaType(known...), unsupportedMediaType(append(known, cborApplyType)...))
}

func checkPatchTypes(ctx context.Context, s *session, c collection) error {
	to := func(value string) object { return object{"data": object{"k": value}} }
	exchanges := []exchange{
		send(mergePatch(c.item("a"), to("2")), code(200), valueAt("2", "data", "k")),
		send(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "3"}), code(200), valueAt("3", "data", "k")),
		send(applyAs("m", c.item("a"), c.object("a").withData("other", "4")), code(200), valueAt("4", "data", "other")),
	}
	if !c.isCustom() {
		exchanges = append(exchanges, send(strategicPatch(c.item("a"), to("5")), code(200), valueAt("5", "data", "k")))
	}
	return s.expectAll(ctx, exchanges...)
}

func checkPatchResponse(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	r, err := s.do(ctx, mergePatch(c.item("a"), object{"metadata": object{"labels": object{"new": "yes"}}}), code(200),
		mediaType("application/json"), kind(c.apiVersion, c.kind), field("a", "metadata", "name"), valueAt("1", "data", "k"),
		field("yes", "metadata", "labels", "new"), field(string(before.UID), "metadata", "uid"))
	if err != nil {
		return err
	}
	var after metav1.PartialObjectMetadata
	if err := r.decode(&after); err != nil {
		return err
	}
	if after.ResourceVersion == before.ResourceVersion {
		return r.errorf("expected a new resourceVersion")
	}
	return s.expect(ctx, get(c.item("a")), code(200), isUnchanged(after), field("yes", "metadata", "labels", "new"))
}

func checkNoopPatch(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{}), code(200), isUnchanged(before)),
		send(mergePatch(c.item("a"), object{"data": object{"k": "1", "absent": nil}}), code(200), isUnchanged(before)),
		send(jsonPatch(c.item("a")), code(200), isUnchanged(before)),
		send(jsonPatch(c.item("a"), object{"op": "replace", "path": "/data/k", "value": "1"}), code(200), isUnchanged(before)),
		send(get(c.item("a")), code(200), isUnchanged(before)),
	)
}

func checkUndecodablePatch(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	if !c.isCustom() { // a strategic merge patch is decoded differently
		if err := s.expectAll(ctx,
			send(strategicPatch(c.item("a"), object{"data": []string{}}), invalidPatch("cannot restore map from slice").check),
			send(strategicPatch(c.item("a"), object{"apiVersion": "v2", "kind": "Secret"}), code(200), kind(c.apiVersion, c.kind), isUnchanged(before)),
			send(strategicPatch(c.item("a"), object{"metadata": 1}), invalidPatch("cannot restore struct from: int64").check),
		); err != nil {
			return err
		}
	}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"metadata": object{"annotations": object{"foo": []string{"bar"}}}}),
			invalidPatch("json: cannot unmarshal array into Go struct field ObjectMeta.").check),
		send(jsonPatch(c.item("a"), object{"op": "add", "path": "/metadata/labels", "value": "none"}),
			invalidPatch("json: cannot unmarshal string into Go struct field ObjectMeta.").check),
		send(get(c.item("a")), code(200), isUnchanged(before)),
	)
}

func checkPatchOfType(ctx context.Context, s *session, c collection) error {
	kind, version := object{"kind": "Bogus"}, object{"apiVersion": "v9"}
	refusedKind := invalidPatch(fmt.Sprintf("no kind %q is registered for version %q in scheme", "Bogus", c.apiVersion))
	refusedVersion := invalidPatch(fmt.Sprintf("no kind %q is registered for version %q in scheme", c.kind, "v9"))
	if c.isCustom() {
		other := func(group, kind, field, value, must string) failure {
			return collection{group: group, kind: kind}.invalidField("a", metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: fmt.Sprintf("Invalid value: %q: must be %s", value, must),
			})
		}
		refusedKind = other(c.group, "Bogus", "kind", "Bogus", c.kind)
		refusedVersion = other("", c.kind, "apiVersion", "v9", c.apiVersion)
	}
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), kind), refusedKind.check),
		send(jsonPatch(c.item("a"), object{"op": "replace", "path": "/kind", "value": "Bogus"}), refusedKind.check),
		send(mergePatch(c.item("a"), version), refusedVersion.check),
		send(get(c.item("a")), code(200), valueAt("1", "data", "k")),
	)
}

func checkPatchValidation(ctx context.Context, s *session, c collection) error {
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	bad := object{"metadata": object{"labels": object{"k": "not a value"}}}
	causes := fmt.Sprintf("Invalid value: %q: a valid label must be an empty string or consist of alphanumeric characters", "not a value")
	// The causes are not compared, because a label may fail several checks.
	want := c.invalidField("a")
	want.contains = "metadata.labels: " + causes
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), bad), want.check),
		send(get(c.item("a")), code(200), isUnchanged(before)),
	)
}

func checkPatchAgainstSchema(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.object("a").with("spec", object{"size": 1}))
	if err != nil {
		return err
	}
	want := c.invalidField("a", metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.size",
		Message: "Invalid value: -1: spec.size in body should be greater than or equal to 0",
	})
	return s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"spec": object{"size": -1}}), want.check),
		send(jsonPatch(c.item("a"), object{"op": "replace", "path": "/spec/size", "value": -1}), want.check),
		send(get(c.item("a")), code(200), isUnchanged(o)),
	)
}
