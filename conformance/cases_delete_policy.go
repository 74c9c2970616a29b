package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// docGarbage is where propagation policies are explained.
const docGarbage = "Garbage Collection, Cascading deletion; apiserver registry/generic/registry/store.go"

// propagationCases are about what is to become of dependents (DL). They look at what the API server does, which
// is to set and drop finalizers; the answer to the deletion shows it before a garbage collector can act on it.
func propagationCases() []Case {
	return slices.Concat(
		both(Case{
			ID: "DL-12", Level: Must, Title: "propagationPolicy Foreground keeps the object with the finalizer foregroundDeletion",
			Why: "the garbage collector deletes the dependents first", Source: docGarbage,
		}, keptBy(object{"propagationPolicy": "Foreground"}, metav1.FinalizerDeleteDependents)),
		both(Case{
			ID: "DL-13", Level: Must, Title: "propagationPolicy Orphan keeps the object with the finalizer orphan",
			Why: "the garbage collector frees the dependents first", Source: docGarbage,
		}, keptBy(object{"propagationPolicy": "Orphan"}, metav1.FinalizerOrphanDependents)),
		both(Case{
			ID: "DL-13/old", Level: Must, Title: "orphanDependents true is another way to say propagationPolicy Orphan",
			Why: "old clients say it so", Source: docGarbage,
		}, keptBy(object{"orphanDependents": true}, metav1.FinalizerOrphanDependents)),
		both(Case{
			ID: "DL-14", Level: Must, Title: "propagationPolicy Background drops the finalizers for dependents and removes the object at once",
			Why: "it overrules what was asked for before", Source: docGarbage,
		}, backgroundDelete),
		both(Case{
			ID: "DL-15", Level: Must, Title: "orphanDependents and propagationPolicy cannot be given together",
			Why: "they may contradict each other", Source: "apimachinery meta/v1/validation",
		}, invalidPolicy("?orphanDependents=true&propagationPolicy=Orphan", object{"orphanDependents": true, "propagationPolicy": "Orphan"},
			metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueInvalid, Field: "propagationPolicy",
				Message: `Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
			})),
		both(Case{
			ID: "DL-16", Level: Must, Title: "an unknown propagationPolicy is refused with the list of the known ones",
			Why: "dependents would be deleted that should have stayed", Source: "apimachinery meta/v1/validation",
		}, invalidPolicy("?propagationPolicy=Bogus", object{"propagationPolicy": "Bogus"}, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueNotSupported, Field: "propagationPolicy",
			Message: `Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`,
		})),
		both(Case{
			ID: "DL-21", Level: Must, Title: "202 answers only a deletion with orphanDependents false that is not done yet",
			Why: "old clients tell by it that they have to wait", Source: "apiserver handlers/delete.go",
		}, acceptedDelete),
		both(Case{
			ID: "DL-27", Level: Must, Title: "an object cannot have both finalizers for dependents",
			Why: "they contradict each other", Source: "apimachinery api/validation",
		}, bothFinalizers),
	)
}

// keptBy makes the check that these options leave an object with a finalizer that it did not have, and that its own stays.
func keptBy(options object, by string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for name, o := range inOrder(map[string]object{"free": c.object("free"), "held": c.object("held").held()}) {
			if _, err := c.create(ctx, o); err != nil {
				return err
			}
			want := []string{by}
			if name == "held" {
				want = []string{finalizer, by}
			}
			err := s.try(ctx, deleting(c.item(name), options), code(200), kind(c.apiVersion, c.kind), finalizers(want...), terminating(0))
			if err != nil {
				return err
			}
		}
		return s.try(ctx, get(c.item("held")), code(200), terminating(0))
	}
}

func backgroundDelete(ctx context.Context, s *session, c collection) error {
	for _, dropped := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		// It is not being deleted, so a garbage collector leaves the finalizer alone.
		if _, err := c.create(ctx, c.object("a").meta("finalizers", []string{dropped})); err != nil {
			return err
		}
		if err := s.try(ctx, deleting(c.item("a"), object{"propagationPolicy": "Background"}), code(200)); err != nil {
			return err
		}
		if err := c.wantGone(ctx, "a"); err != nil {
			return err
		}
	}
	if _, err := c.create(ctx, c.object("held").meta("finalizers", []string{finalizer, metav1.FinalizerOrphanDependents})); err != nil {
		return err
	}
	return s.try(ctx, deleting(c.item("held"), object{"propagationPolicy": "Background"}), code(200), finalizers(finalizer), terminating(0))
}

// invalidPolicy makes the check that options are refused for this cause, in the query and in the body.
func invalidPolicy(query string, options object, cause metav1.StatusCause) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		for _, one := range []call{del(c.item("a") + query), deleting(c.item("a"), options), del(c.path() + query)} {
			if err := s.try(ctx, one, invalidDelete(cause).check); err != nil {
				return err
			}
		}
		return s.try(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp"))
	}
}

func acceptedDelete(ctx context.Context, s *session, c collection) error {
	for _, o := range []object{c.object("free"), c.object("held").held(), c.object("other").held()} {
		if _, err := c.create(ctx, o); err != nil {
			return err
		}
	}
	if err := s.try(ctx, deleting(c.item("held"), object{"orphanDependents": false}), code(202), kind(c.apiVersion, c.kind), terminating(0)); err != nil {
		return err
	}
	if err := s.try(ctx, deleting(c.item("free"), object{"orphanDependents": false}), code(200), kind("v1", "Status")); err != nil {
		return err
	}
	return s.try(ctx, deleting(c.item("other"), object{"propagationPolicy": "Background"}), code(200))
}

func bothFinalizers(ctx context.Context, s *session, c collection) error {
	two := []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	return s.try(ctx, post(c.path(), c.object("a").meta("finalizers", two)), refusal{
		code: 422, reason: metav1.StatusReasonInvalid, says: "finalizer orphan and foregroundDeletion cannot be both set",
		details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: c.kind},
	}.check, firstCause(metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.finalizers",
		Message: `Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`,
	}))
}
