package validate

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Labels validates labels outside of the metadata of an object, such as those of a pod template.
func Labels(labels map[string]string, p *Path) field.ErrorList {
	for key, value := range labels {
		if !isQualifiedName(key) || len(validation.IsValidLabelValue(value)) > 0 {
			return metav1validation.ValidateLabels(labels, p.Field())
		}
	}
	return nil
}

// LabelName validates the key of a label, or another qualified name.
func LabelName(name string, p *Path) field.ErrorList {
	if isQualifiedName(name) {
		return nil
	}
	return metav1validation.ValidateLabelName(name, p.Field())
}

// Annotations validates annotations outside of the metadata of an object.
func Annotations(annotations map[string]string, p *Path) field.ErrorList {
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		return apivalidation.ValidateAnnotations(annotations, p.Field())
	}
	for key := range annotations {
		if !isQualifiedName(strings.ToLower(key)) {
			return apivalidation.ValidateAnnotations(annotations, p.Field())
		}
	}
	return nil
}

// LabelSelector validates a selector, which may be nil.
func LabelSelector(selector *metav1.LabelSelector, opts metav1validation.LabelSelectorValidationOptions, p *Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	errs := Labels(selector.MatchLabels, p.Child("matchLabels"))
	for i := range selector.MatchExpressions {
		if !isValidRequirement(&selector.MatchExpressions[i], opts) {
			withoutLabels := &metav1.LabelSelector{MatchExpressions: selector.MatchExpressions}
			return append(errs, metav1validation.ValidateLabelSelector(withoutLabels, opts, p.Field())...)
		}
	}
	return errs
}

// isValidRequirement reports whether metav1validation.ValidateLabelSelectorRequirement accepts a
// requirement. Unlike that function it does not allocate.
func isValidRequirement(r *metav1.LabelSelectorRequirement, opts metav1validation.LabelSelectorValidationOptions) bool {
	switch r.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(r.Values) == 0 {
			return false
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return false
		}
	default:
		return false
	}
	for _, value := range r.Values {
		if !opts.AllowInvalidLabelValueInSelector && len(validation.IsValidLabelValue(value)) > 0 {
			return false
		}
	}
	return isQualifiedName(r.Key)
}

// isQualifiedName reports whether validation.IsQualifiedName accepts a name. Unlike that function
// it does not allocate.
func isQualifiedName(name string) bool {
	prefix, name, found := strings.Cut(name, "/")
	if !found {
		prefix, name = "", prefix
	}
	// The part after the prefix follows the rules of a label's value, but is not empty.
	return name != "" && len(validation.IsValidLabelValue(name)) == 0 &&
		(!found || len(validation.IsDNS1123Subdomain(prefix)) == 0)
}
