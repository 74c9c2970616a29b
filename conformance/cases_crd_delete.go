package conformance

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docFinalizer = "apiextensions controller/finalizer"
	crdFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// crdDeletionCases returns the cases about deleting CRDs, their objects and their watches (CD-07,
// CD-08).
func crdDeletionCases() []Case {
	spec := object{"spec": anySchema()}
	return []Case{
		onCRDPerCase(Case{
			ID: "CD-07", Level: Must, Title: "no object can be created while the CRD is terminating, not by apply either",
			Why: "objects would be left behind, or the deletion would never end", Source: docCRHandler,
		}, spec, checkNoCreateWhileTerminating),
		onCRDPerCase(Case{
			ID: "CD-07/writes", Level: Must, Title: "objects of a terminating CRD can be read, changed and deleted",
			Why: "controllers must remove their finalizers", Source: docCRHandler,
		}, spec, checkWritesWhileTerminating),
		onCRDPerCase(Case{
			ID: "CD-08", Level: Must, Title: "deleting a CRD deletes its objects, then the CRD and its paths",
			Why: "uninstalling must leave nothing behind", Source: docCRDs + ", Delete a CustomResourceDefinition",
		}, spec, checkObjectsDeleted),
		onCRDPerCase(Case{
			ID: "CD-08/finalizers", Level: Must, Title: "an object with a finalizer blocks the deletion of the CRD, which has the condition Terminating",
			Why: "controllers clean up resources outside of the cluster", Source: docFinalizer,
		}, spec, checkFinalizersBlockDeletion),
		onCRDPerCase(Case{
			ID: "CD-08/watch", Level: Must, Title: "when a CRD is deleted, watches send DELETED for its objects, and end",
			Why: "informers would keep deleted objects", Source: docFinalizer,
		}, spec, checkWatchSeesDeletion),
		onCRDPerCase(Case{
			ID: "CD-08/again", Level: Must, Title: "a CRD that is created again has none of the former objects",
			Why: "deleted objects must stay deleted", Source: docCRDs + ", Delete a CustomResourceDefinition",
		}, spec, checkCreatedAgain),
		onCRDPerCase(Case{
			ID: "CD-08/discovery", Level: Must, Title: "a group is removed from discovery and OpenAPI with its last CRD",
			Why: "clients would request resources that no longer exist", Source: "apiextensions customresource_discovery_controller.go",
		}, spec, func(ctx context.Context, d crdPerCase, _ collection) error {
			openAPI := get("/openapi/v3/apis/" + d.group + "/v1")
			if err := d.s.waitFor(ctx, openAPI, code(200)); err != nil {
				return err
			}
			if err := d.s.expect(ctx, del(d.path()), code(200)); err != nil {
				return err
			}
			for _, c := range []call{get("/apis/" + d.group), get("/apis/" + d.group + "/v1"), openAPI} {
				if err := d.s.waitFor(ctx, c, code(404)); err != nil {
					return err
				}
			}
			return d.s.waitFor(ctx, get("/apis"), noItemWith(d.group, "name", "groups"))
		}),
		onCRDPerCase(Case{
			ID: "CD-08/change", Level: Must, Title: "a change of a CRD ends the watches of its objects without an error, and new watches resume from a list",
			Why: "informers must see the objects with the new schema", Source: docCRHandler,
		}, spec, checkChangeEndsWatches),
		onCRDPerCase(Case{
			ID: "CD-08/expired", Level: Must, Title: "after a change of a CRD, a watch from a resourceVersion before it gets 410 Expired",
			Why: "an informer must list again, or it keeps objects as they were before the change", Source: docCRHandler,
		}, spec, checkChangeExpiresWatches),
	}
}

// noItemWith expects a list at a path without an item that has this value in a field.
func noItemWith(value, field string, path ...string) expectation {
	return func(r *response) error {
		list, err := r.valueAt(path...)
		if err != nil {
			return err
		}
		items, ok := list.([]any)
		if !ok {
			return r.errorf("expected a list")
		}
		for _, item := range items {
			if fields, _ := item.(map[string]any); fields[field] == value {
				return r.errorf("expected no item with the %s %s", field, value)
			}
		}
		return nil
	}
}

// deleteWithObject creates an object "a" with the suite's finalizer, and deletes the CRD, which the
// object blocks.
func (d crdPerCase) deleteWithObject(ctx context.Context, c collection) error {
	if _, err := c.create(ctx, c.object("a").withFinalizer()); err != nil {
		return err
	}
	if err := d.s.expect(ctx, del(d.path()), code(http.StatusOK)); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(c.item("a")), isTerminating(0))
}

func checkNoCreateWhileTerminating(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.deleteWithObject(ctx, c); err != nil {
		return err
	}
	rejected := failure{
		code: 403, reason: metav1.StatusReasonForbidden, details: c.statusDetails("late"),
		message: c.groupResource() + ` "late" is forbidden: create not allowed while custom resource definition is terminating`,
	}.check
	return d.s.expectAll(ctx,
		send(post(c.path(), c.object("late")), rejected),
		send(c.dryRunCreate(c.object("late")), rejected),
		send(apply(c.item("late"), c.object("late")), rejected),
		send(get(c.item("late")), code(404)),
	)
}

