package handlers

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// get returns one object (GT-01 to GT-07). The status subresource returns the whole object, too
// (SU-06).
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
	if opts.ResourceVersion == "" && codec.ConversionMayFail(q.res, rec) {
		return q.replyConverted(rec)
	}
	return q.replyRecord(http.StatusOK, rec)
}

// replyConverted writes the response with an object that a webhook converts. It is converted again
// even if it has been before, as on a real server, whose storage does not cache conversions.
func (q *request) replyConverted(rec *memstore.Record) error {
	obj, err := codec.ConvertUncached(q.res, rec)
	if err != nil {
		return err
	}
	return q.replyObject(http.StatusOK, obj)
}

// decodeForGet decodes a record for a get at a resourceVersion. Without one, a webhook is called as
// for replyConverted.
func (a *API) decodeForGet(res *resource.Resource, rec *memstore.Record, resourceVersion string) (runtime.Object, error) {
	if resourceVersion == "" && codec.ConversionMayFail(res, rec) {
		return codec.ConvertUncached(res, rec)
	}
	return a.store.Decode(res, rec)
}
