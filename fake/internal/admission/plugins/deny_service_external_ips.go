package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// denyServiceExternalIPs refuses new externalIPs of Services.
type denyServiceExternalIPs struct{}

func newDenyServiceExternalIPs(Dependencies) admission.Interface { return denyServiceExternalIPs{} }

func (denyServiceExternalIPs) Name() string { return "DenyServiceExternalIPs" }

func (denyServiceExternalIPs) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, services, admissionv1.Create, admissionv1.Update)
}

func (denyServiceExternalIPs) Validate(_ context.Context, attrs *admission.Attributes) error {
	var known []string
	if old, ok := attrs.OldObject.(*corev1.Service); ok {
		known = old.Spec.ExternalIPs
	}
	for _, ip := range attrs.Object.(*corev1.Service).Spec.ExternalIPs {
		if !slices.Contains(known, ip) {
			return forbiddenf(attrs, "Use of external IPs is denied by admission control")
		}
	}
	return nil
}
