package verbs

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/route"
)

// get reads one object (GT-01 to GT-07). The status subresource shows the
// whole object too (SU-06).
func (a *API) get(q *request) error {
	var opts metav1.GetOptions
	if values := q.query(); len(values) > 0 {
		if export := values["export"]; len(export) > 0 && route.Bool(export) {
			return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
		}
		if err := q.options(&opts); err != nil {
			return err
		}
	}
	if err := a.reach(q.r.Context(), opts.ResourceVersion); err != nil {
		return err
	}
	rec := a.store.View().Get(q.key())
	if rec == nil {
		return apierrors.NewNotFound(q.res.GroupResource(), q.target.Name)
	}
	return q.reply(http.StatusOK, rec)
}
