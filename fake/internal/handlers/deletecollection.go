package handlers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// deleteCollectionPageSize is the limit of the lists that a real server reads for a
// deletecollection without a limit. Like any limit, it makes a resourceVersion an exact one.
const deleteCollectionPageSize = 10_000

// deleteCollection deletes the objects of a list with the same options, one after the other (DL-28
// to DL-33), and responds with that list.
func (a *API) deleteCollection(q *request) error {
	opts, sel, err := q.decodeListOptions(a.watchList.Load())
	if err != nil {
		return err
	}
	deleteOpts, err := q.decodeDeleteOptions()
	if err != nil {
		return err
	}
	if err := checkUnsafeDeleteCollection(deleteOpts); err != nil {
		return err
	}
	q.addDeleteWarning(deleteOpts)
	prefix := q.key()
	listed := opts
	if listed.Limit == 0 {
		listed.Limit = deleteCollectionPageSize
	}
	start, err := a.resolveListStart(q, prefix, sel, &listed)
	if err != nil {
		return err
	}
	page, err := a.readPage(start.view, prefix, start.startKey, sel, pageLimit(sel, &opts))
	if err != nil {
		return err
	}
	if err := codec.ConvertAll(q.res, page.items); err != nil {
		return err
	}
	if err := a.deleteObjects(q, page.items, deleteOpts); err != nil {
		return err
	}
	return q.replyList(start.view.Revision(), sel, page)
}

// deleteObjects deletes the objects of a list. Objects that do not exist any more are skipped
// (DL-33); it ends at the first error (DL-30). Admission sees the options as they were sent, as on
// a real server.
func (a *API) deleteObjects(q *request, items []*memstore.Record, opts *metav1.DeleteOptions) error {
	if q.res.Namespaced && q.info.Namespace == "" && len(items) > 0 {
		return errNamespaceRequired // the list is of all namespaces
	}
	review := a.newDeleteReview(q)
	asSent := func(old runtime.Object, _ *metav1.DeleteOptions) error { return review(old, opts) }
	for _, rec := range items {
		_, err := a.deleteObject(q.r.Context(), q, q.res, rec.Key, nameFromKey(rec.Key), opts.DeepCopy(), asSent)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// checkUnsafeDeleteCollection returns the 422 for the option to ignore read errors (DL-35).
func checkUnsafeDeleteCollection(opts *metav1.DeleteOptions) error {
	if !ignoresReadErrors(opts) {
		return nil
	}
	option := field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential")
	return status.InvalidOptions("DeleteOptions", field.ErrorList{field.Invalid(option, true,
		"is not allowed with DELETECOLLECTION, try again after removing the option")})
}
