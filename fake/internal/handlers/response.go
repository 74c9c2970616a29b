package handlers

import (
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1beta1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/auditlog"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/fake/internal/storage"
	"example.com/fakeapi/memstore"
)

// WriteError writes the Status of err as the response to r.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	WriteStatus(w, r, status.FromError(err))
}

// WriteStatus writes a Status as the response to r, in the encoding that the client accepts or
// otherwise in JSON (CN-08, PB-06).
func WriteStatus(w http.ResponseWriter, r *http.Request, s *metav1.Status) {
	if auditlog.Enabled(r.Context()) && negotiate.IsErrorAcceptable(r) { // otherwise a real server does not log it
		auditlog.LogStatus(r.Context(), s)
	}
	writeStatus(w, negotiate.ErrorOutput(r), s)
}

func writeStatus(w http.ResponseWriter, output negotiate.Output, s *metav1.Status) {
	body, err := encode.EncodeDocument(output, s)
	if err != nil { // a Status can always be encoded
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if seconds := status.RetryAfter(s); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	w.Header().Set("Content-Type", negotiate.ContentType(output.Media, false))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if s.Code != 0 { // a Success has none
		w.WriteHeader(int(s.Code))
	}
	_, _ = w.Write(body)
}

// WriteTimeout writes the response to a request that has timed out (EX-08).
func WriteTimeout(w http.ResponseWriter) {
	body, err := status.RequestTimeoutBody()
	if err != nil { // it can always be encoded
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusGatewayTimeout)
	_, _ = w.Write(body)
}

// endpoint returns how the responses of an endpoint can be transformed. As on a real server,
// objects, lists and the subresources status and scale can be transformed into Tables, other
// subresources and those of the extension servers cannot.
func endpoint(res *resource.Resource, sub *resource.Subresource, isCollection bool) negotiate.Endpoint {
	switch {
	case res.Custom != nil:
		return negotiate.Custom
	case sub != nil && sub.Name == "log":
		return negotiate.Log
	case res.IsOnlyCreated(), sub != nil && sub.Name != "status" && sub.Name != "scale", sub != nil && isOfExtensionServer(res):
		return negotiate.NotTransformable
	case isCollection:
		return negotiate.Collection
	}
	return negotiate.Object
}

// newEncoder returns the encoder of the response. Invalid options of a Table are an error when the
// response is written. As on a real server, a write has been done by then.
func (a *API) newEncoder(q *request, res *resource.Resource) *encode.Encoder {
	encoder := encode.NewEncoder(res, q.output)
	if q.output.Form == negotiate.Table {
		var opts metav1.TableOptions
		q.tableOptionsErr = q.decodeOptions(&opts)
		if errs := validation.ValidateTableOptions(&opts); q.tableOptionsErr == nil && len(errs) > 0 {
			q.tableOptionsErr = apierrors.NewBadRequest("Unable to convert to Table as requested: " + errs[0].Error()) // TB-06
		}
		encoder.SetTableOptions(opts.IncludeObject, a.clock.Now)
	}
	if q.sub == nil {
		encoder.Decorate()
	}
	return encoder
}

// checkSingleForm returns an error if the client accepts lists only, for the response of a single
// object (PM-03 in reverse). The error of a custom resource is not a 406 (PM-04).
func (q *request) checkSingleForm() error {
	switch {
	case q.output.Form == negotiate.PartialList && q.res.Custom != nil:
		return errors.New("content is not a list")
	case q.output.Form == negotiate.PartialList:
		return status.TransformNotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (*" +
			q.res.TypeName() + ")")
	}
	return q.tableOptionsErr
}

// checkListForm returns an error if the client accepts single objects only, for the response of a
// list (PM-03).
func (q *request) checkListForm() error {
	if q.output.Form == negotiate.Partial {
		return status.TransformNotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (*" +
			q.res.ListTypeName() + ")")
	}
	return q.tableOptionsErr
}

// replyRecord writes the response with a stored object.
func (q *request) replyRecord(code int, rec *memstore.Record) error {
	if err := q.checkSingleForm(); err != nil {
		return err
	}
	buffer := q.buffers.Get().(*[]byte)
	body, err := q.encoder.EncodeRecord(rec, (*buffer)[:0])
	if err != nil {
		return err
	}
	if err := q.auditResponse(func(e *encode.Encoder) ([]byte, error) { return e.EncodeRecord(rec, nil) }); err != nil {
		return err
	}
	if q.writeBody(code, body) == nil { // after an error, HTTP/2 may still read the body
		*buffer = body
		q.buffers.Put(buffer)
	}
	return nil
}

// replyObject writes the response with an object of the served version that is not stored.
func (q *request) replyObject(code int, obj runtime.Object) error {
	if err := q.checkSingleForm(); err != nil {
		return err
	}
	body, err := q.encoder.EncodeObject(obj)
	if err != nil {
		return err
	}
	if err := q.auditResponse(func(e *encode.Encoder) ([]byte, error) { return e.EncodeObject(obj) }); err != nil {
		return err
	}
	_ = q.writeBody(code, body)
	return nil
}

// replyStatus writes the response with a Status that is not an error. Its form is not transformed
// (TB-10).
func (q *request) replyStatus(s *metav1.Status) error {
	if q.tableOptionsErr != nil {
		return q.tableOptionsErr
	}
	auditlog.LogStatus(q.r.Context(), s)
	writeStatus(q.w, q.output, s)
	return nil
}

// replyResult writes the response with the object of a write: the stored one, the one that was
// removed, or that of a dry run.
func (q *request) replyResult(code int, result storage.Result) error {
	switch e := result.Event; {
	case e != nil && e.Record != nil:
		if result.Stored != nil {
			if err := q.encoder.CacheObject(e.Record, result.Stored); err != nil {
				return err
			}
		}
		return withoutReason(q.replyRecord(code, e.Record))
	case e != nil && result.Object == nil:
		return q.replyRecord(code, e.DeletedRecord())
	}
	obj, err := q.res.Convert(result.Object, q.res.GroupVersion())
	if err != nil {
		return err
	}
	return q.replyObject(code, obj)
}

// writeBody writes a response. An error means that the client has disconnected.
func (q *request) writeBody(code int, body []byte) error {
	h := q.w.Header()
	h.Set("Content-Type", q.encoder.ContentType(false))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(code)
	_, err := q.w.Write(body)
	return err
}

// fromConversionError returns the error of a real server's storage for one or more objects that
// cannot be converted from their storage version. It returns other errors unchanged.
func fromConversionError(err error) error {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return err
	}
	var list codec.ConversionErrors
	if errors.As(err, &list) {
		items := make([]status.UnreadableItem, len(list))
		for i, item := range list {
			items[i] = status.UnreadableItem{Path: "/registry" + item.Path(), Err: item}
		}
		return status.StorageReadError(list[0].Resource, items, list.IsTruncated())
	}
	var single *codec.ConversionError
	if errors.As(err, &single) {
		return status.CorruptObject(single.Path(), single)
	}
	return err
}

// withoutReason returns the error of a write whose stored object cannot be converted, as the old
// object or for the response: a 500 without a reason. It returns other errors unchanged.
func withoutReason(err error) error {
	var conversion *codec.ConversionError
	if errors.As(err, &conversion) {
		return errors.New(conversion.Error())
	}
	return err
}
