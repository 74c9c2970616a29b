// Package status has the errors of the API server, and turns errors into metav1.Status objects.
// Errors with the text of apimachinery's package errors are made by that package; those with other
// texts are here, with the texts of a real server.
package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/memstore"
)

// FromError returns the Status of err. As on a real server, an error that is not an API error, also
// if it wraps one, is a 500 without a reason, with its text as the message (ST-11).
func FromError(err error) *metav1.Status {
	if api, ok := err.(apierrors.APIStatus); ok {
		s := api.Status()
		s.Kind, s.APIVersion = "Status", "v1"
		return &s
	}
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Message:  err.Error(),
		Code:     http.StatusInternalServerError,
	}
}

// RetryAfter returns the value of the Retry-After header of s, or 0 for none. The header is set if
// the details have seconds (EX-06).
func RetryAfter(s *metav1.Status) int32 {
	if s.Details == nil {
		return 0
	}
	return s.Details.RetryAfterSeconds
}

// Success is the Status of a DELETE that has removed the object (DL-01).
func Success(details *metav1.StatusDetails) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details:  details,
	}
}

// Created is the Status of a POST to a subresource whose response has no object (SU-13, SU-14).
func Created() *metav1.Status {
	s := Success(nil)
	s.Code = http.StatusCreated
	return s
}

func failure(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    code,
		Reason:  reason,
		Message: message,
		Details: details,
	}}
}

// PathNotFound is the 404 of a path under a served group that is not served.
func PathNotFound() error {
	return failure(http.StatusNotFound, metav1.StatusReasonNotFound,
		"the server could not find the requested resource", &metav1.StatusDetails{})
}

// ForbiddenOrigin is the 403 of a request whose origin or host is not allowed.
func ForbiddenOrigin(reason error) error {
	return failure(http.StatusForbidden, metav1.StatusReasonForbidden, "the request is refused: "+reason.Error(), nil)
}

// MethodNotAllowed is the 405 of a method that a path does not support (PV-13, PV-14).
func MethodNotAllowed() error {
	return failure(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource", &metav1.StatusDetails{})
}

// NoAcceptableMediaType is the 406 of the router, for a client that accepts none of the offered
// media types. Their parameters are not considered.
func NoAcceptableMediaType(offered string) error {
	return failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+offered, &metav1.StatusDetails{})
}

// NotAcceptable is the 406 of content negotiation, for a client that accepts a media type that is
// served, and a form that is not (TB-03, WA-30).
func NotAcceptable(offered string) error {
	return failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+offered, nil)
}

// TransformNotAcceptable is the 406 of a form that does not fit the response (PM-03).
func TransformNotAcceptable(message string) error {
	return failure(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, message, nil)
}

// UnsupportedMediaType is the 415 of a body in an unsupported encoding (CR-08, PA-02).
func UnsupportedMediaType(accepted string) error {
	return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+accepted, nil)
}

// RouterUnsupportedMediaType is the 415 of the router, for a patch type that a path does not
// support (PA-02).
func RouterUnsupportedMediaType() error {
	return failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"415: Unsupported Media Type", &metav1.StatusDetails{})
}

// Unprocessable is the 422 of a patch that cannot be applied (PA-08).
func Unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// TooLarge is the 413 of a body above the limit in bytes (CR-09).
func TooLarge(limit int64) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}

// DisruptionBudgetViolated is the 429 of an eviction that a PodDisruptionBudget does not allow
// (SU-14). cause is the reason, and retryAfter the number of seconds after which the client may
// retry, or 0.
func DisruptionBudgetViolated(cause string, retryAfter int) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: cause}}
	return err
}

// DisruptionBudgetForbidden is the 403 of an eviction because of the status of its
// PodDisruptionBudget (SU-14).
func DisruptionBudgetForbidden(budget, problem, cause string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}, budget, errors.New(problem))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: cause}}
	return err
}

// UnsafeEviction is the 422 of an eviction with the option to ignore read errors.
func UnsafeEviction(pod string) error {
	option := field.NewPath("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
	return Invalid(schema.GroupKind{Group: policyv1.GroupName, Kind: "Eviction"}, pod, field.ErrorList{field.Invalid(option, true,
		"can not be set for pod eviction, try after removing the option")})
}

// MultipleDisruptionBudgets is the 500 of an eviction of a pod with more than one
// PodDisruptionBudget (SU-14).
func MultipleDisruptionBudgets() error {
	return failure(http.StatusInternalServerError, "",
		"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", nil)
}

// KubeletRequired is the 501 of a request that a kubelet would serve, such as one for pods/log.
// Clients show its message and do not retry.
func KubeletRequired(what string) error {
	return failure(http.StatusNotImplemented, "NotImplemented",
		"there is no kubelet behind this test server and nothing runs on it: "+what+" cannot be answered", nil)
}

// NotYetReady is the 503 of a request before the server has installed all paths (PV-28).
func NotYetReady() error {
	err := apierrors.NewServiceUnavailable("the request has been made before all known HTTP paths have been installed, please try again")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 5}
	return err
}

