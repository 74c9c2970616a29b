package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// watchDeletionCases returns the cases about the events of deletions, and about requests without
// events (WA-09 to WA-11, WA-15).
func watchDeletionCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "WA-09", Level: Must, Title: "DELETED has the last state of the object and the resourceVersion of its deletion",
			Why:    "clients see the last state and resume from it",
			Source: docWatch + "; apiserver storage/etcd3",
		}, checkLastState),
		onBoth(Case{
			ID: "WA-10", Level: Must, Title: "when the last finalizer is removed, DELETED has the previous state of the object and a new resourceVersion",
			Why:    "controllers compare the event with their cache",
			Source: "apiserver storage/etcd3 and registry/store.go",
		}, checkLastFinalizer),
		onBoth(Case{
			ID: "WA-11", Level: Must, Title: "the deletion of an object with a finalizer sends MODIFIED with a deletionTimestamp, and DELETED later",
			Why:    "controllers clean up in between",
			Source: "API conventions, Metadata; Finalizers",
		}, checkTwoStepDeletion),
		[]Case{onPods(Case{
			ID: "WA-11/grace", Level: Must, Title: "the deletion of a pod with a grace period sends MODIFIED with a deletionTimestamp, and DELETED later",
			Why:    "its node stops the pod in between",
			Source: docGrace,
		}, checkGracefulDeletion)},
		onBoth(Case{
			ID: "WA-15", Level: Must, Title: "no-op writes and dry runs send no event",
			Why:    "controllers would otherwise trigger each other forever",
			Source: "Kubernetes API Concepts, Dry-run; apiserver storage/etcd3",
		}, checkNoEventWrites),
	)
}

func checkLastState(ctx context.Context, _ *session, c collection) error {
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	if err := createChangeDelete(ctx, c, "a", 1); err != nil {
		return err
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if _, err := w.want("ADDED", "a"); err != nil {
		return err
	}
	before, err := w.want("MODIFIED", "a")
	if err != nil {
		return err
	}
	deleted, err := w.want("DELETED", "a")
	if err != nil {
		return err
	}
	if got := deleted.meta.Annotations["conformance.example.com/step"]; got != "0" {
		return w.errorf("expected DELETED with the last state, its annotation is %q and not %q", got, "0")
	}
	if err := w.expectSameState(deleted, before.Object); err != nil {
		return err
	}
	if deleted.meta.ResourceVersion == before.meta.ResourceVersion {
		return w.errorf("expected DELETED with a new resourceVersion")
	}
	return errors.Join(expectNotOlder(deleted.meta.ResourceVersion, before.meta.ResourceVersion), expectNotOlder(l.Metadata.ResourceVersion, deleted.meta.ResourceVersion))
}

// deleteWithFinalizer deletes an object with a finalizer, removes the finalizer, and returns the
// two events. It expects that they have the same state of the object.
func deleteWithFinalizer(ctx context.Context, s *session, c collection) (modified, deleted event, err error) {
	if _, err := c.create(ctx, c.object("a").withFinalizer()); err != nil {
		return modified, deleted, err
	}
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return modified, deleted, err
	}
	defer w.close()
	if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
		return modified, deleted, err
	}
	if modified, err = w.want("MODIFIED", "a"); err != nil {
		return modified, deleted, err
	}
	release := object{"metadata": object{"finalizers": nil}}
	if err := s.expect(ctx, mergePatch(c.item("a"), release), code(200)); err != nil {
		return modified, deleted, err
	}
	if deleted, err = w.want("DELETED", "a"); err != nil {
		return modified, deleted, err
	}
	return modified, deleted, w.expectSameState(deleted, modified.Object)
}

func checkLastFinalizer(ctx context.Context, s *session, c collection) error {
	modified, deleted, err := deleteWithFinalizer(ctx, s, c)
	if err != nil {
		return err
	}
	if deleted.meta.DeletionTimestamp == nil || !slices.Contains(deleted.meta.Finalizers, finalizer) {
		return fmt.Errorf("watch of %s: expected DELETED with deletionTimestamp and the finalizer, got %s", c.path(), excerpt(deleted.Object))
	}
	if deleted.meta.ResourceVersion == modified.meta.ResourceVersion {
		return fmt.Errorf("watch of %s: expected DELETED at a new resourceVersion, got %s again", c.path(), deleted.meta.ResourceVersion)
	}
	return expectNotOlder(deleted.meta.ResourceVersion, modified.meta.ResourceVersion)
}

func checkTwoStepDeletion(ctx context.Context, s *session, c collection) error {
	modified, _, err := deleteWithFinalizer(ctx, s, c)
	if err != nil {
		return err
	}
	if modified.meta.DeletionTimestamp == nil {
		return fmt.Errorf("watch of %s: expected MODIFIED with a deletionTimestamp, got %s", c.path(), excerpt(modified.Object))
	}
	return nil
}

// checkGracefulDeletion deletes a pod, and then ends its grace period, which may be a further
// change.
func checkGracefulDeletion(ctx context.Context, s *session, c collection) error {
	if _, err := c.createWithRetry(ctx, c.boundPod("a")); err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	if err := s.expect(ctx, del(c.item("a")), code(200)); err != nil {
		return err
	}
	e, err := w.want("MODIFIED", "a")
	if err != nil {
		return err
	}
	if e.meta.DeletionTimestamp == nil {
		return w.errorf("expected MODIFIED with a deletionTimestamp, got %s", excerpt(e.Object))
	}
	if err := s.expect(ctx, del(c.item("a")+"?gracePeriodSeconds=0"), code(200)); err != nil {
		return err
	}
	for e.Type == "MODIFIED" {
		if e, err = w.next(); err != nil {
			return err
		}
	}
	if e.Type != "DELETED" {
		return w.errorf("expected DELETED, got %v", e)
	}
	return nil
}

func checkNoEventWrites(ctx context.Context, s *session, c collection) error {
	made, err := s.doObject(ctx, apply(c.item("a"), c.object("a").withLabel("app", "x")), code(201))
	if err != nil {
		return err
	}
	w, err := watchFromNow(ctx, c, "")
	if err != nil {
		return err
	}
	defer w.close()
	now, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	for _, silent := range []call{
		put(c.item("a"), string(now.body)),
		mergePatch(c.item("a"), object{}),
		apply(c.item("a"), c.object("a").withLabel("app", "x")),
		apply(c.item("a"), c.object("a").withLabel("app", "y")).withQuery("dryRun=All"),
		put(c.item("a")+"?dryRun=All", c.object("a").withLabel("app", "y").withMeta("resourceVersion", made.ResourceVersion)),
		mergePatch(c.item("a")+"?dryRun=All", object{"metadata": object{"labels": object{"k": "v"}}}),
		post(c.path()+"?dryRun=All", c.object("dry")),
		del(c.item("a") + "?dryRun=All"),
		del(c.path() + "?dryRun=All"),
	} {
		if err := s.expect(ctx, silent, code(200, 201)); err != nil {
			return err
		}
	}
	if _, err := c.create(ctx, c.object("marker")); err != nil {
		return err
	}
	return w.wantAdded("marker")
}
