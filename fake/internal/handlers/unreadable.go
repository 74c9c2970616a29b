package handlers

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const unreadableOption = "ignoreStoreReadErrorWithClusterBreakingPotential"

// unreadable refuses to delete an object as one that cannot be read: there is
// none in this store that cannot (DL-34).
func (a *API) unreadable(q *request, opts *metav1.DeleteOptions) error {
	switch {
	case !asUnreadable(opts):
		return nil
	case a.store.View().Get(q.key()) == nil:
		return apierrors.NewNotFound(q.res.GroupResource(), q.target.Name)
	}
	return q.storageConflict("unsafe deletion is not allowed because the object is decodable from storage")
}

// unreadableCollection refuses the same for a collection (DL-35).
func unreadableCollection(opts *metav1.DeleteOptions) error {
	if !asUnreadable(opts) {
		return nil
	}
	return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath(unreadableOption), true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}

func asUnreadable(opts *metav1.DeleteOptions) bool {
	asked := opts.IgnoreStoreReadErrorWithClusterBreakingPotential
	return asked != nil && *asked
}

// storageConflict is a Conflict in the words of a real server's storage, which
// tell the key.
func (q *request) storageConflict(says string) error {
	path := strings.Trim(strings.Join([]string{"registry", etcdName(q.parent), q.namespace()}, "/"), "/") + "/" + q.target.Name
	return apierrors.NewConflict(q.parent.GroupResource(), q.target.Name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: /%s, ResourceVersion: 0, AdditionalErrorMsg: %s", path, says))
}
