package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/memstore"
)

// isWaitingForDependents reports whether an object is in foreground deletion: it stays until its
// dependents that block it are gone (DL-12).
func isWaitingForDependents(meta *metav1.ObjectMeta) bool {
	return meta.DeletionTimestamp != nil && slices.Contains(meta.Finalizers, metav1.FinalizerDeleteDependents)
}

// hasOrphanFinalizer reports whether an object stays until its dependents do without it (DL-13).
func hasOrphanFinalizer(meta *metav1.ObjectMeta) bool {
	return meta.DeletionTimestamp != nil && slices.Contains(meta.Finalizers, metav1.FinalizerOrphanDependents)
}

// needsCollection reports whether a deleted object waits for the garbage collector.
func needsCollection(meta *metav1.ObjectMeta) bool {
	return isWaitingForDependents(meta) || hasOrphanFinalizer(meta)
}

// item is an object that the garbage collector examines, as it is in the store now.
type item struct {
	location
	rec  *memstore.Record
	meta *metav1.ObjectMeta
}

// reconcile examines the object under a key and deletes or changes it as needed.
func (m *Controllers) reconcile(ctx context.Context, key string) error {
	it, err := m.readItem(key)
	switch {
	case err != nil || it == nil:
		return err
	case isProtected(it.location, it.meta):
		return m.unprotect(ctx, it)
	case hasOrphanFinalizer(it.meta):
		return m.orphan(ctx, it)
	case isWaitingForDependents(it.meta):
		return m.waitForDependents(ctx, it)
	case it.meta.DeletionTimestamp != nil:
		return nil // its dependents are handled when it is gone
	case isPolicy(key):
		if err := m.updatePolicyStatus(it); err != nil {
			return err
		}
	}
	return m.collect(ctx, it)
}

// readItem returns the object under a key, or nil if there is none.
func (m *Controllers) readItem(key string) (*item, error) {
	p, ok := m.resources.find(key)
	rec := m.store.View().Get(key)
	if !ok || rec == nil || p.isIgnored() {
		return nil, nil
	}
	meta, err := codec.DecodeMetadata(rec)
	if err != nil {
		return nil, err
	}
	return &item{location: p, rec: rec, meta: meta}, nil
}

// collect deletes an object whose owners are all absent. If some are present, it removes the
// references to absent owners and to owners in foreground deletion.
func (m *Controllers) collect(ctx context.Context, it *item) error {
	owners, ok := m.classify(it)
	switch {
	case !ok || len(it.meta.OwnerReferences) == 0:
		return nil
	case owners.present > 0:
		return m.release(ctx, it, owners.lost)
	case owners.waiting && len(m.graph.dependents(it.rec.UID)) > 0:
		return m.collectForeground(ctx, it)
	}
	policy := ownPolicy(it.meta)
	return m.delete(ctx, it, &policy)
}

// ownPolicy returns the propagation policy that the finalizers of an object ask for. Without them
// its dependents are deleted, even if a delete by a client would orphan them, as that of a Job.
func ownPolicy(meta *metav1.ObjectMeta) metav1.DeletionPropagation {
	switch {
	case slices.Contains(meta.Finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(meta.Finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// collectForeground deletes an object whose owner is in foreground deletion and that has dependents
// of its own. The dependents are deleted first. If one of them is already in foreground deletion,
// the references may form a cycle; then the object stops blocking its owners.
func (m *Controllers) collectForeground(ctx context.Context, it *item) error {
	if slices.ContainsFunc(m.graph.dependents(it.rec.UID), m.graph.isWaiting) {
		if err := m.unblock(ctx, it); err != nil {
			return err
		}
		again, err := m.readItem(it.rec.Key)
		if err != nil || again == nil {
			return err
		}
		it = again
	}
	foreground := metav1.DeletePropagationForeground
	return m.delete(ctx, it, &foreground)
}

// delete deletes an object if it has not changed since it was read. Another client may have adopted
// it.
func (m *Controllers) delete(ctx context.Context, it *item, policy *metav1.DeletionPropagation) error {
	uid, revision := types.UID(it.rec.UID), it.rec.Revision.String()
	return m.writer.DeleteKey(ctx, garbageCollector, it.res, it.rec.Key, &metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &revision},
		PropagationPolicy: policy,
	})
}

// release removes owner references from an object.
func (m *Controllers) release(ctx context.Context, it *item, lost []types.UID) error {
	if len(lost) == 0 {
		return nil
	}
	return m.changeObject(ctx, it, func(meta metav1.Object) {
		meta.SetOwnerReferences(slices.DeleteFunc(meta.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return slices.Contains(lost, r.UID)
		}))
	})
}

// orphan removes the owner's reference from all dependents of an object, then the orphan finalizer
// from the object.
func (m *Controllers) orphan(ctx context.Context, it *item) error {
	err := m.eachDependent(it, func(dependent *item) error {
		return m.release(ctx, dependent, []types.UID{types.UID(it.rec.UID)})
	})
	if err != nil {
		return err
	}
	return m.dropFinalizer(ctx, it, metav1.FinalizerOrphanDependents)
}

// waitForDependents removes the foreground finalizer of an object once no dependent blocks it. It
// first starts the deletion of all dependents, blocking or not.
func (m *Controllers) waitForDependents(ctx context.Context, it *item) error {
	err := m.eachDependent(it, func(dependent *item) error {
		if dependent.meta.DeletionTimestamp != nil {
			return nil
		}
		return m.collect(ctx, dependent)
	})
	if err != nil {
		return err
	}
	m.readEvents()
	if free, err := m.isFree(ctx, it); !free || err != nil {
		return err
	}
	return m.dropFinalizer(ctx, it, metav1.FinalizerDeleteDependents)
}

// eachDependent calls do for each dependent of an object. A failure does not stop the loop, but is
// returned, unless the dependent is gone or has changed, in which case it is queued again.
func (m *Controllers) eachDependent(it *item, do func(*item) error) error {
	var failed []error
	for _, key := range m.graph.dependents(it.rec.UID) {
		dependent, err := m.readItem(key)
		if err == nil && dependent != nil {
			err = do(dependent)
		}
		switch {
		case apierrors.IsConflict(err):
			return err
		case err != nil && !apierrors.IsNotFound(err):
			failed = append(failed, fmt.Errorf("%s: %w", key, err))
		}
	}
	return errors.Join(failed...)
}

func (m *Controllers) dropFinalizer(ctx context.Context, it *item, finalizer string) error {
	return m.changeObject(ctx, it, func(meta metav1.Object) {
		meta.SetFinalizers(slices.DeleteFunc(meta.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// changeObject changes the metadata of an object.
func (m *Controllers) changeObject(ctx context.Context, it *item, do func(metav1.Object)) error {
	return m.writer.ChangeKey(ctx, garbageCollector, it.res, it.rec.Key, it.rec.UID, "", func(obj runtime.Object) {
		if meta, ok := obj.(metav1.Object); ok {
			do(meta)
		}
	})
}
