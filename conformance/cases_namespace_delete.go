package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// namespaceDeletionCases returns the cases about deleting namespaces (NS).
func namespaceDeletionCases() []Case {
	ending := func(id, title, why string, check func(ctx context.Context, s *session) error) Case {
		return ifNamespaceLifecycle(Case{ID: id, Level: Must, Title: title, Why: why, Source: docNamespaces, check: check})
	}
	return []Case{
		ending("NS-06", "DELETE of a namespace returns it with the phase Terminating", "the namespace controller then deletes its content", checkTerminatingNamespace),
		ifNamespaceLifecycle(onSecrets(Case{
			ID: "NS-08", Level: Should, Title: "a second DELETE of a terminating namespace changes nothing",
			Why: "clients retry", Source: "k/k registry/core/namespace/storage",
		}, checkDeleteNamespaceAgain)),
		ending("NS-07/replace", "only finalize changes the spec.finalizers of a namespace, and it keeps the status",
			"the namespace is removed when they are empty", checkReplaceNamespaceFinalizers),
		ending("NS-07/end", "removing the last spec.finalizer of a terminating namespace removes the namespace",
			"it is the last step of the namespace controller", checkFinalizeNamespace),
		ending("NS-07/held", "a namespace is removed only after its metadata.finalizers, too",
			"other controllers may have to clean up", checkNamespaceWithFinalizer),
		onSecrets(Case{
			ID: "NS-09", Level: Must, Title: "the content of a namespace is removed before the namespace",
			Why: "a new namespace of the same name must be empty", Source: docNamespaces, takes: controllerWait,
		}, checkContentDeletedFirst),
	}
}

// controllerWait limits how long the namespace controller may take to start, which is five seconds
// or more.
const controllerWait = 15 * time.Second

func checkTerminatingNamespace(ctx context.Context, s *session) error {
	name, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	return s.expect(ctx, del(namespacePath(name)), code(200), kind("v1", "Namespace"), field(name, "metadata", "name"),
		hasField("metadata", "deletionTimestamp"), field("Terminating", "status", "phase"))
}

func checkDeleteNamespaceAgain(ctx context.Context, s *session, c collection) error {
	if err := c.deleteNamespace(ctx); err != nil {
		return err
	}
	before, err := s.doObject(ctx, get(namespacePath(c.namespace)), code(200))
	if err != nil {
		return err
	}
	return s.expect(ctx, del(namespacePath(c.namespace)), code(200), kind("v1", "Namespace"), field("Terminating", "status", "phase"),
		value(before.DeletionTimestamp, "metadata", "deletionTimestamp"))
}

// finalize sets the spec.finalizers of a namespace through its finalize subresource. It retries
// after conflicts.
func (s *session) finalize(ctx context.Context, name string, change func([]string) []string) (*response, error) {
	var r *response
	for range 10 {
		before, err := s.do(ctx, get(namespacePath(name)), code(200))
		if err != nil {
			return before, err
		}
		ns := map[string]any{}
		if err := before.decode(&ns); err != nil {
			return before, err
		}
		have, _, err := unstructured.NestedStringSlice(ns, "spec", "finalizers")
		if err != nil {
			return before, before.errorf("the finalizers of the spec: %w", err)
		}
		ns["spec"], ns["status"] = object{"finalizers": change(have)}, object{"phase": "Finalized"}
		if r, err = s.do(ctx, put(namespacePath(name)+"/finalize", ns), code(200, 409)); err != nil {
			return r, err
		}
		if r.code == 200 {
			break
		}
	}
	return r, r.expect(code(200), kind("v1", "Namespace"), field(name, "metadata", "name"))
}

// removeSpecFinalizer removes the suite's finalizer from the spec of a namespace.
func (s *session) removeSpecFinalizer(ctx context.Context, name string) error {
	_, err := s.finalize(ctx, name, func(have []string) []string {
		return slices.DeleteFunc(have, func(f string) bool { return f == finalizer })
	})
	return err
}

func noFinalizers([]string) []string { return []string{} }

func appendFinalizer(have []string) []string { return append(have, finalizer) }

// hasSpecFinalizer expects a namespace with the suite's finalizer in its spec.
func hasSpecFinalizer(r *response) error {
	var ns struct{ Spec struct{ Finalizers []string } }
	if err := r.decode(&ns); err != nil {
		return err
	}
	if !slices.Contains(ns.Spec.Finalizers, finalizer) {
		return fmt.Errorf("expected spec.finalizers with %s, got %v", finalizer, ns.Spec.Finalizers)
	}
	return nil
}

