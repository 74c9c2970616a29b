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

// namespaceCases are about what namespaces are made of, and what they allow in them (NS).
func namespaceCases() []Case {
	return slices.Concat(
		both(Case{
			ID: "NS-01", Level: Must, Title: "nothing can be created in a namespace that does not exist",
			Why: "the object would be where nobody looks for it, and nobody would delete it", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			nowhere := c
			nowhere.namespace = c.namespace + "-absent"
			return nowhere.cannotAppear(ctx, "a", refusal{
				code: 404, reason: metav1.StatusReasonNotFound, message: fmt.Sprintf("namespaces %q not found", nowhere.namespace),
				details: &metav1.StatusDetails{Name: nowhere.namespace, Kind: "namespaces"},
			})
		}),
		both(Case{
			ID: "NS-02", Level: Must, Title: "nothing can be created in a namespace that is being deleted, and a cause says why",
			Why: "the namespace could never be emptied; controllers tell by the cause that they may give up", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := s.needsNamespaceLife(ctx); err != nil {
				return err
			}
			if err := c.terminate(ctx); err != nil {
				return err
			}
			return c.cannotAppear(ctx, "late", refusal{
				code: 403, reason: metav1.StatusReasonForbidden, details: c.about("late"),
				message: fmt.Sprintf(`%s "late" is forbidden: unable to create new content in namespace %s because it is being terminated`,
					c.qualified(), c.namespace),
				causes: []metav1.StatusCause{{
					Type: "NamespaceTerminating", Field: "metadata.namespace", Message: fmt.Sprintf("namespace %s is being terminated", c.namespace),
				}},
			})
		}),
		both(Case{
			ID: "NS-03", Level: Must, Title: "what is in a namespace that is being deleted can still be changed and deleted",
			Why: "controllers have to take their finalizers off", Source: docLifecycle,
		}, func(ctx context.Context, s *session, c collection) error {
			if err := c.terminate(ctx); err != nil {
				return err
			}
			err := s.try(ctx, mergePatch(c.item("kept"), object{"metadata": object{"labels": object{"app": "x"}}}), code(200),
				field("x", "metadata", "labels", "app"))
			if err != nil {
				return err
			}
			return s.try(ctx, del(c.item("kept")), code(200), terminating(0))
		}),
		[]Case{
			{
				ID: "NS-04", Level: Must, Title: "the namespaces default, kube-system and kube-public cannot be deleted",
				Why: "a cluster does not work without them", Source: docLifecycle, check: immortalNamespaces,
			},
			living(Case{
				ID: "NS-05", Level: Must, Title: "a new namespace is Active and has the finalizer kubernetes, whatever was sent",
				Why: "the finalizer is what lets the namespace controller empty it", Source: docNamespaces, check: freshNamespace,
			}),
			living(Case{
				ID: "NS-05/sent", Level: Must, Title: "a new namespace has the finalizer kubernetes behind those that were sent for its spec",
				Why: "others can hold a namespace too, but not instead", Source: docNamespaces,
				check: func(ctx context.Context, s *session) error {
					name, body := s.nameNamespace()
					body["spec"] = object{"finalizers": []string{finalizer}}
					both := value([]string{finalizer, "kubernetes"}, "spec", "finalizers")
					if err := s.try(ctx, post("/api/v1/namespaces", body), code(201), both); err != nil {
						return err
					}
					return s.letGo(ctx, name)
				},
			}),
			{
				ID: "NS-10", Level: Must, Title: "LocalSubjectAccessReviews can be created in a namespace that does not exist",
				Why: "the answer to what somebody may do there is not whether there is such a namespace", Source: docLifecycle, check: reviewNowhere,
			},
			living(Case{
				ID: "NS-11", Level: Must, Title: "a namespace has its name as the label kubernetes.io/metadata.name, whatever is sent",
				Why: "policies select namespaces by it", Source: "Namespaces, Automatic labelling", check: labelledNamespace,
			}),
			living(Case{
				ID: "NS-12", Level: Must, Title: "namespaces cannot be deleted as a collection",
				Why: "one request would empty the cluster", Source: docNamespaces, check: namespaceCollection,
			}),
		},
	)
}

