package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docLifecycle  = "apiserver admission/plugin/namespace/lifecycle"
	docNamespaces = "Namespaces; k/k registry/core/namespace"
)

// namespaceCases returns the cases about namespaces and creates in them (NS).
func namespaceCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "NS-01", Level: Must, Title: "no object can be created in a namespace that does not exist",
			Why: "the object would be unreachable and never deleted", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			absent := c
			absent.namespace = c.namespace + "-absent"
			return absent.expectCreateRejected(ctx, "a", failure{
				code: 404, reason: metav1.StatusReasonNotFound, message: fmt.Sprintf("namespaces %q not found", absent.namespace),
				details: &metav1.StatusDetails{Name: absent.namespace, Kind: "namespaces"},
			})
		}),
		onBoth(Case{
			ID: "NS-02", Level: Must, Title: "no object can be created in a terminating namespace, and a cause states the reason",
			Why: "the namespace could never become empty; controllers stop retrying because of the cause", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.skipWithoutNamespaceLifecycle(ctx); err != nil {
				return err
			}
			if err := c.deleteNamespace(ctx); err != nil {
				return err
			}
			return c.expectCreateRejected(ctx, "late", c.namespaceTerminating("late"))
		}),
		[]Case{ifNamespaceLifecycle(onCollection(func(s *session, ctx context.Context) (collection, error) { return s.leases(ctx) }, Case{
			ID: "NS-02/put", Level: Must, Title: "a PUT that would create an object in a terminating namespace is rejected",
			Why: "the namespace could never become empty", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.deleteNamespace(ctx); err != nil {
				return err
			}
			return s.expect(ctx, put(c.item("late"), c.object("late")), c.namespaceTerminating("late").check)
		}))},
		onBoth(Case{
			ID: "NS-03", Level: Must, Title: "objects in a terminating namespace can still be changed and deleted",
			Why: "controllers must remove their finalizers", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.deleteNamespace(ctx); err != nil {
				return err
			}
			err := s.expect(ctx, mergePatch(c.item("kept"), object{"metadata": object{"labels": object{"app": "x"}}}), code(200),
				field("x", "metadata", "labels", "app"))
			if err != nil {
				return err
			}
			return s.expect(ctx, del(c.item("kept")), code(200), isTerminating(0))
		}),
		[]Case{
			{
				ID: "NS-04", Level: Must, Title: "the namespaces default, kube-system and kube-public cannot be deleted",
				Why: "a cluster requires them", Source: docLifecycle, check: checkProtectedNamespaces,
			},
			ifNamespaceLifecycle(Case{
				ID: "NS-05", Level: Must, Title: "a new namespace is Active and has the finalizer kubernetes, whatever was sent",
				Why: "the namespace controller needs the finalizer to empty the namespace", Source: docNamespaces, check: checkNewNamespace,
			}),
			ifNamespaceLifecycle(Case{
				ID: "NS-05/sent", Level: Must, Title: "the finalizer kubernetes is appended to the spec.finalizers of a new namespace",
				Why: "other finalizers may be added, but must not replace it", Source: docNamespaces,
				check: func(ctx context.Context, s *session) error {
					name, body := s.nameNewNamespace()
					body["spec"] = object{"finalizers": []string{finalizer}}
					both := value([]string{finalizer, "kubernetes"}, "spec", "finalizers")
					if err := s.expect(ctx, post("/api/v1/namespaces", body), code(201), both); err != nil {
						return err
					}
					return s.removeSpecFinalizer(ctx, name)
				},
			}),
			{
				ID: "NS-10", Level: Must, Title: "LocalSubjectAccessReviews can be created in a namespace that does not exist",
				Why: "access reviews do not depend on the existence of the namespace", Source: docLifecycle, check: checkReviewInAbsentNamespace,
			},
			ifNamespaceLifecycle(Case{
				ID: "NS-11", Level: Must, Title: "a namespace has its name as the label kubernetes.io/metadata.name, whatever is sent",
				Why: "policies select namespaces by it", Source: "Namespaces, Automatic labelling", check: checkNamespaceLabel,
			}),
			ifNamespaceLifecycle(Case{
				ID: "NS-12", Level: Must, Title: "namespaces do not support deletecollection",
				Why: "one request would delete all namespaces", Source: docNamespaces, check: checkNamespaceDeleteCollection,
			}),
		},
	)
}

// skipWithoutNamespaceLifecycle skips the case if namespaces are plain objects, as on a server that
// is built from the API server libraries alone. Such a server does not serve namespaces/finalize.
func (s *session) skipWithoutNamespaceLifecycle(ctx context.Context) error {
	found, err := s.discoverResource(ctx, "v1", "namespaces/finalize")
	if err == nil && found == nil {
		err = s.skipf("the server does not serve namespaces/finalize of v1: its namespaces have no phase, finalizers, label and deletion in steps")
	}
	return err
}