// WatchCacheInitializing is the 429 of a read from the watch cache while it is initialized (RS-31,
// WA-39). The client may retry after seconds.
func WatchCacheInitializing(seconds int) error {
	return apierrors.NewTooManyRequests("storage is (re)initializing", seconds)
}

// FromStoreError returns the error of a get or a list for an error of the store: 410 for a revision
// that is compacted (EX-02), and 504 for one that does not exist yet (RS-05). It returns other
// errors unchanged.
func FromStoreError(err error) error {
	var future *memstore.FutureRevisionError
	switch {
	case errors.As(err, &future):
		return TooLargeResourceVersion(uint64(future.Requested), uint64(future.Current))
	case errors.Is(err, memstore.ErrCompacted):
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	return err
}

// TooLargeResourceVersion is the 504 for a resourceVersion that does not exist yet (RS-05).
func TooLargeResourceVersion(requested, current uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", requested, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// ResourceVersionNotFound is TooLargeResourceVersion without retryAfterSeconds, for a read that did
// not wait.
func ResourceVersionNotFound(requested, current uint64) error {
	err := TooLargeResourceVersion(requested, current).(*apierrors.StatusError)
	err.ErrStatus.Details.RetryAfterSeconds = 0
	return err
}

// TooOldResourceVersion is the 410 that ends a watch whose revision is compacted (WA-19).
func TooOldResourceVersion(requested, oldest uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", requested, oldest))
}

// RequestTimeout is the 504 of a request that has timed out (EX-08). A real server's filters write
// it, as text/plain and without a kind. RequestTimeoutBody has that form.
var RequestTimeout error = failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout,
	"Timeout: request did not complete within the allotted timeout", &metav1.StatusDetails{})

// CheckContext returns RequestTimeout if ctx has ended. A context whose deadline has passed, and
// whose timer is only due, has ended, too. It is called between the steps of a request, which can
// take seconds each.
func CheckContext(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return RequestTimeout
	}
	return nil
}

// RequestTimeoutBody returns the body of a RequestTimeout.
func RequestTimeoutBody() ([]byte, error) {
	s := FromError(RequestTimeout)
	s.Kind, s.APIVersion = "", ""
	body, err := json.Marshal(s)
	return append(body, '\n'), err
}

// HandlerTimeout is the 504 of a write whose handler has taken too long, because of webhooks. A
// real server writes it like other errors.
func HandlerTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout - "+context.DeadlineExceeded.Error(), 0)
}

// ExpiredContinue is the 410 of a continue token whose revision is compacted. token continues at
// the same key in the current state (CH-18).
func ExpiredContinue(token string) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old " +
		"to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided " +
		"token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned and now " +
		"may show up in the list.")
	err.ErrStatus.ListMeta.Continue = token
	return err
}

// Conflict is the 409 of a write whose resourceVersion is not the current one (OC-02).
func Conflict(gr schema.GroupResource, name string) error {
	return apierrors.NewConflict(gr, name, errors.New(
		"the object has been modified; please apply your changes to the latest version and try again"))
}

// AlreadyExists is the 409 of a create whose name is in use (NM-02). isTerminating reports whether
// the existing object is being deleted (NM-03). A client that sent a generateName, whether or not
// the name was generated from it, is asked to try again (NM-09).
func AlreadyExists(gr schema.GroupResource, name string, hasGenerateName, isTerminating bool) error {
	err := apierrors.NewAlreadyExists(gr, name)
	if hasGenerateName {
		err = apierrors.NewGenerateNameConflict(gr, name, 1)
	}
	if isTerminating {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// UIDMismatch is the 409 of an apply that has a uid and would create an object (OC-12).
func UIDMismatch(gr schema.GroupResource, name string, uid types.UID) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf(
		"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
}

// UIDPreconditionFailed is the 409 of a delete whose precondition has another uid than the object
// (DL-10).
func UIDPreconditionFailed(gr schema.GroupResource, name string, sent, stored types.UID) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
		"The object might have been deleted and then recreated", sent, stored))
}

// ResourceVersionPreconditionFailed is the 409 of a delete whose precondition has another
// resourceVersion than the object (DL-11).
func ResourceVersionPreconditionFailed(gr schema.GroupResource, name, sent, stored string) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
		"The object might have been modified", sent, stored))
}

