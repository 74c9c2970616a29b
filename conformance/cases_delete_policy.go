package conformance

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// docGarbage describes propagation policies.
const docGarbage = "Garbage Collection, Cascading deletion; apiserver registry/generic/registry/store.go"

// propagationCases returns the cases about dependents (DL). The API server only adds and removes
// finalizers; the response to the deletion shows them before a garbage collector acts.
func propagationCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "DL-12", Level: Must, Title: "propagationPolicy Foreground keeps the object with the finalizer foregroundDeletion",
			Why: "the garbage collector deletes the dependents first", Source: docGarbage,
		}, checkPolicyFinalizer(object{"propagationPolicy": "Foreground"}, metav1.FinalizerDeleteDependents)),
		onBoth(Case{
			ID: "DL-13", Level: Must, Title: "propagationPolicy Orphan keeps the object with the finalizer orphan",
			Why: "the garbage collector removes the owner references first", Source: docGarbage,
		}, checkPolicyFinalizer(object{"propagationPolicy": "Orphan"}, metav1.FinalizerOrphanDependents)),
		onBoth(Case{
			ID: "DL-13/old", Level: Must, Title: "orphanDependents=true equals propagationPolicy Orphan",
			Why: "old clients use it", Source: docGarbage,
		}, checkPolicyFinalizer(object{"orphanDependents": true}, metav1.FinalizerOrphanDependents)),
		onBoth(Case{
			ID: "DL-14", Level: Must, Title: "propagationPolicy Background removes the finalizers for dependents and the object immediately",
			Why: "it overrides an earlier policy", Source: docGarbage,
		}, checkBackgroundDelete),
		onBoth(Case{
			ID: "DL-15", Level: Must, Title: "orphanDependents and propagationPolicy are mutually exclusive",
			Why: "they may contradict each other", Source: "apimachinery meta/v1/validation",
		}, checkInvalidPolicy("?orphanDependents=true&propagationPolicy=Orphan", object{"orphanDependents": true, "propagationPolicy": "Orphan"},
			metav1.StatusCause{
				Type: metav1.CauseTypeFieldValueInvalid, Field: "propagationPolicy",
				Message: `Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
			})),
		onBoth(Case{
			ID: "DL-16", Level: Must, Title: "an unknown propagationPolicy is rejected with the list of known ones",
			Why: "dependents could be deleted that should stay", Source: "apimachinery meta/v1/validation",
		}, checkInvalidPolicy("?propagationPolicy=Bogus", object{"propagationPolicy": "Bogus"}, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueNotSupported, Field: "propagationPolicy",
			Message: `Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`,
		})),
		onBoth(Case{
			ID: "DL-21", Level: Must, Title: "only an unfinished deletion with orphanDependents=false is answered 202",
			Why: "old clients wait if they get 202", Source: "apiserver handlers/delete.go",
		}, checkAcceptedDelete),
		onBoth(Case{
			ID: "DL-27", Level: Must, Title: "an object cannot have both finalizers for dependents",
			Why: "they contradict each other", Source: "apimachinery api/validation",
		}, checkBothFinalizers),
	)
}

// checkPolicyFinalizer checks that these options add a finalizer to an object, and that existing
// finalizers stay.
func checkPolicyFinalizer(options object, by string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for name, o := range sortedByKey(map[string]object{"free": c.object("free"), "held": c.object("held").withFinalizer()}) {
			if _, err := c.create(ctx, o); err != nil {
				return err
			}
			want := []string{by}
			if name == "held" {
				want = []string{finalizer, by}
			}
			err := s.expect(ctx, delWithOptions(c.item(name), options), code(200), kind(c.apiVersion, c.kind), finalizers(want...), isTerminating(0))
			if err != nil {
				return err
			}
		}
		return s.expect(ctx, get(c.item("held")), code(200), isTerminating(0))
	}
}

func checkBackgroundDelete(ctx context.Context, s *session, c collection) error {
	for _, dropped := range []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents} {
		// A garbage collector ignores the finalizer, because the object is not terminating.
		if _, err := c.create(ctx, c.object("a").withMeta("finalizers", []string{dropped})); err != nil {
			return err
		}
		if err := s.expect(ctx, delWithOptions(c.item("a"), object{"propagationPolicy": "Background"}), code(200)); err != nil {
			return err
		}
		if err := c.expectNotFound(ctx, "a"); err != nil {
			return err
		}
	}
	if _, err := c.create(ctx, c.object("held").withMeta("finalizers", []string{finalizer, metav1.FinalizerOrphanDependents})); err != nil {
		return err
	}
	return s.expect(ctx, delWithOptions(c.item("held"), object{"propagationPolicy": "Background"}), code(200), finalizers(finalizer), isTerminating(0))
}

// checkInvalidPolicy checks that options are rejected with this cause, in the query and in the
// body.
func checkInvalidPolicy(query string, options object, cause metav1.StatusCause) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		for _, one := range []call{del(c.item("a") + query), delWithOptions(c.item("a"), options), del(c.path() + query)} {
			if err := s.expect(ctx, one, invalidDeleteOptions(cause).check); err != nil {
				return err
			}
		}
		return s.expect(ctx, get(c.item("a")), code(200), value(nil, "metadata", "deletionTimestamp"))
	}
}

func checkAcceptedDelete(ctx context.Context, s *session, c collection) error {
	for _, o := range []object{c.object("free"), c.object("held").withFinalizer(), c.object("other").withFinalizer()} {
		if _, err := c.create(ctx, o); err != nil {
			return err
		}
	}
	if err := s.expect(ctx, delWithOptions(c.item("held"), object{"orphanDependents": false}), code(202), kind(c.apiVersion, c.kind), isTerminating(0)); err != nil {
		return err
	}
	if err := s.expect(ctx, delWithOptions(c.item("free"), object{"orphanDependents": false}), code(200), kind("v1", "Status")); err != nil {
		return err
	}
	return s.expect(ctx, delWithOptions(c.item("other"), object{"propagationPolicy": "Background"}), code(200))
}

func checkBothFinalizers(ctx context.Context, s *session, c collection) error {
	two := []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	return s.expect(ctx, post(c.path(), c.object("a").withMeta("finalizers", two)), failure{
		code: 422, reason: metav1.StatusReasonInvalid, contains: "finalizer orphan and foregroundDeletion cannot be both set",
		details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: c.kind},
	}.check, firstCause(metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.finalizers",
		Message: `Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`,
	}))
}