// needsNamespaceLife skips the case on a server whose namespaces are objects like any other, as on one that is made of the API-server
// libraries alone: they have no finalize then, which is how a namespace ends everywhere else.
func (s *session) needsNamespaceLife(ctx context.Context) error {
	found, err := s.resource(ctx, "v1", "namespaces/finalize")
	if err == nil && found == nil {
		err = s.skipf("the server does not serve namespaces/finalize of v1: its namespaces are plain objects, without phase, finalizers, label and end")
	}
	return err
}

// living makes the case one that is skipped where namespaces are plain objects.
func living(c Case) Case {
	return after(func(ctx context.Context, s *session) error { return s.needsNamespaceLife(ctx) }, c)
}

// terminate deletes the namespace of the collection, in which an object stays, "kept", so that the namespace does too.
func (c collection) terminate(ctx context.Context) error {
	if _, err := c.create(ctx, c.object("kept").held()); err != nil {
		return err
	}
	return c.s.try(ctx, del(namespacePath(c.namespace)), code(200))
}

// cannotAppear expects that no way to create an object succeeds.
func (c collection) cannotAppear(ctx context.Context, name string, want refusal) error {
	for _, one := range []call{post(c.path(), c.object(name)), post(c.path()+"?dryRun=All", c.object(name)), apply(c.item(name), c.object(name))} {
		if err := c.s.try(ctx, one, want.check); err != nil {
			return err
		}
	}
	return nil
}

func immortalNamespaces(ctx context.Context, s *session) error {
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		// A dry run, in case the server does not keep this rule.
		err := s.try(ctx, del(namespacePath(name)+"?dryRun=All"), refusal{
			code: 403, reason: metav1.StatusReasonForbidden, message: fmt.Sprintf("namespaces %q is forbidden: this namespace may not be deleted", name),
			details: &metav1.StatusDetails{Name: name, Kind: "namespaces"},
		}.check)
		if err != nil {
			return err
		}
	}
	return nil
}

func freshNamespace(ctx context.Context, s *session) error {
	name, body := s.nameNamespace()
	body["status"] = object{"phase": "Terminating"}
	expect := []expectation{field("Active", "status", "phase"), value([]string{"kubernetes"}, "spec", "finalizers")}
	if err := s.try(ctx, post("/api/v1/namespaces", body), append(expect, code(201))...); err != nil {
		return err
	}
	return s.try(ctx, get(namespacePath(name)), append(expect, code(200))...)
}

func reviewNowhere(ctx context.Context, s *session) error {
	const group = "authorization.k8s.io/v1"
	if err := s.needs(ctx, group, "localsubjectaccessreviews"); err != nil {
		return err
	}
	namespace := s.absent()
	review := object{"apiVersion": group, "kind": "LocalSubjectAccessReview", "metadata": object{"namespace": namespace}}
	review["spec"] = object{"user": "nobody", "resourceAttributes": object{"namespace": namespace, "verb": "get", "resource": "pods"}}
	return s.try(ctx, post("/apis/"+group+"/namespaces/"+namespace+"/localsubjectaccessreviews", review), code(201), present("status", "allowed"))
}

func labelledNamespace(ctx context.Context, s *session) error {
	const label = "kubernetes.io/metadata.name"
	name, body := s.nameNamespace()
	labelled := field(name, "metadata", "labels", label)
	if err := s.try(ctx, post("/api/v1/namespaces", body), code(201), labelled); err != nil {
		return err
	}
	for _, sent := range []any{"another", nil} {
		patch := object{"metadata": object{"labels": object{label: sent}}}
		if err := s.try(ctx, mergePatch(namespacePath(name), patch), code(200), labelled); err != nil {
			return err
		}
	}
	return nil
}

func namespaceCollection(ctx context.Context, s *session) error {
	found, err := s.resource(ctx, "v1", "namespaces")
	if err != nil {
		return err
	}
	if found == nil || slices.Contains(found.Verbs, "deletecollection") {
		return fmt.Errorf("GET /api/v1: expected namespaces without the verb deletecollection, got %v", found)
	}
	// The selector matches nothing, in case the server does not keep this rule.
	return s.try(ctx, del("/api/v1/namespaces?labelSelector=nobody="+strings.ToLower(s.run.id)), notAllowed.check)
}
