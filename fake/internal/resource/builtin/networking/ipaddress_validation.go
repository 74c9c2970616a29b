package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateIPAddress validates the reference to the object that has an address. Tags of its type
// require the reference, its resource and its name, and let no update change it.
func validateIPAddress(a *networkingv1.IPAddress) (errs field.ErrorList) {
	var root *validate.Path
	ref, p := a.Spec.ParentRef, root.Child("spec").Child("parentRef")
	if ref == nil {
		return nil
	}
	if ref.Group != "" {
		errs = append(errs, validate.DNSSubdomain(ref.Group, p.Child("group"))...)
	}
	errs = append(errs, validatePathSegmentName(ref.Resource, p.Child("resource"))...)
	errs = append(errs, validatePathSegmentName(ref.Name, p.Child("name"))...)
	return append(errs, validatePathSegmentName(ref.Namespace, p.Child("namespace"))...)
}

func validateIPAddressUpdate(a, _ *networkingv1.IPAddress) field.ErrorList {
	return validateIPAddress(a)
}
