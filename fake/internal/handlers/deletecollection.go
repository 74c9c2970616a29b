package handlers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/memstore"
)

// deleteCollection deletes what a list with the same options shows, object by
// object (DL-28 to DL-33), and answers with that list.
func (a *API) deleteCollection(q *request) error {
	opts, sel, err := q.listOptions(a.hasWatchList())
	if err != nil {
		return err
	}
	how, err := q.deleteOptions()
	if err != nil {
		return err
	}
	if err := unreadableCollection(how); err != nil {
		return err
	}
	prefix := q.key()
	from, err := a.start(q, prefix, sel, &opts)
	if err != nil {
		return err
	}
	page, err := a.page(from.view, prefix, from.from, sel, limit(&opts))
	if err != nil {
		return err
	}
	if err := a.removeAll(q, page.items, how); err != nil {
		return err
	}
	return q.replyList(from.view.Revision(), sel, page)
}

// removeAll deletes the objects of a list. One that is gone already is no
// failure (DL-33); the first failure ends it (DL-30).
func (a *API) removeAll(q *request, items []*memstore.Record, how *metav1.DeleteOptions) error {
	for _, rec := range items {
		_, err := a.remove(q, q.res, rec.Key, nameOf(rec.Key), how.DeepCopy())
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
