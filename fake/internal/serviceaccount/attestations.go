package serviceaccount

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// isWebhookConfiguration reports whether ref, which may be nil, is one to a configuration of
// admission webhooks. Only tokens that are bound to one have attestations (KEP-6060).
func isWebhookConfiguration(ref *authenticationv1.BoundObjectReference) bool {
	return ref != nil && ref.APIVersion == admissionregistrationv1.SchemeGroupVersion.String() &&
		(ref.Kind == "ValidatingWebhookConfiguration" || ref.Kind == "MutatingWebhookConfiguration")
}

// validateWebhookRequest validates a request for a token that is bound to a configuration of
// admission webhooks, with the path of its spec.
func validateWebhookRequest(spec *authenticationv1.TokenRequestSpec, p *field.Path) (errs field.ErrorList) {
	if len(spec.Audiences) != 1 {
		errs = append(errs, field.Invalid(p.Child("audiences"), spec.Audiences, "must be length 1 when bound to a webhook config"))
	}
	p = p.Child("attestations")
	if len(spec.Attestations) != 1 {
		return append(errs, field.Invalid(p, spec.Attestations, "webhook bound requests require exactly one admissionReviewAPIGroups attestation"))
	}
	for key, values := range spec.Attestations { // the only one
		errs = append(errs, validateAttestation(key, values, p.Key(key))...)
	}
	return errs
}

// validateAttestation validates that the value is one API group, or * for all.
func validateAttestation(key string, values authenticationv1.AttestationValue, p *field.Path) (errs field.ErrorList) {
	switch {
	case key != authenticationv1.AttestationAdmissionReviewAPIGroups:
		return field.ErrorList{field.NotSupported(p, key, []string{authenticationv1.AttestationAdmissionReviewAPIGroups})}
	case len(values) != 1:
		return field.ErrorList{field.Invalid(p, values, "must specify a single value")}
	case values[0] == "":
		return field.ErrorList{field.Invalid(p.Index(0), "", "may not be an empty string")}
	case values[0] == "*":
		return nil
	}
	for _, message := range validation.IsDNS1123Subdomain(values[0]) {
		errs = append(errs, field.Invalid(p.Index(0), values[0], "must specify a valid API Group: "+message))
	}
	return errs
}
