package admissionregistration

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags requires the policy and the actions of a ValidatingAdmissionPolicyBinding.

func validateValidatingAdmissionPolicyBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	return append(validateValidatingAdmissionPolicyBindingUpdate(b, nil), validateStaticName(b.Name)...)
}

func validateValidatingAdmissionPolicyBindingUpdate(b, _ *admissionv1.ValidatingAdmissionPolicyBinding) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if b.Spec.PolicyName != "" {
		errs = validate.DNSSubdomain(b.Spec.PolicyName, p.Child("policyName"))
	}
	errs = append(errs, validateBindingScope(b.Spec.ParamRef, b.Spec.MatchResources, p)...)
	return append(errs, validateActions(b.Spec.ValidationActions, p.Child("validationActions"))...)
}

func validateMutatingAdmissionPolicyBinding(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	return append(validateMutatingAdmissionPolicyBindingUpdate(b, nil), validateStaticName(b.Name)...)
}

func validateMutatingAdmissionPolicyBindingUpdate(b, _ *admissionv1.MutatingAdmissionPolicyBinding) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if b.Spec.PolicyName == "" {
		errs = append(errs, p.Child("policyName").Required(""))
	} else {
		errs = append(errs, validate.DNSSubdomain(b.Spec.PolicyName, p.Child("policyName"))...)
	}
	errs = append(errs, validateBindingScope(b.Spec.ParamRef, b.Spec.MatchResources, p)...)
	if m := b.Spec.MatchResources; m != nil {
		errs = append(errs, validateMutableOperations(m.ResourceRules, p.Child("matchResources"))...)
	}
	return errs
}

// validateBindingScope validates the fields that both kinds of bindings have. As on a real server,
// the path of the field matchResources is misspelled.
func validateBindingScope(ref *admissionv1.ParamRef, match *admissionv1.MatchResources, p *validate.Path) (errs field.ErrorList) {
	if ref != nil {
		errs = validateParamRef(ref, p.Child("paramRef"))
	}
	if match != nil {
		errs = append(errs, validateMatchResources(match, p.Child("matchResouces"))...)
	}
	return errs
}

// validateParamRef requires either a name or a selector.
func validateParamRef(r *admissionv1.ParamRef, p *validate.Path) (errs field.ErrorList) {
	if r.Name != "" {
		errs = validate.Messages(r.Name, resource.ValidatePathSegmentName(r.Name, false), p.Child("name"))
		if r.Selector != nil {
			errs = append(errs, p.Child("name").Forbidden("name and selector are mutually exclusive"))
		}
	}
	if r.Selector != nil {
		errs = append(errs, validate.LabelSelector(r.Selector, metav1validation.LabelSelectorValidationOptions{}, p.Child("selector"))...)
		if r.Name != "" {
			errs = append(errs, p.Child("selector").Forbidden("name and selector are mutually exclusive"))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, p.Required("one of name or selector must be specified"))
	}
	if r.ParameterNotFoundAction == nil || *r.ParameterNotFoundAction == "" {
		return append(errs, p.Child("parameterNotFoundAction").Required(""))
	}
	return append(errs, validateOneOf(r.ParameterNotFoundAction, p.Child("parameterNotFoundAction"), admissionv1.DenyAction, admissionv1.AllowAction)...)
}

func validateActions(actions []admissionv1.ValidationAction, p *validate.Path) (errs field.ErrorList) {
	seen := make(map[admissionv1.ValidationAction]bool)
	for i, action := range actions {
		errs = append(errs, validateOneOf(&action, p.Index(i), admissionv1.Audit, admissionv1.Deny, admissionv1.Warn)...)
		if seen[action] {
			errs = append(errs, p.Index(i).Duplicate(action))
		}
		seen[action] = true
	}
	if slices.Contains(actions, admissionv1.Deny) && slices.Contains(actions, admissionv1.Warn) {
		errs = append(errs, p.Invalid(actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	return errs
}
