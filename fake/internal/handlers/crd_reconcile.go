package handlers

import (
	"errors"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/lifecycle"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// apiServerManager owns the status of definitions: it is the server itself that writes it.
const apiServerManager = "kube-apiserver"

// crd is a short name for what this file is about.
type crd = apiextensionsv1.CustomResourceDefinition

// afterWrite does what comes of a write, before it is answered: a definition that has come,
// changed or gone is served from now on as it says, and one that waits for its last object
// to go may go itself. On a real server that is the work of controllers, which take some
// milliseconds; here nobody has to wait.
func (a *API) afterWrite(res *resource.Resource, key string, out writeResult) error {
	if out.event == nil || !out.event.Changed() {
		return nil
	}
	switch {
	case resource.IsCRDResource(res):
		return a.reconcileCRD(nameFromKey(key))
	case res.Custom != nil && out.event.Record == nil && a.types.IsTerminating(res) &&
		a.store.View().Count(codec.Key(res, "", "")) == 0:
		return a.reconcileCRD(res.Custom.CRD().Object().Name)
	}
	return nil
}

// SyncCRDs serves the definitions that are in the store, and brings all of them into the
// state that they shall have.
func (a *API) SyncCRDs() error {
	if err := a.types.Sync(a.store, a.objects.get); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(a.types.CRDs())) {
		if err := a.reconcileCRD(name); err != nil {
			return err
		}
	}
	return nil
}

// reconcileCRD lets the controllers of definitions do what there is to do, after the one of a name
// has changed.
func (a *API) reconcileCRD(name string) error {
	for {
		if err := a.types.Sync(a.store, a.objects.get); err != nil {
			return err
		}
		all := a.types.CRDs()
		if changed := all[name]; changed != nil && lifecycle.NeedsFinalizing(changed) {
			return a.finalizeCRD(changed)
		}
		states := lifecycle.Reconcile(slices.Collect(maps.Values(all)), name, a.Now())
		if len(states) == 0 {
			return nil
		}
		if err := a.writeCRDStatuses(all, states); err != nil {
			return err
		}
	}
}

// writeCRDStatuses writes states of definitions, one after the other, up to one that somebody has
// changed meanwhile.
func (a *API) writeCRDStatuses(all map[string]*crd, states []*crd) error {
	for _, state := range states {
		after, err := a.updateCRDStatus(all[state.Name], func(*crd) *crd { return state })
		switch {
		case apierrors.IsConflict(err):
			return nil
		case err != nil:
			return err
		}
		all[state.Name] = after
	}
	return nil
}

// updateCRDStatus writes the status, and the finalizers, of a definition that is as it was
// before. It is gone if it had been deleted and has no finalizers any more; then the result is nil.
func (a *API) updateCRDStatus(before *crd, change func(*crd) *crd) (*crd, error) {
	res := a.types.Table().LookupKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	tracker, err := a.types.FieldManager(res, "status")
	if err != nil {
		return nil, err
	}
	out, err := a.updateStoreOnly(res, resource.CRDKey(before.Name), false, func(old runtime.Object) (runtime.Object, error) {
		was, ok := old.(*crd)
		if !ok || was.ResourceVersion != before.ResourceVersion {
			return nil, apierrors.NewConflict(res.GroupResource(), before.Name, errors.New("it has changed"))
		}
		next := change(was).DeepCopy()
		next.ResourceVersion, next.ManagedFields = was.ResourceVersion, was.ManagedFields
		obj := a.clock.updateManagedFields(tracker, old, next, apiServerManager)
		managedfields.RestoreTimestamps(old, obj)
		if shouldDeleteDuringUpdate(obj, old) {
			return nil, nil
		}
		return obj, nil
	})
	if err != nil || out.event.Record == nil {
		return nil, err
	}
	obj, err := a.objects.get(res, out.event.Record)
	if err != nil {
		return nil, err
	}
	return obj.(*crd), nil
}

// finalizeCRD deletes the objects of a definition that is being deleted, and lets it go when
// there are none left (CD-08). It is called again when one of them has gone.
func (a *API) finalizeCRD(ending *crd) error {
	began, err := a.updateCRDStatus(ending, func(c *crd) *crd { return lifecycle.StartFinalizing(c, a.Now()) })
	if err != nil {
		return ignoreConflict(err)
	}
	if lifecycle.MustDeleteInstances(began) {
		left, err := a.deleteInstances(began)
		if err != nil || left {
			return err
		}
	}
	// The last object that went may have called finalize, too, and been faster.
	_, err = a.updateCRDStatus(began, func(c *crd) *crd { return lifecycle.FinishFinalizing(c, a.Now()) })
	if err != nil {
		return ignoreConflict(err)
	}
	return a.reconcileCRD(ending.Name)
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// deleteInstances deletes the objects of a definition, and reports whether some stay, for
// their finalizers.
func (a *API) deleteInstances(ending *crd) (left bool, err error) {
	res := a.types.StorageResource(ending.Name)
	if res == nil {
		return false, nil
	}
	prefix := codec.Key(res, "", "")
	background := metav1.DeletePropagationBackground
	for rec := range a.store.View().Range(prefix, "") {
		if meta, err := codec.DecodeMetadata(rec); err == nil && meta.DeletionTimestamp != nil {
			continue
		}
		if _, err := a.objects.get(res, rec); err != nil { // its version is gone, or the webhook: so nobody misses it
			if _, err := a.store.Update(rec.Key, func(*memstore.Record) (*memstore.Draft, error) { return nil, nil }); err != nil {
				return true, err
			}
			continue
		}
		_, err = a.deleteObject(nil, res, rec.Key, nameFromKey(rec.Key), &metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil && !apierrors.IsNotFound(err) {
			return true, err
		}
	}
	return a.store.View().Count(prefix) > 0, nil
}
