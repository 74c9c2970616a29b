package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docStatus = "API conventions, Spec and Status; apiextensions registry/customresource/status_strategy.go"

// bodyMaker makes the body of an object that has a specification and a status, in a collection.
type bodyMaker func(name string) object

// withStatus makes two cases of one rule: on Pods, and on the custom resource with subresources. Both have a status.message.
func withStatus(c Case, check func(ctx context.Context, s *session, c collection, body bodyMaker) error) []Case {
	typed, custom := c, c
	typed.ID += "/typed"
	custom.ID += "/custom"
	return []Case{
		onPods(typed, func(ctx context.Context, s *session, c collection) error { return check(ctx, s, c, c.unscheduled) }),
		onDials(custom, func(ctx context.Context, s *session, c collection) error { return check(ctx, s, c, c.dial) }),
	}
}

// statusCases are about the status subresource (SU).
func statusCases() []Case {
	return slices.Concat(
		withStatus(Case{
			ID: "SU-01", Level: Must, Title: "where there is a status subresource, the main path ignores the status",
			Why: "users send back what they read, and must not undo what the controller reports", Source: docStatus,
		}, mainIgnoresStatus),
		withStatus(Case{
			ID: "SU-02", Level: Must, Title: "the status subresource changes the status and ignores the specification",
			Why: "controllers send back what they read, and must not undo what the user wants", Source: docStatus,
		}, statusIgnoresSpec),
		[]Case{onDials(Case{
			ID: "SU-02/metadata/custom", Level: Must, Title: "the status subresource of a custom resource ignores the metadata too",
			Why: "labels are the user's", Source: docStatus,
		}, statusIgnoresMetadata)},
		withStatus(Case{
			ID: "SU-03", Level: Must, Title: "a status made from an older state of the object is refused",
			Why: "two controllers must not overwrite each other", Source: docStatus,
		}, staleStatus),
		[]Case{
			onPods(Case{
				ID: "SU-03/unset/typed", Level: Must, Title: "a status without a resourceVersion overwrites, where the type allows it",
				Why: "nodes report so", Source: docStatus,
			}, func(ctx context.Context, s *session, c collection) error {
				if _, err := c.createPatiently(ctx, c.unscheduled("a")); err != nil {
					return err
				}
				return s.try(ctx, put(c.item("a")+"/status", c.reporting(c.unscheduled("a"), "new")), code(200), field("new", "status", "message"))
			}),
			onDials(Case{
				ID: "SU-03/unset/custom", Level: Must, Title: "the status of a custom resource cannot be written without a resourceVersion",
				Why: "custom resources are never overwritten unseen", Source: docStatus,
			}, unsetStatusVersion),
			onDials(Case{
				ID: "SU-05", Level: Must, Title: "without a status subresource the main path stores the status",
				Why: "it is a field like any other", Source: "CustomResourceDefinitions, Status subresource",
			}, plainStatus),
			onPods(Case{
				ID: "SU-07/typed", Level: Must, Title: "a status cannot be created or deleted",
				Why: "it lives and dies with its object", Source: docStatus,
			}, func(ctx context.Context, s *session, c collection) error {
				for _, one := range []call{post(c.item("a")+"/status", c.unscheduled("a")), del(c.item("a") + "/status")} {
					if err := s.try(ctx, one, notAllowed.check); err != nil {
						return err
					}
				}
				return nil
			}),
			onDials(Case{
				ID: "SU-07/custom", Level: Must, Title: "the status of a custom resource cannot be created or deleted, nor can its scale",
				Why: "they live and die with their object", Source: docStatus,
			}, unsupportedOnSubresources),
		},
		withStatus(Case{
			ID: "SU-04", Level: Must, Title: "a new status gives the object a new resourceVersion and leaves its generation",
			Why: "controllers tell by the generation whether there is work to do", Source: docStatus,
		}, statusVersions),
		withStatus(Case{
			ID: "SU-06", Level: Must, Title: "the status subresource shows the whole object",
			Why: "who may only read the status needs to know of what", Source: docStatus,
		}, func(ctx context.Context, s *session, c collection, body bodyMaker) error {
			a, err := c.createPatiently(ctx, body("a"))
			if err != nil {
				return err
			}
			whole, err := s.do(ctx, get(c.item("a")), code(200))
			if err != nil {
				return err
			}
			part, err := s.do(ctx, get(c.item("a")+"/status"), code(200), kind(c.apiVersion, c.kind), present("spec"))
			if err == nil && !sameJSON(whole.body, part.body) {
				err = part.errorf("expected the same as on the main path, %s", excerpt(a.body))
			}
			return err
		}),
	)
}

// reporting is the object with a status of this message.
func (c collection) reporting(o object, message string) object {
	o["status"] = object{"message": message}
	return o
}

// report writes a status of this message.
func (c collection) report(ctx context.Context, message string) (metav1.PartialObjectMetadata, error) {
	return c.s.object(ctx, mergePatch(c.item("a")+"/status", object{"status": object{"message": message}}), code(200), field(message, "status", "message"))
}

