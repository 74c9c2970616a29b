package faults

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/internal/requestinfo"
)

// Messages of kube-apiserver.
const (
	tooLargeResourceVersion = "Too large resource version"
	tooManyRequestsMessage  = "Too many requests, please try again later."
	expiredListMessage      = "The resourceVersion for the provided list is too old."
	expiredContinueMessage  = "The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter"
	inconsistentContinueMessage = ", or use the continue token in this response to retrieve the remainder of the results. " +
		"Continuing with the provided token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned and now may show up in the list"
	conflictMessage = "the object has been modified; please apply your changes to the latest version and try again"
)

// completeStatus returns s with the missing fields filled in as kube-apiserver does in a response
// to op.
func completeStatus(s metav1.Status, op Op) metav1.Status {
	s = *s.DeepCopy()
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	s.Status = metav1.StatusFailure
	if s.Reason == "" && s.Message == "" {
		s.Reason = defaultReasons[s.Code]
	}
	if s.Message != "" {
		return s
	}
	defaults := defaultStatus(s, op)
	s.Message = defaults.Message
	if defaults.Details == nil {
		return s
	}
	if s.Details == nil {
		s.Details = &metav1.StatusDetails{}
	}
	d := s.Details
	if d.Kind == "" && d.Group == "" && d.Name == "" {
		d.Kind, d.Group, d.Name = defaults.Details.Kind, defaults.Details.Group, defaults.Details.Name
	}
	if len(d.Causes) == 0 {
		d.Causes = defaults.Details.Causes
	}
	return s
}

// defaultReasons maps status codes to the reasons that kube-apiserver sends with them.
var defaultReasons = map[int32]metav1.StatusReason{
	http.StatusBadRequest:          metav1.StatusReasonBadRequest,
	http.StatusUnauthorized:        metav1.StatusReasonUnauthorized,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
}

// defaultStatus returns the message and details for the reason of s.
func defaultStatus(s metav1.Status, op Op) metav1.Status {
	object := schema.GroupResource{Group: op.Group, Resource: op.Resource}
	switch s.Reason {
	case metav1.StatusReasonUnauthorized:
		return apierrors.NewUnauthorized("Unauthorized").Status()
	case metav1.StatusReasonForbidden:
		return apierrors.NewForbidden(object, op.Name, errors.New(forbiddenMessage(op))).Status()
	case metav1.StatusReasonNotFound:
		return apierrors.NewNotFound(object, op.Name).Status()
	case metav1.StatusReasonConflict:
		return apierrors.NewConflict(object, op.Name, errors.New(conflictMessage)).Status()
	case metav1.StatusReasonAlreadyExists:
		return apierrors.NewAlreadyExists(object, op.Name).Status()
	case metav1.StatusReasonExpired, metav1.StatusReasonGone:
		return metav1.Status{Message: expiredMessage(s, op)}
	case metav1.StatusReasonTooManyRequests:
		return metav1.Status{Message: tooManyRequestsMessage}
	case metav1.StatusReasonInternalError:
		return apierrors.NewInternalError(errors.New("injected by a fault rule")).Status()
	case metav1.StatusReasonServiceUnavailable:
		return metav1.Status{Message: "the server is currently unable to handle the request"}
	case metav1.StatusReasonTimeout:
		return metav1.Status{Message: timeoutMessage(s, op)}
	}
	return metav1.Status{Message: http.StatusText(int(s.Code))}
}

// forbiddenMessage returns the message of the authorizer. The user is always system:anonymous,
// because rules do not know the user.
func forbiddenMessage(op Op) string {
	const user = `User "system:anonymous" cannot `
	if op.Resource == "" {
		return fmt.Sprintf(user+"%s path %q", cmp.Or(op.Verb, "access"), op.Path)
	}
	resource := op.Resource
	if op.Subresource != "" {
		resource += "/" + op.Subresource
	}
	what := fmt.Sprintf(user+"%s resource %q in API group %q", op.Verb, resource, op.Group)
	if op.Namespace == "" {
		return what + " at the cluster scope"
	}
	return what + fmt.Sprintf(" in the namespace %q", op.Namespace)
}

// expiredMessage returns the message of a 410. It depends on the request: a watch has the revisions
// (WA-19), the next page of a list its token (CH-18), another list its revision (EX-02).
func expiredMessage(s metav1.Status, op Op) string {
	switch {
	case op.Verb == requestinfo.Watch:
		from := op.Query.Get("resourceVersion")
		if n, err := strconv.ParseUint(from, 10, 63); err == nil {
			return fmt.Sprintf("too old resource version: %d (%d)", n, n+1)
		}
		return "too old resource version"
	case s.Continue != "":
		return expiredContinueMessage + inconsistentContinueMessage + "."
	case op.Query.Get("continue") != "":
		return expiredContinueMessage + "."
	}
	return expiredListMessage
}

// timeoutMessage returns the message of a 504. If the requested resourceVersion is too large, the
// message claims that the server is one revision behind (RS-05).
func timeoutMessage(s metav1.Status, op Op) string {
	if s.Details == nil || !slices.ContainsFunc(s.Details.Causes, isTooLargeResourceVersion) {
		return "Timeout: request did not complete within the allotted timeout"
	}
	if n, err := strconv.ParseUint(op.Query.Get("resourceVersion"), 10, 64); err == nil && n > 0 {
		return fmt.Sprintf("Timeout: %s: %d, current: %d", tooLargeResourceVersion, n, n-1)
	}
	return "Timeout: " + tooLargeResourceVersion
}

func isTooLargeResourceVersion(c metav1.StatusCause) bool {
	return c.Type == metav1.CauseTypeResourceVersionTooLarge
}