// ifNamespaceLifecycle returns a case that is skipped if namespaces are plain objects.
func ifNamespaceLifecycle(c Case) Case {
	return withPrecondition(func(ctx context.Context, s *session) error { return s.skipWithoutNamespaceLifecycle(ctx) }, c)
}

// deleteNamespace deletes the namespace of the collection, which an object "kept" with a finalizer
// blocks.
func (c collection) deleteNamespace(ctx context.Context) error {
	if _, err := c.create(ctx, c.object("kept").withFinalizer()); err != nil {
		return err
	}
	return c.s.expect(ctx, del(namespacePath(c.namespace)), code(200))
}

// namespaceTerminating is the failure of a create in a terminating namespace.
func (c collection) namespaceTerminating(name string) failure {
	return failure{
		code: 403, reason: metav1.StatusReasonForbidden, details: c.statusDetails(name),
		message: fmt.Sprintf(`%s %q is forbidden: unable to create new content in namespace %s because it is being terminated`,
			c.groupResource(), name, c.namespace),
		causes: []metav1.StatusCause{{
			Type: "NamespaceTerminating", Field: "metadata.namespace", Message: fmt.Sprintf("namespace %s is being terminated", c.namespace),
		}},
	}
}

// expectCreateRejected expects that all ways to create an object fail.
func (c collection) expectCreateRejected(ctx context.Context, name string, want failure) error {
	for _, one := range []call{post(c.path(), c.object(name)), post(c.path()+"?dryRun=All", c.object(name)), apply(c.item(name), c.object(name))} {
		if err := c.s.expect(ctx, one, want.check); err != nil {
			return err
		}
	}
	return nil
}

func checkProtectedNamespaces(ctx context.Context, s *session) error {
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		// A dry run, in case the server is faulty.
		err := s.expect(ctx, del(namespacePath(name)+"?dryRun=All"), failure{
			code: 403, reason: metav1.StatusReasonForbidden, message: fmt.Sprintf("namespaces %q is forbidden: this namespace may not be deleted", name),
			details: &metav1.StatusDetails{Name: name, Kind: "namespaces"},
		}.check)
		if err != nil {
			return err
		}
	}
	return nil
}

func checkNewNamespace(ctx context.Context, s *session) error {
	name, body := s.nameNewNamespace()
	body["status"] = object{"phase": "Terminating"}
	expect := []expectation{field("Active", "status", "phase"), value([]string{"kubernetes"}, "spec", "finalizers")}
	if err := s.expect(ctx, post("/api/v1/namespaces", body), append(expect, code(201))...); err != nil {
		return err
	}
	return s.expect(ctx, get(namespacePath(name)), append(expect, code(200))...)
}

func checkReviewInAbsentNamespace(ctx context.Context, s *session) error {
	const group = "authorization.k8s.io/v1"
	if err := s.skipUnlessServed(ctx, group, "localsubjectaccessreviews"); err != nil {
		return err
	}
	namespace := s.absentNamespace()
	review := object{"apiVersion": group, "kind": "LocalSubjectAccessReview", "metadata": object{"namespace": namespace}}
	review["spec"] = object{"user": "conformance-absent", "resourceAttributes": object{"namespace": namespace, "verb": "get", "resource": "pods"}}
	return s.expect(ctx, post("/apis/"+group+"/namespaces/"+namespace+"/localsubjectaccessreviews", review), code(201), hasField("status", "allowed"))
}

func checkNamespaceLabel(ctx context.Context, s *session) error {
	const label = "kubernetes.io/metadata.name"
	name, body := s.nameNewNamespace()
	labelled := field(name, "metadata", "labels", label)
	if err := s.expect(ctx, post("/api/v1/namespaces", body), code(201), labelled); err != nil {
		return err
	}
	for _, sent := range []any{"another", nil} {
		patch := object{"metadata": object{"labels": object{label: sent}}}
		if err := s.expect(ctx, mergePatch(namespacePath(name), patch), code(200), labelled); err != nil {
			return err
		}
	}
	return nil
}

func checkNamespaceDeleteCollection(ctx context.Context, s *session) error {
	found, err := s.discoverResource(ctx, "v1", "namespaces")
	if err != nil {
		return err
	}
	if found == nil || slices.Contains(found.Verbs, "deletecollection") {
		return fmt.Errorf("GET /api/v1: expected namespaces without the verb deletecollection, got %v", found)
	}
	// The selector matches nothing, in case the server is faulty.
	return s.expect(ctx, del("/api/v1/namespaces?labelSelector=conformance-absent="+strings.ToLower(s.run.id)), methodNotAllowed.check)
}