func checkWritesWhileTerminating(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.deleteWithObject(ctx, c); err != nil {
		return err
	}
	changed := c.withSpec("a", object{"x": 2}).withFinalizer()
	return d.s.expectAll(ctx,
		send(mergePatch(c.item("a"), object{"spec": object{"x": 1}}), code(200), valueAt(1, "spec", "x")),
		send(apply(c.item("a"), changed).withQuery("force=true"), code(200), valueAt(2, "spec", "x")),
		send(get(c.path()), code(200), valueAt(2, "items", "0", "spec", "x")),
		send(c.removeFinalizers("a"), code(200)),
		send(get(c.item("a")), code(404)),
	)
}

func checkObjectsDeleted(ctx context.Context, d crdPerCase, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	err := d.s.expect(ctx, del(d.path()), code(200), kind("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
		hasField("metadata", "deletionTimestamp"), finalizers(crdFinalizer))
	if err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(d.path()), code(404)); err != nil {
		return err
	}
	for _, path := range []string{c.item("a"), c.path(), c.allNamespacesPath()} {
		if err := d.s.waitFor(ctx, get(path), pageNotFound); err != nil {
			return err
		}
	}
	return nil
}

func checkFinalizersBlockDeletion(ctx context.Context, d crdPerCase, c collection) error {
	if err := d.deleteWithObject(ctx, c); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(d.path()), code(200), condition("Terminating", "True", "InstanceDeletionInProgress")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, get(d.path()), hasField("metadata", "deletionTimestamp"), finalizers(crdFinalizer)); err != nil {
		return err
	}
	if err := d.s.expect(ctx, c.removeFinalizers("a"), code(200)); err != nil {
		return err
	}
	return d.s.waitFor(ctx, get(d.path()), code(404))
}

func checkWatchSeesDeletion(ctx context.Context, d crdPerCase, c collection) error {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=1&resourceVersion="+o.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	if err := d.s.expect(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if _, err := w.want("DELETED", "a"); err != nil {
		return err
	}
	return w.wantEnd()
}

func checkCreatedAgain(ctx context.Context, d crdPerCase, c collection) error {
	if _, err := c.create(ctx, c.object("a")); err != nil {
		return err
	}
	if err := d.s.expect(ctx, del(d.path()), code(200)); err != nil {
		return err
	}
	if err := d.s.waitFor(ctx, get(d.path()), code(404)); err != nil {
		return err
	}
	again, err := d.createAndWait(ctx)
	if err != nil {
		return err
	}
	l, err := d.s.list(ctx, again.allNamespacesPath())
	if err != nil {
		return err
	}
	return l.expectNames()
}

func checkChangeEndsWatches(ctx context.Context, d crdPerCase, c collection) error {
	_, l, err := changeWhileWatched(ctx, d, c)
	if err != nil {
		return err
	}
	if _, err := c.annotate(ctx, "a", "1"); err != nil {
		return err
	}
	next, err := c.watch(ctx, "?watch=1&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer next.close()
	_, err = next.want("MODIFIED", "a")
	return err
}

// changeWhileWatched creates an object, changes the CRD while the object is watched, and waits for
// the end of the watch. It returns the resourceVersion of the object and a list after the change.
func changeWhileWatched(ctx context.Context, d crdPerCase, c collection) (before string, after objectList, err error) {
	o, err := c.create(ctx, c.object("a"))
	if err != nil {
		return "", after, err
	}
	w, err := c.watch(ctx, "?watch=1&resourceVersion="+o.ResourceVersion)
	if err != nil {
		return "", after, err
	}
	defer w.close()
	if err := d.patch(ctx, setOp("/spec/versions/0/schema/openAPIV3Schema/description", "Gears turn")); err != nil {
		return "", after, err
	}
	if err := w.wantEnd(); err != nil {
		return "", after, err
	}
	if err := d.s.waitFor(ctx, get(c.path()), code(200)); err != nil {
		return "", after, err
	}
	after, err = c.list(ctx, "")
	if err != nil {
		return "", after, err
	}
	return o.ResourceVersion, after, after.expectNames("a")
}

func checkChangeExpiresWatches(ctx context.Context, d crdPerCase, c collection) error {
	before, _, err := changeWhileWatched(ctx, d, c)
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=1&resourceVersion="+before)
	if err != nil {
		return err
	}
	defer w.close()
	status, err := w.wantError()
	if err != nil {
		return err
	}
	want := failure{code: 410, reason: metav1.StatusReasonExpired, contains: "too old resource version: " + before + " ("}
	if err := want.match(status); err != nil {
		return fmt.Errorf("watch of %s: %w", c.path(), err)
	}
	return w.wantEnd()
}
