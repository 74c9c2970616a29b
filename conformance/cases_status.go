package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docStatus = "API conventions, Spec and Status; apiextensions registry/customresource/status_strategy.go"

// bodyFunc returns the body of an object with a spec and a status.
type bodyFunc func(name string) object

// onStatusSubresource returns two cases of one rule: one for Pods, and one for the custom resource
// with subresources. Both have a status.message.
func onStatusSubresource(c Case, check func(ctx context.Context, s *session, c collection, body bodyFunc) error) []Case {
	typed, custom := typedAndCustom(c)
	return []Case{
		onPods(typed, func(ctx context.Context, s *session, c collection) error { return check(ctx, s, c, c.unscheduledPod) }),
		onScaleCRs(custom, func(ctx context.Context, s *session, c collection) error { return check(ctx, s, c, c.scaleCR) }),
	}
}

// statusCases returns the cases about the status subresource (SU).
func statusCases() []Case {
	return slices.Concat(
		onStatusSubresource(Case{
			ID: "SU-01", Level: Must, Title: "with a status subresource, the main path ignores the status",
			Why: "users send back objects that they have read, and must not revert the status", Source: docStatus,
		}, checkMainPathIgnoresStatus),
		onStatusSubresource(Case{
			ID: "SU-02", Level: Must, Title: "the status subresource changes the status and ignores the spec",
			Why: "controllers send back objects that they have read, and must not revert the spec", Source: docStatus,
		}, checkStatusIgnoresSpec),
		[]Case{onScaleCRs(Case{
			ID: "SU-02/metadata/custom", Level: Must, Title: "the status subresource of a custom resource ignores the metadata",
			Why: "users own the labels", Source: docStatus,
		}, checkStatusIgnoresMetadata)},
		onStatusSubresource(Case{
			ID: "SU-03", Level: Must, Title: "a status update with an older resourceVersion is rejected",
			Why: "two controllers must not overwrite each other", Source: docStatus,
		}, checkStaleStatus),
		[]Case{
			onPods(Case{
				ID: "SU-03/unset/typed", Level: Must, Title: "a status update without a resourceVersion overwrites, if the type allows it",
				Why: "kubelets report this way", Source: docStatus,
			}, func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createWithRetry(ctx, c.unscheduledPod("a")); err != nil {
					return err
				}
				return s.expect(ctx, put(c.item("a")+"/status", c.withStatusMessage(c.unscheduledPod("a"), "new")), code(200), field("new", "status", "message"))
			}),
			onScaleCRs(Case{
				ID: "SU-03/unset/custom", Level: Must, Title: "a status update of a custom resource requires a resourceVersion",
				Why: "custom resources do not allow unconditional updates", Source: docStatus,
			}, checkUnsetStatusVersion),
			onScaleCRs(Case{
				ID: "SU-05", Level: Must, Title: "without a status subresource the main path stores the status",
				Why: "it is a field like any other", Source: "CustomResourceDefinitions, Status subresource",
			}, checkStatusWithoutSubresource),
			onPods(Case{
				ID: "SU-07/typed", Level: Must, Title: "a status cannot be created or deleted",
				Why: "it exists as long as its object", Source: docStatus,
			}, func(ctx context.Context, s *session, c collection) error {
				for _, one := range []call{post(c.item("a")+"/status", c.unscheduledPod("a")), del(c.item("a") + "/status")} {
					if err := s.expect(ctx, one, methodNotAllowed.check); err != nil {
						return err
					}
				}
				return nil
			}),
			onScaleCRs(Case{
				ID: "SU-07/custom", Level: Must, Title: "the status of a custom resource cannot be created or deleted, nor can its scale",
				Why: "they exist as long as their object", Source: docStatus,
			}, checkUnsupportedOnSubresources),
		},
		onStatusSubresource(Case{
			ID: "SU-04", Level: Must, Title: "a status update changes the resourceVersion and keeps the generation",
			Why: "controllers detect spec changes by the generation", Source: docStatus,
		}, checkStatusVersions),
		onStatusSubresource(Case{
			ID: "SU-06", Level: Must, Title: "GET of the status subresource returns the complete object",
			Why: "clients with permission for the status only need to identify the object", Source: docStatus,
		}, func(ctx context.Context, s *session, c collection, body bodyFunc) error {
			r, err := c.createWithRetry(ctx, body("a"))
			if err != nil {
				return err
			}
			full, err := s.do(ctx, get(c.item("a")), code(200))
			if err != nil {
				return err
			}
			part, err := s.do(ctx, get(c.item("a")+"/status"), code(200), kind(c.apiVersion, c.kind), hasField("spec"))
			if err == nil && !equalJSON(full.body, part.body) {
				err = part.errorf("expected the same object as at the main path, %s", excerpt(r.body))
			}
			return err
		}),
	)
}

// withStatusMessage returns the object with this status.message.
func (c collection) withStatusMessage(o object, message string) object {
	o["status"] = object{"message": message}
	return o
}

// patchStatusMessage sets status.message.
func (c collection) patchStatusMessage(ctx context.Context, message string) (metav1.PartialObjectMetadata, error) {
	return c.s.doObject(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"message": message}}), code(200), field(message, "status", "message"))
}

