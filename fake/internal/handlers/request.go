package handlers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/clock"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/internal/requestinfo"
)

// MaxBodySize is the size of the largest request body, in bytes (CR-09).
const MaxBodySize = 3 << 20

// request is a request for a resource.
type request struct {
	w     http.ResponseWriter
	r     *http.Request
	info  requestinfo.RequestInfo
	types *registry.Registry
	clock *clock.Clock
	// buffers are those of the API, for responses.
	buffers *sync.Pool // *[]byte
	// res is the resource of the body and of the response. It is parent unless withBodyResource was
	// called.
	res    *resource.Resource
	parent *resource.Resource    // the resource of the path
	sub    *resource.Subresource // nil for the object itself

	output  negotiate.Output
	encoder *encode.Encoder
	// tableOptionsErr is the error in the client's TableOptions, which is returned when the
	// response is written.
	tableOptionsErr error
	warnings        warnings // those that the response has so far

	queryValues url.Values // nil until query is called
	bodyBytes   []byte     // nil until readBody is called
}

// withBodyResource returns a copy of q whose body and response are of another kind than the object,
// such as a Scale or an Eviction. managedFields are still those of the subresource.
func (q *request) withBodyResource(body *resource.Resource) *request {
	other := *q
	other.res, other.encoder = body, q.encoder.ForResource(body)
	return &other
}

// timeLeft returns the time that the request has for waiting.
func (q *request) timeLeft() time.Duration {
	if q.info.Timeout > 0 {
		return min(q.info.Timeout, requestinfo.RequestTimeout)
	}
	return requestinfo.RequestTimeout
}

// query returns the parsed query parameters.
func (q *request) query() url.Values {
	if q.queryValues == nil && q.r.URL.RawQuery != "" {
		q.queryValues = q.r.URL.Query()
	}
	return q.queryValues
}

// key returns the key of the object, or the prefix of the keys of the collection.
func (q *request) key() string {
	return codec.Key(q.res, q.namespace(), q.info.Name)
}

// namespace returns the namespace of the path. That of a namespace itself is "".
func (q *request) namespace() string {
	if !q.res.Namespaced {
		return ""
	}
	return q.info.Namespace
}

// checkName returns an error if the name in the path cannot be part of a key in etcd.
func (q *request) checkName() error { return status.InvalidName(q.info.Name) }

// decodeOptions decodes the query into options, which are of meta/v1. Numbers that do not parse are
// a 400 (PV-24). Unknown parameters are ignored (PV-22).
func (q *request) decodeOptions(options runtime.Object) error {
	values := q.query()
	if len(values) == 0 {
		return nil
	}
	if err := metainternal.ParameterCodec.DecodeParameters(values, metav1.SchemeGroupVersion, options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// decodeCreateOptions decodes and validates the options of a POST.
func (q *request) decodeCreateOptions() (metav1.CreateOptions, error) {
	var opts metav1.CreateOptions
	if err := q.decodeOptions(&opts); err != nil {
		return opts, err
	}
	return opts, status.InvalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts))
}

// checkContext returns an error if the client has gone or the time of the request is over.
func (q *request) checkContext() error { return status.CheckContext(q.r.Context()) }

// readBody returns the body of the request. Further calls return the same bytes.
func (q *request) readBody() (body []byte, err error) {
	if q.bodyBytes == nil {
		q.bodyBytes, err = readBody(q.r)
	}
	return q.bodyBytes, err
}

// readBody reads the body of r, up to MaxBodySize. YAML counts with its aliases expanded.
func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBodySize {
		return nil, status.TooLarge(MaxBodySize)
	}
	var body []byte
	var err error
	if n := r.ContentLength; n > 0 {
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(io.LimitReader(r.Body, MaxBodySize+1))
	}
	switch {
	case len(body) > MaxBodySize, strings.Contains(r.Header.Get("Content-Type"), "yaml") && codec.ExceedsSize(body, MaxBodySize):
		return nil, status.TooLarge(MaxBodySize)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, apierrors.NewBadRequest("unexpected EOF")
	case err != nil:
		return nil, err
	}
	return body, nil
}

// decodeBody reads and decodes the object in the body, which has the served version. The warnings
// of strict decoding are added to the response.
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
	q.addWarnings(warnings...)
	if err == nil {
		err = q.auditObject(obj)
	}
	return obj, err
}

// decodeObject decodes the object of a create or an update, and returns it in the storage version.
// Each call returns another object, which the caller may change.
func (q *request) decodeObject(validation string) (runtime.Object, error) {
	served, err := q.decodeBody(validation)
	if err != nil {
		return nil, err
	}
	if err := q.checkMatchesPath(resource.Accessor(served)); err != nil {
		return nil, err
	}
	obj, err := q.toStorageVersion(served)
	if err != nil {
		return nil, err
	}
	q.dedupOwnerReferences(obj, false)
	return obj, q.checkContext()
}

