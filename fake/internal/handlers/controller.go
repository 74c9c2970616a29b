package handlers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// controllerManager owns the fields that the controllers write, as in a cluster.
const controllerManager = "kube-controller-manager"

// DeleteKey does to the object under a key what a DELETE request with these
// options would do, preconditions included, but for admission. One that is not there
// is NotFound. The row is that of the StoreVersion.
func (a *API) DeleteKey(res *resource.Resource, key string, opts *metav1.DeleteOptions) error {
	_, err := a.deleteObject(nil, res, key, nameFromKey(key), opts)
	return err
}

// ChangeKey changes the object under a key as a patch of the controller manager
// would: do gets the stored object, of the StoreVersion, and changes it in place; it
// may run more than once. subresource is where the patch would be sent to, "" for the
// object itself, and counts for managedFields only: do is trusted to change nothing
// but metadata, or what the subresource may change. An object that is not there any
// more, or is another one than that with the uid, is left alone. One that had been
// deleted goes with its last finalizer (DL-05).
func (a *API) ChangeKey(res *resource.Resource, key, uid, subresource string, do func(runtime.Object)) error {
	tracker, err := a.types.FieldManager(res, subresource)
	if err != nil {
		return err
	}
	_, err = a.updateStore(res, key, false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil || string(accessor(old).GetUID()) != uid {
			return old, nil
		}
		obj := old.DeepCopyObject()
		do(obj)
		obj = a.clock.updateManagedFields(tracker, old, obj, controllerManager)
		managedfields.RestoreTimestamps(old, obj)
		if shouldDeleteDuringUpdate(obj, old) {
			return nil, nil
		}
		return obj, nil
	})
	return err
}
