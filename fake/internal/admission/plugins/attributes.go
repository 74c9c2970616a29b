package plugins

import (
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// The resources that several plugins read or handle.
var (
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
	nodes      = corev1.SchemeGroupVersion.WithResource("nodes")
	services   = corev1.SchemeGroupVersion.WithResource("services")
	claims     = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")

	signingRequests        = certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests")
	podCertificateRequests = certificatesv1.SchemeGroupVersion.WithResource("podcertificaterequests")
)

// isWriteOf reports whether attrs is one of operations on objects of res, and not on a subresource.
func isWriteOf(attrs *admission.Attributes, res schema.GroupVersionResource, operations ...admissionv1.Operation) bool {
	return attrs.Subresource == "" && attrs.GroupResource() == res.GroupResource() && slices.Contains(operations, attrs.Operation)
}

// isUpdateOf reports whether attrs is an update of a subresource of objects of res.
func isUpdateOf(attrs *admission.Attributes, res schema.GroupVersionResource, subresource string) bool {
	return attrs.Subresource == subresource && attrs.GroupResource() == res.GroupResource() && attrs.Operation == admissionv1.Update
}

// forbidden returns the 403 of a write that a plugin refuses. An object whose name is not generated
// yet is named by its generateName.
func forbidden(attrs *admission.Attributes, cause error) error {
	name := attrs.Name
	if name == "" {
		name = "Unknown"
		if attrs.Object != nil {
			if m := resource.Accessor(attrs.Object); m.GetName() != "" {
				name = m.GetName()
			} else if m.GetGenerateName() != "" {
				name = m.GetGenerateName()
			}
		}
	}
	return apierrors.NewForbidden(attrs.GroupResource(), name, cause)
}

// forbiddenf is forbidden with a cause that is a formatted text.
func forbiddenf(attrs *admission.Attributes, format string, args ...any) error {
	if len(args) == 0 {
		return forbidden(attrs, errors.New(format))
	}
	return forbidden(attrs, fmt.Errorf(format, args...))
}

// withCause adds a cause to a refusal.
func withCause(err error, cause metav1.StatusCause) error {
	if refusal := (&apierrors.StatusError{}); errors.As(err, &refusal) {
		refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, cause)
	}
	return err
}