func checkMainPathIgnoresStatus(ctx context.Context, s *session, c collection, body bodyFunc) error {
	noMessage := value(nil, "status", "message")
	r, err := c.createWithRetry(ctx, c.withStatusMessage(body("a"), "created"), noMessage)
	if err != nil {
		return err
	}
	var o object
	if err := r.decode(&o); err != nil {
		return err
	}
	if err := s.expect(ctx, put(c.item("a"), c.withStatusMessage(o, "put")), code(200), noMessage); err != nil {
		return err
	}
	if err := s.expect(ctx, mergePatch(c.item("a"), object{"status": object{"message": "patched"}}), code(200), noMessage); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), noMessage)
}

func checkStatusIgnoresSpec(ctx context.Context, s *session, c collection, body bodyFunc) error {
	r, err := c.createWithRetry(ctx, body("a"))
	if err != nil {
		return err
	}
	var o, before object
	for _, into := range []*object{&o, &before} {
		if err := r.decode(into); err != nil {
			return err
		}
	}
	o["spec"].(map[string]any)["priorityClassName"] = "conformance"
	if err := s.expect(ctx, put(c.item("a")+"/status", c.withStatusMessage(o, "put")), code(200), field("put", "status", "message"), value(before["spec"], "spec")); err != nil {
		return err
	}
	patch := object{"spec": object{"priorityClassName": "conformance"}, "status": object{"message": "patched"}}
	if err := s.expect(ctx, mergePatch(c.item("a")+"/status", patch), code(200), field("patched", "status", "message")); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), field("patched", "status", "message"), value(before["spec"], "spec"))
}

func checkStatusIgnoresMetadata(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.scaleCR("a").withLabel("app", "x").withFinalizer())
	if err != nil {
		return err
	}
	sent := c.withStatusMessage(c.object("a"), "put").withLabel("app", "y").withMeta("resourceVersion", o.ResourceVersion).withMeta("annotations", object{"a": "b"})
	unchanged := []expectation{code(200), field("x", "metadata", "labels", "app"), value(nil, "metadata", "annotations"), finalizers(finalizer)}
	if err := s.expect(ctx, put(c.item("a")+"/status", sent), append(unchanged, field("put", "status", "message"))...); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), unchanged...)
}

func checkStaleStatus(ctx context.Context, s *session, c collection, body bodyFunc) error {
	r, err := c.createWithRetry(ctx, body("a"))
	if err != nil {
		return err
	}
	var o object
	if err := r.decode(&o); err != nil {
		return err
	}
	if _, err := c.patchStatusMessage(ctx, "newer"); err != nil {
		return err
	}
	if err := s.expect(ctx, put(c.item("a")+"/status", c.withStatusMessage(o, "older")), modifiedConflict(c, "a").check); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), field("newer", "status", "message"))
}

func checkUnsetStatusVersion(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.scaleCR("a")); err != nil {
		return err
	}
	return s.expect(ctx, put(c.item("a")+"/status", c.withStatusMessage(c.scaleCR("a"), "new")), failure{
		code: 422, reason: metav1.StatusReasonInvalid, details: c.statusDetails("a"),
		causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.resourceVersion", Message: "Invalid value: 0: must be specified for an update",
		}},
	}.check)
}

func checkStatusVersions(ctx context.Context, s *session, c collection, body bodyFunc) error {
	if _, err := c.createWithRetry(ctx, body("a")); err != nil {
		return err
	}
	before, err := s.doObject(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	after, err := c.patchStatusMessage(ctx, "new")
	if err != nil {
		return err
	}
	if after.ResourceVersion == before.ResourceVersion || after.Generation != before.Generation {
		return fmt.Errorf("PATCH %s/status: expected another resourceVersion and the same generation, got %s and %d after %s and %d",
			c.item("a"), after.ResourceVersion, after.Generation, before.ResourceVersion, before.Generation)
	}
	return s.expect(ctx, get(c.item("a")), code(200), atResourceVersion(after.ResourceVersion))
}

func checkStatusWithoutSubresource(ctx context.Context, s *session, c collection) error {
	plain := c.inScaleVersion("v1alpha1")
	if _, err := plain.create(ctx, plain.withStatusMessage(plain.scaleCR("a"), "created")); err != nil {
		return err
	}
	if err := s.expect(ctx, get(plain.item("a")), code(200), field("created", "status", "message")); err != nil {
		return err
	}
	patched := []expectation{code(200), field("patched", "status", "message"), value(2, "metadata", "generation")}
	if err := s.expect(ctx, mergePatch(plain.item("a"), object{"status": object{"message": "patched"}}), patched...); err != nil {
		return err
	}
	return s.expect(ctx, get(plain.item("a")+"/status"), notFound(plain, "a").check)
}

func checkUnsupportedOnSubresources(ctx context.Context, s *session, c collection) error {
	for _, sub := range []string{"/status", "/scale"} {
		for verb, one := range sortedByKey(map[string]call{"create": post(c.item("a")+sub, c.scaleCR("a")), "delete": del(c.item("a") + sub)}) {
			err := s.expect(ctx, one, failure{
				code: 405, reason: metav1.StatusReasonMethodNotAllowed, details: c.statusDetails(""),
				message: fmt.Sprintf("%s is not supported on resources of kind %q", verb, c.groupResource()),
			}.check)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
