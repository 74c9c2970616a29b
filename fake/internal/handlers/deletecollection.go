package handlers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/memstore"
)

// deleteCollection deletes what a list with the same options shows, object by
// object (DL-28 to DL-33), and answers with that list.
func (a *API) deleteCollection(q *request) error {
	opts, sel, err := q.decodeListOptions(a.hasWatchList())
	if err != nil {
		return err
	}
	deleteOpts, err := q.parseDeleteOptions()
	if err != nil {
		return err
	}
	if err := checkUnreadableDeleteCollection(deleteOpts); err != nil {
		return err
	}
	prefix := q.key()
	start, err := a.resolveListStart(q, prefix, sel, &opts)
	if err != nil {
		return err
	}
	page, err := a.page(start.view, prefix, start.startKey, sel, limit(&opts))
	if err != nil {
		return err
	}
	if err := a.deleteObjects(q, page.items, deleteOpts); err != nil {
		return err
	}
	return q.replyList(start.view.Revision(), sel, page)
}

// deleteObjects deletes the objects of a list. One that is gone already is no
// failure (DL-33); the first failure ends it (DL-30).
func (a *API) deleteObjects(q *request, items []*memstore.Record, opts *metav1.DeleteOptions) error {
	for _, rec := range items {
		_, err := a.deleteObject(q, q.res, rec.Key, nameFromKey(rec.Key), opts.DeepCopy())
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
