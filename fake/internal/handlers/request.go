package handlers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// request is one request for a resource on its way through a verb.
type request struct {
	w           http.ResponseWriter
	r           *http.Request
	info        requestinfo.RequestInfo
	res         *resource.Resource
	types       *registry.Registry
	clock       *clock
	parent      *resource.Resource    // res, but for with
	sub         *resource.Subresource // nil for the object itself
	output      negotiate.Output
	encoder     *encode.Encoder
	queryValues url.Values
	bodyBytes   []byte // the body, once it has been read
	// tableOptionsErr is why the answer cannot be transformed as asked for, nil if it can.
	tableOptionsErr error
	// warnings are what the client was told of so far.
	warnings warnings
}

// query gives the decoded query parameters.
func (q *request) query() url.Values {
	if q.queryValues == nil && q.r.URL.RawQuery != "" {
		q.queryValues = q.r.URL.Query()
	}
	return q.queryValues
}

// key is where the addressed object is stored, or the prefix of the collection.
func (q *request) key() string {
	return codec.Key(q.res, q.namespace(), q.info.Name)
}

// namespace is that of the path; a namespace itself is not inside one.
func (q *request) namespace() string {
	if !q.res.Namespaced {
		return ""
	}
	return q.info.Namespace
}

// checkName refuses a name of the path that cannot be part of a key in etcd, whatever is
// asked about it.
func (q *request) checkName() error {
	if wrong := content.IsPathSegmentName(q.info.Name); len(wrong) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", q.info.Name, strings.Join(wrong, ";")))
	}
	return nil
}

// decodeOptions decodes the query into one of the meta/v1 options types. Numbers
// that are none are a 400 (PV-24); parameters that nobody knows are ignored
// (PV-22).
func (q *request) decodeOptions(into runtime.Object) error {
	values := q.query()
	if len(values) == 0 {
		return nil
	}
	if err := metainternal.ParameterCodec.DecodeParameters(values, metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// invalidOptions is the 422 for options that decode but may not be used so.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// readBody reads the request's body up to MaxBody, in YAML with its aliases written out. Asked
// again it gives the same.
func (q *request) readBody() (body []byte, err error) {
	if q.bodyBytes == nil {
		q.bodyBytes, err = readBody(q.r)
	}
	return q.bodyBytes, err
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, status.TooLarge(MaxBody)
	}
	var body []byte
	var err error
	if n := r.ContentLength; n > 0 {
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	}
	switch {
	case len(body) > MaxBody, strings.Contains(r.Header.Get("Content-Type"), "yaml") && codec.ExceedsSize(body, MaxBody):
		return nil, status.TooLarge(MaxBody)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, apierrors.NewBadRequest("unexpected EOF")
	case err != nil:
		return nil, err
	}
	return body, nil
}

// decodeBody reads and decodes the object that the client sent, of the served
// version, and turns what strict decoding found into Warning headers.
func (q *request) decodeBody(validation string) (runtime.Object, error) {
	media, err := negotiate.RequestMediaType(q.r)
	if err != nil {
		return nil, err
	}
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	obj, warnings, err := codec.DecodeBody(q.res, media, body, validation)
	if err != nil && q.res != q.parent && q.parent.Custom != nil {
		return nil, errScaleNotDecodable
	}
	if err != nil {
		return nil, err
	}
	q.addWarnings(warnings...)
	return obj, nil
}

// decodeObject reads the object of a create or an update and gives it as it is stored. It
// is the caller's own; asked again it gives another.
func (q *request) decodeObject(validation string) (runtime.Object, error) {
	served, err := q.decodeBody(validation)
	if err != nil {
		return nil, err
	}
	if err := q.checkMatchesPath(accessor(served)); err != nil {
		return nil, err
	}
	obj, err := q.toStorageVersion(served)
	if err != nil {
		return nil, err
	}
	q.dedupOwnerReferences(obj, false)
	return obj, nil
}

// checkMatchesPath refuses an object that is not the one of the path.
func (q *request) checkMatchesPath(m metav1.Object) error {
	if err := q.ensureNamespace(m); err != nil {
		return err
	}
	return q.checkObjectName(m)
}

// toStorageVersion gives an object of the served version as it is stored. It may change
// the object.
func (q *request) toStorageVersion(served runtime.Object) (runtime.Object, error) {
	obj, err := q.res.Convert(served, q.res.StorageVersion)
	if err != nil {
		return nil, err
	}
	return q.res.Canonical(obj), nil
}

// fieldManager keeps the managedFields of what the request writes to.
func (q *request) fieldManager() (*managedfields.FieldManager, error) {
	return q.types.FieldManager(q.parent, q.info.Subresource)
}

// managerName is the owner of the fields that the request writes (SA-25).
func (q *request) managerName(fieldManager string) string {
	return managedfields.ManagerOrUserAgent(fieldManager, q.r.UserAgent())
}

// replyRecord answers with a stored object.
func (q *request) replyRecord(code int, rec *memstore.Record) error {
	if err := q.checkSingleForm(); err != nil {
		return err
	}
	body, err := q.encoder.EncodeRecord(rec)
	if err != nil {
		return err
	}
	return q.writeBody(code, body)
}

// replyObject answers with an object that is not stored, of the served version.
func (q *request) replyObject(code int, obj runtime.Object) error {
	if err := q.checkSingleForm(); err != nil {
		return err
	}
	body, err := q.encoder.EncodeObject(obj)
	if err != nil {
		return err
	}
	return q.writeBody(code, body)
}

func (q *request) writeBody(code int, body []byte) error {
	h := q.w.Header()
	h.Set("Content-Type", q.encoder.ContentType(false))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(code)
	_, _ = q.w.Write(body) // the client may be gone; nobody is left to tell
	return nil
}