// BoundObjectMismatch is the 409 of a token request whose bound object has another uid.
func BoundObjectMismatch(gr schema.GroupResource, name string, uid types.UID) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. "+
		"The object might have been deleted and then recreated", uid))
}

// ServiceAccountMismatch is the 409 of a token request whose service account has another uid.
func ServiceAccountMismatch(account string, sent, stored types.UID) error {
	gr := schema.GroupResource{Group: authenticationv1.GroupName, Resource: "TokenRequest"}
	return apierrors.NewConflict(gr, account, fmt.Errorf(
		"the UID in the token request (%s) does not match the UID of the service account (%s)", sent, stored))
}

// preconditionFailed returns the text of a real server's storage for a precondition on field, which
// is UID or ResourceVersion.
func preconditionFailed(field string, sent, stored any) error {
	//lint:ignore ST1005 the text of a real server
	return fmt.Errorf("Precondition failed: %s in precondition: %v, %s in object meta: %v", field, sent, field, stored)
}

// PreconditionFailed is the 409 of a precondition on field, which is UID or ResourceVersion, that
// is checked before the storage is reached.
func PreconditionFailed(gr schema.GroupResource, name, field string, sent, stored any) error {
	return apierrors.NewConflict(gr, name, preconditionFailed(field, sent, stored))
}

// DefinitionPreconditionFailed is PreconditionFailed for the delete of a CustomResourceDefinition,
// with a lower case letter.
func DefinitionPreconditionFailed(gr schema.GroupResource, name, field string, sent, stored any) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf("precondition failed: %s in precondition: %v, %[1]s in object meta: %[3]v", field, sent, stored))
}

// StoragePreconditionFailed is PreconditionFailed if the storage checks it. path is the key in
// etcd.
func StoragePreconditionFailed(gr schema.GroupResource, name, path, field string, sent, stored any) error {
	return invalidObject(gr, name, path, preconditionFailed(field, sent, stored))
}

// UnsafeDeleteNotAllowed is the 409 of a delete that ignores read errors, for an object that can be
// read (DL-34). path is the key in etcd.
func UnsafeDeleteNotAllowed(gr schema.GroupResource, name, path string) error {
	return invalidObject(gr, name, path, errors.New("unsafe deletion is not allowed because the object is decodable from storage"))
}

// invalidObject is the 409 for a real server's storage error of the same name.
func invalidObject(gr schema.GroupResource, name, path string, err error) error {
	return apierrors.NewConflict(gr, name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", path, err))
}

// PodNotAssignable is the 409 of a binding of a pod that cannot be assigned to a node.
func PodNotAssignable(pod, cause string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, pod, errors.New(cause))
}

// InvalidOptions is the 422 of options that decode and cannot be used together. kind is that of the
// options. It is nil if there are no errs.
func InvalidOptions(kind string, errs field.ErrorList) error {
	return Invalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// MissingResourceVersion is the 422 of an update without a resourceVersion, of a resource that
// needs one (OC-04). It is the only one that has the resource in place of the kind.
func MissingResourceVersion(gr schema.GroupResource, name string) error {
	return Invalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, name, field.ErrorList{field.Invalid(
		field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
}

// InvalidPatchResult is the 422 of a patch whose result does not decode. patched is the text of the
// result.
func InvalidPatchResult(patched string, err error) error {
	return Invalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), patched, err.Error())})
}

// AdmissionFailed is the 500 of a write whose admission plugin failed.
func AdmissionFailed(plugin string, err error) error {
	return apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: %w", plugin, err))
}

// corruptObjectError returns the error of a real server's storage for an object that cannot be
// read.
func corruptObjectError(path string, err error) error {
	return fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", path, err)
}

// CorruptObject is the 500 of a read or a write of an object that cannot be converted.
func CorruptObject(path string, err error) error {
	return apierrors.NewInternalError(corruptObjectError(path, err))
}

// UnreadableItem is an object of a list that cannot be converted.
type UnreadableItem struct {
	Path string
	Err  error
}

// StorageReadError is the 500 of a list with objects that cannot be converted. truncated reports
// that there may be more of them.
func StorageReadError(gr schema.GroupResource, items []UnreadableItem, truncated bool) error {
	var causes []metav1.StatusCause
	for _, u := range items {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeUnexpectedServerResponse, Field: u.Path, Message: corruptObjectError(u.Path, u.Err).Error(),
		})
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", gr, causes[0].Message)
	if more := len(causes) - 1; more > 0 {
		message = fmt.Sprintf("%s (and %d more)", message, more)
	}
	if truncated {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	}
	return failure(http.StatusInternalServerError, metav1.StatusReasonStoreReadError, message,
		&metav1.StatusDetails{Name: "list", Group: gr.Group, Kind: gr.Resource, Causes: causes})
}
