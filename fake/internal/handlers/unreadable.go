package handlers

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const unreadableOption = "ignoreStoreReadErrorWithClusterBreakingPotential"

// checkUnreadableDelete refuses to delete an object as one that cannot be read: there is
// none in this store that cannot (DL-34).
func (a *API) checkUnreadableDelete(q *request, opts *metav1.DeleteOptions) error {
	switch {
	case !ignoresReadError(opts):
		return nil
	case a.store.View().Get(q.key()) == nil:
		return apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
	}
	return q.invalidObjectError("unsafe deletion is not allowed because the object is decodable from storage")
}

// checkUnreadableDeleteCollection refuses the same for a collection (DL-35).
func checkUnreadableDeleteCollection(opts *metav1.DeleteOptions) error {
	if !ignoresReadError(opts) {
		return nil
	}
	return invalidOptions("DeleteOptions", field.ErrorList{field.Invalid(field.NewPath(unreadableOption), true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}

func ignoresReadError(opts *metav1.DeleteOptions) bool {
	asked := opts.IgnoreStoreReadErrorWithClusterBreakingPotential
	return asked != nil && *asked
}

// invalidObjectError is a Conflict in the words of a real server's storage, which
// tell the key.
func (q *request) invalidObjectError(says string) error {
	path := strings.Trim(strings.Join([]string{"registry", storagePrefix(q.parent), q.namespace()}, "/"), "/") + "/" + q.info.Name
	return apierrors.NewConflict(q.parent.GroupResource(), q.info.Name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: /%s, ResourceVersion: 0, AdditionalErrorMsg: %s", path, says))
}