func mainIgnoresStatus(ctx context.Context, s *session, c collection, body bodyMaker) error {
	unsaid := value(nil, "status", "message")
	a, err := c.createPatiently(ctx, c.reporting(body("a"), "created"), unsaid)
	if err != nil {
		return err
	}
	var o object
	if err := a.decode(&o); err != nil {
		return err
	}
	if err := s.try(ctx, put(c.item("a"), c.reporting(o, "put")), code(200), unsaid); err != nil {
		return err
	}
	if err := s.try(ctx, mergePatch(c.item("a"), object{"status": object{"message": "patched"}}), code(200), unsaid); err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), code(200), unsaid)
}

func statusIgnoresSpec(ctx context.Context, s *session, c collection, body bodyMaker) error {
	a, err := c.createPatiently(ctx, body("a"))
	if err != nil {
		return err
	}
	var o, before object
	for _, into := range []*object{&o, &before} {
		if err := a.decode(into); err != nil {
			return err
		}
	}
	o["spec"].(map[string]any)["priorityClassName"] = "conformance"
	if err := s.try(ctx, put(c.item("a")+"/status", c.reporting(o, "put")), code(200), field("put", "status", "message"), value(before["spec"], "spec")); err != nil {
		return err
	}
	patch := object{"spec": object{"priorityClassName": "conformance"}, "status": object{"message": "patched"}}
	if err := s.try(ctx, mergePatch(c.item("a")+"/status", patch), code(200), field("patched", "status", "message")); err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), code(200), field("patched", "status", "message"), value(before["spec"], "spec"))
}

func statusIgnoresMetadata(ctx context.Context, s *session, c collection) error {
	o, err := c.create(ctx, c.dial("a").label("app", "x").held())
	if err != nil {
		return err
	}
	sent := c.reporting(c.object("a"), "put").label("app", "y").meta("resourceVersion", o.ResourceVersion).meta("annotations", object{"a": "b"})
	kept := []expectation{code(200), field("x", "metadata", "labels", "app"), value(nil, "metadata", "annotations"), finalizers(finalizer)}
	if err := s.try(ctx, put(c.item("a")+"/status", sent), append(kept, field("put", "status", "message"))...); err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), kept...)
}

// outdated is how a write is refused that was made from an older state.
func outdated(c collection, name string) refusal {
	return refusal{
		code: 409, reason: metav1.StatusReasonConflict, details: c.about(name),
		message: fmt.Sprintf(`Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the latest version and try again`,
			c.qualified(), name),
	}
}

func staleStatus(ctx context.Context, s *session, c collection, body bodyMaker) error {
	a, err := c.createPatiently(ctx, body("a"))
	if err != nil {
		return err
	}
	var o object
	if err := a.decode(&o); err != nil {
		return err
	}
	if _, err := c.report(ctx, "newer"); err != nil {
		return err
	}
	if err := s.try(ctx, put(c.item("a")+"/status", c.reporting(o, "older")), outdated(c, "a").check); err != nil {
		return err
	}
	return s.try(ctx, get(c.item("a")), code(200), field("newer", "status", "message"))
}

func unsetStatusVersion(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.dial("a")); err != nil {
		return err
	}
	return s.try(ctx, put(c.item("a")+"/status", c.reporting(c.dial("a"), "new")), refusal{
		code: 422, reason: metav1.StatusReasonInvalid, details: c.about("a"),
		causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.resourceVersion", Message: "Invalid value: 0: must be specified for an update",
		}},
	}.check)
}

func statusVersions(ctx context.Context, s *session, c collection, body bodyMaker) error {
	if _, err := c.createPatiently(ctx, body("a")); err != nil {
		return err
	}
	before, err := s.object(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	after, err := c.report(ctx, "new")
	if err != nil {
		return err
	}
	if after.ResourceVersion == before.ResourceVersion || after.Generation != before.Generation {
		return fmt.Errorf("PATCH %s/status: expected another resourceVersion and the same generation, got %s and %d after %s and %d",
			c.item("a"), after.ResourceVersion, after.Generation, before.ResourceVersion, before.Generation)
	}
	return s.try(ctx, get(c.item("a")), code(200), atVersion(after.ResourceVersion))
}

func plainStatus(ctx context.Context, s *session, c collection) error {
	plain := c.in("v1alpha1")
	if _, err := plain.create(ctx, plain.reporting(plain.dial("a"), "created")); err != nil {
		return err
	}
	if err := s.try(ctx, get(plain.item("a")), code(200), field("created", "status", "message")); err != nil {
		return err
	}
	patched := []expectation{code(200), field("patched", "status", "message"), value(2, "metadata", "generation")}
	if err := s.try(ctx, mergePatch(plain.item("a"), object{"status": object{"message": "patched"}}), patched...); err != nil {
		return err
	}
	return s.try(ctx, get(plain.item("a")+"/status"), notFound(plain, "a").check)
}

func unsupportedOnSubresources(ctx context.Context, s *session, c collection) error {
	for _, sub := range []string{"/status", "/scale"} {
		for verb, one := range inOrder(map[string]call{"create": post(c.item("a")+sub, c.dial("a")), "delete": del(c.item("a") + sub)}) {
			err := s.try(ctx, one, refusal{
				code: 405, reason: metav1.StatusReasonMethodNotAllowed, details: c.about(""),
				message: fmt.Sprintf("%s is not supported on resources of kind %q", verb, c.qualified()),
			}.check)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
