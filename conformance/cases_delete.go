package conformance

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docFinalizers = "Finalizers; API conventions, Resource deletion"
	docDelete     = "API conventions, Verbs on Resources; apiserver handlers/delete.go"
	docStore      = "apiserver registry/generic/registry/store.go"
)

// deleteCases returns the cases about deletions with and without finalizers (DL).
func deleteCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "DL-01/object", Level: Must, Title: "DELETE of some types returns the deleted object instead of a Status",
			Why:    "kubectl and controllers read the deleted object from it",
			Source: docStore,
		}, func(ctx context.Context, s *session, c collection) error {
			c.kind, c.resource = "ServiceAccount", "serviceaccounts"
			o, err := c.create(ctx, c.object("a"))
			if err != nil {
				return err
			}
			err = s.expect(ctx, del(c.item("a")), code(200), kind("v1", "ServiceAccount"), field(string(o.UID), "metadata", "uid"))
			if err != nil {
				return err
			}
			return c.expectNotFound(ctx, "a")
		}),
	},
		onBoth(Case{
			ID: "DL-01", Level: Must, Title: "an object without finalizers is removed immediately, and a Status identifies it",
			Why:    "the uid in the response is that of the deleted object",
			Source: docDelete,
		}, checkDelete),
		onBoth(Case{
			ID: "DL-02", Level: Must, Title: "DELETE of an object that does not exist is NotFound",
			Why:    "clients treat it as success, and any other error as a reason to retry",
			Source: docDelete,
		}, func(ctx context.Context, s *session, c collection) error {
			return s.expect(ctx, del(c.item("a")), notFound(c, "a").check)
		}),
		onBoth(Case{
			ID: "DL-03", Level: Must, Title: "an object with finalizers stays, with a deletionTimestamp, and is returned",
			Why:    "controllers see the deletionTimestamp and clean up",
			Source: docFinalizers,
		}, checkDeleteWithFinalizers),
		onBoth(Case{
			ID: "DL-04", Level: Must, Title: "a second DELETE of a terminating object changes nothing",
			Why:    "retries of clients must not trigger every controller",
			Source: docStore,
		}, checkDeleteAgain),
		onBoth(Case{
			ID: "DL-05", Level: Must, Title: "the write that removes the last finalizer removes the object, and returns it",
			Why:    "the last controller learns that its write succeeded",
			Source: docStore,
		}, func(ctx context.Context, s *session, c collection) error {
			terminating, err := c.createAndDelete(ctx, c.object("a").withFinalizer())
			if err != nil {
				return err
			}
			return c.expectRemovalBy(ctx, terminating, c.removeFinalizers("a"))
		}),
		onBoth(Case{
			ID: "DL-05/put", Level: Must, Title: "a PUT that removes the last finalizer removes the object, and returns it",
			Why:    "most controllers write their finalizers with PUT",
			Source: docStore,
		}, func(ctx context.Context, s *session, c collection) error {
			terminating, err := c.createAndDelete(ctx, c.object("a").withFinalizer())
			if err != nil {
				return err
			}
			return c.expectRemovalBy(ctx, terminating, put(c.item("a"), c.object("a").withMeta("resourceVersion", terminating.ResourceVersion)))
		}),
		onBoth(Case{
			ID: "DL-06", Level: Must, Title: "no finalizer can be added to a terminating object",
			Why:    "a started deletion must be able to finish",
			Source: docFinalizers + "; apimachinery api/validation",
		}, checkAddFinalizer),
		onBoth(Case{
			ID: "DL-07", Level: Must, Title: "finalizers can be removed in any order",
			Why:    "controllers do not wait for each other",
			Source: docFinalizers,
		}, checkFinalizerOrder),
		onBoth(Case{
			ID: "DL-08", Level: Must, Title: "a terminating object can still be changed",
			Why:    "controllers report their progress in it",
			Source: docFinalizers,
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.createAndDelete(ctx, c.object("a").withFinalizer()); err != nil {
				return err
			}
			return s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{"labels": object{"app": "x"}}}), code(200),
				field("x", "metadata", "labels", "app"), isTerminating(0))
		}),
		onBoth(Case{
			ID: "DL-36", Level: Must, Title: "a PUT that leaves a finalizer on a terminating object does not remove the object",
			Why:    "the controller of that finalizer has not finished",
			Source: docStore,
		}, func(ctx context.Context, s *session, c collection) error {
			terminating, err := c.createAndDelete(ctx, c.object("a").withMeta("finalizers", []string{finalizer, secondFinalizer}))
			if err != nil {
				return err
			}
			body := c.object("a").withFinalizer().withMeta("resourceVersion", terminating.ResourceVersion)
			if err := s.expect(ctx, put(c.item("a"), body), code(200), finalizers(finalizer)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(200), finalizers(finalizer), isTerminating(0))
		}),
		onBoth(Case{
			ID: "DL-37", Level: Must, Title: "an owner can be deleted immediately whatever its dependents are",
			Why:    "the garbage collector handles the dependents later",
			Source: "Garbage Collection, Owners and dependents",
		}, checkDeleteOwner),
	)
}

// secondFinalizer is for objects with two finalizers. The clean-up removes it, because it contains
// the first.
const secondFinalizer = finalizer + "-too"

// createAndDelete creates an object with finalizers and deletes it.
func (c collection) createAndDelete(ctx context.Context, o object) (metav1.PartialObjectMetadata, error) {
	created, err := c.create(ctx, o)
	if err != nil {
		return created, err
	}
	return c.s.doObject(ctx, del(c.item(created.Name)), code(200), kind(c.apiVersion, c.kind))
}