// createWithSpecFinalizer creates a namespace with the suite's finalizer in its spec.
func (s *session) createWithSpecFinalizer(ctx context.Context, body object) error {
	if err := s.expect(ctx, post("/api/v1/namespaces", body), code(201)); err != nil {
		return err
	}
	r, err := s.finalize(ctx, body["metadata"].(object)["name"].(string), appendFinalizer)
	if err != nil {
		return err
	}
	return r.expect(value([]string{"kubernetes", finalizer}, "spec", "finalizers"))
}

func checkReplaceNamespaceFinalizers(ctx context.Context, s *session) error {
	name, body := s.nameNewNamespace()
	if err := s.createWithSpecFinalizer(ctx, body); err != nil {
		return err
	}
	replaced := []expectation{code(200), value([]string{"kubernetes", finalizer}, "spec", "finalizers"), field("Active", "status", "phase")}
	if err := s.expect(ctx, get(namespacePath(name)), replaced...); err != nil {
		return err
	}
	// Other writes do not change the finalizers.
	empty := object{"spec": object{"finalizers": nil}, "metadata": object{"annotations": object{"conformance.example.com/step": "1"}}}
	if err := s.expect(ctx, mergePatch(namespacePath(name), empty), replaced...); err != nil {
		return err
	}
	return s.expect(ctx, mergePatch(namespacePath(name)+"/status", empty), replaced...)
}

func checkFinalizeNamespace(ctx context.Context, s *session) error {
	name, body := s.nameNewNamespace()
	if err := s.createWithSpecFinalizer(ctx, body); err != nil {
		return err
	}
	if err := s.expect(ctx, del(namespacePath(name)), code(200)); err != nil {
		return err
	}
	if err := s.expect(ctx, get(namespacePath(name)), code(200), field("Terminating", "status", "phase")); err != nil {
		return err
	}
	r, err := s.finalize(ctx, name, noFinalizers)
	if err != nil {
		return err
	}
	if err := r.expect(field("Terminating", "status", "phase"), value(nil, "spec", "finalizers")); err != nil {
		return err
	}
	return s.expectNamespaceGone(ctx, name)
}

// expectNamespaceGone expects that a namespace does not exist.
func (s *session) expectNamespaceGone(ctx context.Context, name string) error {
	return s.expect(ctx, get(namespacePath(name)), notFound(collection{resource: "namespaces"}, name).check)
}

func checkNamespaceWithFinalizer(ctx context.Context, s *session) error {
	name, body := s.nameNewNamespace()
	if err := s.createWithSpecFinalizer(ctx, body.withFinalizer()); err != nil {
		return err
	}
	if err := s.expect(ctx, del(namespacePath(name)), code(200)); err != nil {
		return err
	}
	if _, err := s.finalize(ctx, name, noFinalizers); err != nil {
		return err
	}
	if err := s.expect(ctx, get(namespacePath(name)), code(200), finalizers(finalizer), field("Terminating", "status", "phase")); err != nil {
		return err
	}
	release := object{"metadata": object{"finalizers": nil}}
	if err := s.expect(ctx, mergePatch(namespacePath(name), release), code(200), kind("v1", "Namespace")); err != nil {
		return err
	}
	return s.expectNamespaceGone(ctx, name)
}

// checkContentDeletedFirst is skipped if no namespace controller starts within controllerWait.
func checkContentDeletedFirst(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.object("plain")); err != nil {
		return err
	}
	if err := c.deleteNamespace(ctx); err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, controllerWait)
	defer cancel()
	if err := poll(patience, func(ctx context.Context) error { return c.expectNotFound(ctx, "plain") }); err != nil {
		if patience.Err() != nil && ctx.Err() == nil {
			return s.skipf("the server has no namespace controller, so the objects of a deleted namespace remain")
		}
		return err
	}
	if err := s.expect(ctx, get(namespacePath(c.namespace)), code(200), field("Terminating", "status", "phase")); err != nil {
		return fmt.Errorf("with a remaining object: %w", err)
	}
	if err := s.expect(ctx, c.removeFinalizers("kept"), code(200)); err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) error {
		ns, err := s.do(ctx, get(namespacePath(c.namespace)), code(200, 404))
		if err != nil {
			return err
		}
		if ns.code == 404 {
			return c.expectNotFound(ctx, "kept")
		}
		return ns.errorf("expected the namespace to be removed")
	})
}