// toStorageVersion converts an object of the served version to the storage version. It may change
// served.
func (q *request) toStorageVersion(served runtime.Object) (runtime.Object, error) {
	obj, err := q.res.Convert(served, q.res.StorageVersion)
	if err != nil {
		return nil, err
	}
	return q.res.Canonical(obj), nil
}

// decodePost decodes the options and the body of a POST that does not create the object in its
// body, such as a Binding or a review, and runs mutating admission on the object. The caller runs
// validating admission with the returned admissionRunner.
func (a *API) decodePost(q *request) (opts metav1.CreateOptions, obj runtime.Object, admission *admissionRunner, err error) {
	if _, err := q.readBody(); err != nil { // its size is checked before the options (CR-14)
		return opts, nil, nil, err
	}
	if opts, err = q.decodeCreateOptions(); err != nil {
		return opts, nil, nil, err
	}
	if obj, err = q.decodeBody(opts.FieldValidation); err != nil {
		return opts, nil, nil, err
	}
	obj = q.res.Canonical(obj)
	if q.sub == nil { // those of a subresource can be preconditions
		rest.WipeSystemFields(resource.Accessor(obj))
	}
	if err := q.ensureNamespace(resource.Accessor(obj)); err != nil {
		return opts, nil, nil, err
	}
	if err := a.checkServed(q.parent, resource.Accessor(obj)); err != nil {
		return opts, nil, nil, err
	}
	manager, err := q.fieldManager()
	if err != nil {
		return opts, nil, nil, err
	}
	obj = a.clock.UpdateManagedFields(manager, nil, obj, q.managerName(opts.FieldManager))
	admission = a.newAdmissionRunner(q, writeOptions{opts.DryRun, opts.FieldManager, opts.FieldValidation})
	obj, err = admission.mutate(obj, nil)
	return opts, obj, admission, err
}

// checkMatchesPath returns an error if m is not the object of the path. It sets the namespace.
func (q *request) checkMatchesPath(m metav1.Object) error {
	if err := q.ensureNamespace(m); err != nil {
		return err
	}
	return q.checkObjectName(m)
}

// ensureNamespace sets the namespace of the path, and returns an error if m has another one (NM-17,
// NM-18). If the path has none, that of the object is removed (NM-19).
func (q *request) ensureNamespace(m metav1.Object) error {
	namespace, sent := q.namespace(), m.GetNamespace()
	if namespace != "" && sent != "" && sent != namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.SetNamespace(namespace)
	return nil
}

// checkObjectName returns an error if m has another name than the path (NM-15, NM-16, NM-20). The
// path of a collection has none.
func (q *request) checkObjectName(m metav1.Object) error {
	switch name := m.GetName(); {
	case q.info.Name == "", name == q.info.Name:
		return nil
	case name == "":
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", q.info.Name))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, q.info.Name))
	}
}

// fieldManager returns the FieldManager of the resource, or subresource, of the path.
func (q *request) fieldManager() (*managedfields.FieldManager, error) {
	return q.types.FieldManager(q.parent, q.info.Subresource)
}

// managerName returns the owner of the fields that the request writes (SA-25). fieldManager is that
// of the options.
func (q *request) managerName(fieldManager string) string {
	return managedfields.ManagerOrUserAgent(fieldManager, q.r.UserAgent())
}

// storagePath returns the key of the object in the etcd of a real server, which is part of some
// errors.
func (q *request) storagePath() string {
	return "/" + strings.Trim(strings.Join([]string{"registry", storagePrefix(q.parent), q.namespace()}, "/"), "/") + "/" + q.info.Name
}

// isOfExtensionServer reports whether one of the extension servers within kube-apiserver serves a
// built-in resource.
func isOfExtensionServer(res *resource.Resource) bool {
	return res.Group == apiextensionsv1.GroupName || isAPIServices(res)
}

// storagePrefix returns the prefix under which a real server stores the objects of a resource. Some
// have the name of an early version. Custom resources and those of the extension servers within
// kube-apiserver have their group.
func storagePrefix(res *resource.Resource) string {
	if res.Custom != nil || isOfExtensionServer(res) {
		return res.Group + "/" + res.Plural
	}
	switch res.GroupResource().String() {
	case "nodes":
		return "minions"
	case "replicationcontrollers":
		return "controllers"
	case "services":
		return "services/specs"
	case "endpoints":
		return "services/endpoints"
	case "ingresses.networking.k8s.io":
		return "ingress"
	}
	return res.Plural
}

// nameFromKey returns the name of the object under key.
func nameFromKey(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
