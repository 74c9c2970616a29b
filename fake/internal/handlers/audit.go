package handlers

import (
	"bytes"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/memstore"
)

// auditObject adds the object in the body of a request to the audit log. As on a real server, it
// has the version of the body, and the defaults of its type.
func (q *request) auditObject(served runtime.Object) error {
	if !auditlog.Enabled(q.r.Context()) {
		return nil
	}
	obj := served.DeepCopyObject()
	if q.res.Custom == nil {
		stored, err := q.toStorageVersion(obj)
		if err != nil {
			return err
		}
		if obj, err = q.res.Convert(stored, q.res.GroupVersion()); err != nil {
			return err
		}
	}
	auditlog.LogRequestObject(q.r.Context(), obj, q.parent.GroupVersionResource(), q.info.Subresource)
	return nil
}

// auditDeleteOptions adds the options in the body of a delete to the audit log.
func (q *request) auditDeleteOptions(opts *metav1.DeleteOptions, sent schema.GroupVersion) {
	audit.LogRequestObject(q.r.Context(), opts, sent, q.parent.GroupVersionResource(), q.info.Subresource, codec.OptionsCodecs())
}

// auditPatch adds a patch to the audit log. asJSON returns it.
func (q *request) auditPatch(asJSON func() ([]byte, error)) error {
	return auditlog.LogRequestPatch(q.r.Context(), asJSON)
}

// recordDeprecation marks a request of a deprecated type in the audit log and in the metrics.
func (a *API) recordDeprecation(q *request) {
	if q.res.Deprecation == "" {
		return
	}
	audit.AddAuditAnnotation(q.r.Context(), "k8s.io/deprecated", "true")
	if q.res.RemovedRelease != "" {
		audit.AddAuditAnnotation(q.r.Context(), "k8s.io/removed-release", q.res.RemovedRelease)
	}
	a.settings.Metrics.RecordDeprecated(q.res.GroupVersionResource(), q.info.Subresource, q.res.RemovedRelease)
}

// auditResponse adds the response to the audit log: what encode returns with an Encoder of the same
// form in JSON. It is called before the response starts.
func (q *request) auditResponse(encode func(*encode.Encoder) ([]byte, error)) error {
	return auditlog.LogResponseObject(q.r.Context(), func() ([]byte, error) { return encode(q.encoder.AsJSON()) })
}

// auditList adds the response with a list to the audit log.
func (q *request) auditList(list metav1.ListMeta, items []*memstore.Record) error {
	return q.auditResponse(func(e *encode.Encoder) ([]byte, error) {
		var w bodyWriter
		err := e.WriteList(&w, list, items)
		return w.Bytes(), err
	})
}

// bodyWriter is a ResponseWriter that keeps the body.
type bodyWriter struct{ bytes.Buffer }

// Header implements http.ResponseWriter.
func (*bodyWriter) Header() http.Header { return http.Header{} }

// WriteHeader implements http.ResponseWriter.
func (*bodyWriter) WriteHeader(int) {}
