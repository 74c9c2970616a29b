package handlers

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// get reads one object (GT-01 to GT-07). The status subresource shows the
// whole object too (SU-06).
func (a *API) get(q *request) error {
	var opts metav1.GetOptions
	if values := q.query(); len(values) > 0 {
		if export := values["export"]; len(export) > 0 && requestinfo.BoolParam(export) {
			return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
		}
		if err := q.decodeOptions(&opts); err != nil {
			return err
		}
	}
	if err := q.checkName(); err != nil {
		return err
	}
	view, err := a.viewAtLeast(q, opts.ResourceVersion)
	if err != nil {
		return err
	}
	rec := view.Get(q.key())
	if rec == nil {
		return apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
	}
	if opts.ResourceVersion == "" {
		return q.replyFresh(rec)
	}
	return q.replyRecord(http.StatusOK, rec)
}

// viewAtLeast gives the state that a read at a resourceVersion shows: the most
// recent one for "" (GT-02), any for "0" (GT-03), one that is not older for a
// number (GT-04), which is waited for (GT-05). One that is no number is the
// plain error that is answered 500 (GT-06).
func (a *API) viewAtLeast(q *request, resourceVersion string) (memstore.View, error) {
	if resourceVersion == "" {
		return a.store.View(), nil
	}
	rev, err := parseRevision(resourceVersion)
	if err != nil {
		return memstore.View{}, err
	}
	if err := a.waitForRevision(q.r.Context(), timeoutOf(&q.info), a.view, rev); err != nil {
		return memstore.View{}, err
	}
	return a.view.View(), nil
}