// removeFinalizers returns the call that removes all finalizers of an object.
func (c collection) removeFinalizers(name string) call {
	return mergePatch(c.item(name), object{"metadata": object{"finalizers": nil}})
}

// expectNotFound expects that an object does not exist.
func (c collection) expectNotFound(ctx context.Context, name string) error {
	return c.s.expect(ctx, get(c.item(name)), notFound(c, name).check)
}

// expectRemovalBy sends the call that removes the last finalizer of a terminating object, and
// expects that it removes the object.
func (c collection) expectRemovalBy(ctx context.Context, terminating metav1.PartialObjectMetadata, last call) error {
	err := c.s.expect(ctx, last, code(200), kind(c.apiVersion, c.kind), atResourceVersion(terminating.ResourceVersion),
		field(string(terminating.UID), "metadata", "uid"), value(nil, "metadata", "finalizers"), isTerminating(0))
	if err != nil {
		return err
	}
	return c.expectNotFound(ctx, terminating.Name)
}

func checkDelete(ctx context.Context, s *session, c collection) error {
	created, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.item("a")), code(200), isDeletedStatus(c, created)); err != nil {
		return err
	}
	return c.expectNotFound(ctx, "a")
}

func checkDeleteWithFinalizers(ctx context.Context, s *session, c collection) error {
	created, err := c.create(ctx, c.object("a").withFinalizer())
	if err != nil {
		return err
	}
	marks := []expectation{code(200), kind(c.apiVersion, c.kind), field(string(created.UID), "metadata", "uid"), isTerminating(0), finalizers(finalizer)}
	if created.Generation > 0 { // some types have no generation
		marks = append(marks, value(created.Generation+1, "metadata", "generation"))
	}
	terminating, err := s.doObject(ctx, del(c.item("a")), marks...)
	if err != nil {
		return err
	}
	if terminating.ResourceVersion == created.ResourceVersion {
		return fmt.Errorf("DELETE %s: expected a new resourceVersion, got %s again", c.item("a"), created.ResourceVersion)
	}
	return s.expect(ctx, get(c.item("a")), append(marks, atResourceVersion(terminating.ResourceVersion))...)
}

func checkDeleteAgain(ctx context.Context, s *session, c collection) error {
	terminating, err := c.createAndDelete(ctx, c.object("a").withFinalizer())
	if err != nil {
		return err
	}
	again := []expectation{code(200), kind(c.apiVersion, c.kind), atResourceVersion(terminating.ResourceVersion), isTerminating(0)}
	if err := s.expect(ctx, del(c.item("a")), again...); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), again...)
}

func checkAddFinalizer(ctx context.Context, s *session, c collection) error {
	if _, err := c.createAndDelete(ctx, c.object("a").withFinalizer()); err != nil {
		return err
	}
	text := "no new finalizers can be added if the object is being deleted, found new finalizers []string{\"" + secondFinalizer + "\"}"
	more := object{"metadata": object{"finalizers": []string{finalizer, secondFinalizer}}}
	err := s.expect(ctx, mergePatch(c.item("a"), more), failure{
		code: 422, reason: metav1.StatusReasonInvalid, contains: c.groupKind() + ` "a" is invalid: `,
		details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: c.kind},
	}.check, firstCause(metav1.StatusCause{Type: "FieldValueForbidden", Field: "metadata.finalizers", Message: "Forbidden: " + text}))
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")), code(200), finalizers(finalizer))
}

// firstCause expects a Status whose first cause is this one, for fields that servers validate more
// than once.
func firstCause(want metav1.StatusCause) expectation {
	return func(r *response) error {
		var got metav1.Status
		if err := r.decode(&got); err != nil {
			return err
		}
		if got.Details == nil || len(got.Details.Causes) == 0 || got.Details.Causes[0] != want {
			return fmt.Errorf("expected the cause %+v, got %+v", want, got.Details)
		}
		return nil
	}
}

func checkFinalizerOrder(ctx context.Context, s *session, c collection) error {
	for name, left := range sortedByKey(map[string]string{"first": finalizer, "second": secondFinalizer}) {
		if _, err := c.createAndDelete(ctx, c.object(name).withMeta("finalizers", []string{finalizer, secondFinalizer})); err != nil {
			return err
		}
		one := mergePatch(c.item(name), object{"metadata": object{"finalizers": []string{left}}})
		if err := s.expect(ctx, one, code(200), finalizers(left)); err != nil {
			return err
		}
		if err := s.expect(ctx, get(c.item(name)), code(200), finalizers(left)); err != nil {
			return err
		}
		if err := s.expect(ctx, c.removeFinalizers(name), code(200)); err != nil {
			return err
		}
		if err := c.expectNotFound(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func checkDeleteOwner(ctx context.Context, s *session, c collection) error {
	owner, err := c.create(ctx, c.object("owner"))
	if err != nil {
		return err
	}
	// The finalizer prevents a garbage collector from removing it before the check.
	_, err = c.create(ctx, c.object("dependent").withFinalizer().withMeta("ownerReferences", []object{{
		"apiVersion": c.apiVersion, "kind": c.kind, "name": "owner", "uid": owner.UID, "blockOwnerDeletion": true,
	}}))
	if err != nil {
		return err
	}
	if err := s.expect(ctx, del(c.item("owner")+"?propagationPolicy=Background"), code(200), isDeletedStatus(c, owner)); err != nil {
		return err
	}
	if err := c.expectNotFound(ctx, "owner"); err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("dependent")), code(200), field("dependent", "metadata", "name"))
}
