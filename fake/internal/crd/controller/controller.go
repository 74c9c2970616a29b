// Package controller reconciles CustomResourceDefinitions after writes: it serves the types that
// they define, writes their status, and deletes the instances of those that are being deleted.
//
// On a real server these are several controllers, which need some milliseconds. Here everything is
// done before the write is answered, so that no client has to wait.
package controller

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/clock"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/memstore"
)

// fieldManager is the owner of the status of CustomResourceDefinitions.
const fieldManager = "kube-apiserver"

type crd = apiextensionsv1.CustomResourceDefinition

// errConflict is the error of a write to a CustomResourceDefinition that another request has
// changed. That request reconciles it.
var errConflict = errors.New("the CustomResourceDefinition has been changed")

// Controller reconciles the CustomResourceDefinitions of a store. It is safe for concurrent use.
type Controller struct {
	store  *storage.Store
	types  *registry.Registry
	clock  *clock.Clock
	delete DeleteFunc
	// reconciled is called when CustomResourceDefinitions have been reconciled.
	reconciled func() error
}

// DeleteFunc deletes the object under a key as a DELETE request does.
type DeleteFunc func(res *resource.Resource, key string, opts *metav1.DeleteOptions) error

// New returns a Controller that deletes instances by delete. It calls reconciled after it has
// reconciled CustomResourceDefinitions.
func New(store *storage.Store, types *registry.Registry, clock *clock.Clock, delete DeleteFunc, reconciled func() error) *Controller {
	return &Controller{store: store, types: types, clock: clock, delete: delete, reconciled: reconciled}
}

// AfterWrite is the AfterWrite function of a storage.Store. It reconciles the
// CustomResourceDefinition that was written or, if the last instance of one that is being deleted
// was removed, that one.
func (c *Controller) AfterWrite(res *resource.Resource, e *memstore.Event) error {
	switch {
	case resource.IsCRDResource(res):
		return errors.Join(c.reconcile(strings.TrimPrefix(cmp.Or(e.Record, e.Prev).Key, resource.CRDKey(""))), c.reconciled())
	case res.Custom != nil && e.Record == nil && c.types.IsTerminating(res) &&
		c.store.View().Count(codec.Key(res, "", "")) == 0:
		return errors.Join(c.reconcile(res.Custom.CRD().Object().Name), c.reconciled())
	}
	return nil
}

// ReconcileAll serves the types of the store, and reconciles all CustomResourceDefinitions.
func (c *Controller) ReconcileAll() error {
	if err := c.types.Sync(c.store.Store, c.store.Decode); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.types.CRDs())) {
		if err := c.reconcile(name); err != nil {
			return err
		}
	}
	return c.reconciled()
}

// reconcile runs the controllers after the CustomResourceDefinition with a name has changed, until
// they have no more work.
func (c *Controller) reconcile(name string) error {
	for {
		if err := c.types.Sync(c.store.Store, c.store.Decode); err != nil {
			return err
		}
		crds := c.types.CRDs()
		if changed := crds[name]; changed != nil && lifecycle.NeedsFinalizing(changed) {
			return c.finalize(changed)
		}
		states := lifecycle.Reconcile(slices.Collect(maps.Values(crds)), name, c.clock.Now())
		if len(states) == 0 {
			return nil
		}
		if err := c.writeStates(crds, states); err != nil {
			return err
		}
	}
}

// writeStates writes new states of crds, in order, until one has been changed by another request.
func (c *Controller) writeStates(crds map[string]*crd, states []*crd) error {
	for _, state := range states {
		written, err := c.updateStatus(crds[state.Name], func(*crd) *crd { return state })
		switch {
		case errors.Is(err, errConflict):
			return nil
		case err != nil:
			return err
		}
		crds[state.Name] = written
	}
	return nil
}

// updateStatus writes the status and the finalizers of current, which update returns, and returns
// the stored object. It is nil if the object is deleted because update has removed the last
// finalizer. The error is errConflict if current is not the stored object.
func (c *Controller) updateStatus(current *crd, update func(*crd) *crd) (*crd, error) {
	res := c.types.Table().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	manager, err := c.types.FieldManager(res, "status")
	if err != nil {
		return nil, err
	}
	result, err := c.store.Write(context.Background(), res, resource.CRDKey(current.Name), false, func(obj runtime.Object) (runtime.Object, error) {
		old, ok := obj.(*crd)
		if !ok || old.ResourceVersion != current.ResourceVersion {
			return nil, errConflict
		}
		updated := update(old).DeepCopy()
		updated.ResourceVersion, updated.ManagedFields = old.ResourceVersion, old.ManagedFields
		obj = c.clock.UpdateManagedFields(manager, old, updated, fieldManager)
		managedfields.RestoreTimestamps(old, obj)
		if rest.ShouldDeleteDuringUpdate(obj, old) {
			return nil, nil
		}
		return obj, nil
	})
	if err != nil || result.Event.Record == nil {
		return nil, err
	}
	obj, err := c.store.Decode(res, result.Event.Record)
	if err != nil {
		return nil, err
	}
	return obj.(*crd), nil
}

// finalize deletes the instances of a CustomResourceDefinition that is being deleted, and removes
// its finalizer if none are left (CD-08). It is called again when the last instance is removed.
func (c *Controller) finalize(deleted *crd) error {
	finalizing, err := c.updateStatus(deleted, func(d *crd) *crd { return lifecycle.StartFinalizing(d, c.clock.Now()) })
	if err != nil {
		return ignoreConflict(err)
	}
	if lifecycle.MustDeleteInstances(finalizing) {
		remaining, err := c.deleteInstances(finalizing)
		if err != nil || remaining {
			return err
		}
	}
	// There is a conflict if the removal of the last instance has called finalize before.
	_, err = c.updateStatus(finalizing, func(d *crd) *crd { return lifecycle.FinishFinalizing(d, c.clock.Now()) })
	if err != nil {
		return ignoreConflict(err)
	}
	return c.reconcile(deleted.Name)
}

func ignoreConflict(err error) error {
	if errors.Is(err, errConflict) {
		return nil
	}
	return err
}

// deleteInstances deletes the instances of a CustomResourceDefinition, and reports whether some
// remain because of their finalizers.
func (c *Controller) deleteInstances(deleted *crd) (remaining bool, err error) {
	res := c.types.StorageResource(deleted.Name)
	if res == nil {
		return false, nil
	}
	prefix := codec.Key(res, "", "")
	background := metav1.DeletePropagationBackground
	for rec := range c.store.View().Range(prefix, "") {
		if meta, err := codec.DecodeMetadata(rec); err == nil && meta.DeletionTimestamp != nil {
			continue
		}
		if _, err := c.store.Decode(res, rec); err != nil { // its version, or the conversion webhook, does not exist
			if _, err := c.store.Update(rec.Key, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil }); err != nil {
				return true, err
			}
			continue
		}
		err := c.delete(res, rec.Key, &metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return true, err
		}
	}
	return c.store.View().Count(prefix) > 0, nil
}
