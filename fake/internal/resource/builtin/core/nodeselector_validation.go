package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// ValidateNodeSelector validates a selector of nodes. With anyValues it accepts values that no
// label can have, as those of objects that have such values already.
func ValidateNodeSelector(selector *corev1.NodeSelector, anyValues bool, p *validate.Path) (errs field.ErrorList) {
	terms := p.Child("nodeSelectorTerms")
	if len(selector.NodeSelectorTerms) == 0 {
		return field.ErrorList{terms.Required("must have at least one node selector term")}
	}
	for i := range selector.NodeSelectorTerms {
		errs = append(errs, validateNodeSelectorTerm(&selector.NodeSelectorTerms[i], anyValues, terms.Index(i))...)
	}
	return errs
}

// validateNodeSelectorTerm validates the requirements of a term, of which there may be none.
func validateNodeSelectorTerm(term *corev1.NodeSelectorTerm, anyValues bool, p *validate.Path) (errs field.ErrorList) {
	for i := range term.MatchExpressions {
		errs = append(errs, validateNodeSelectorRequirement(&term.MatchExpressions[i], anyValues, p.Child("matchExpressions").Index(i))...)
	}
	for i := range term.MatchFields {
		errs = append(errs, validateNodeFieldRequirement(&term.MatchFields[i], p.Child("matchFields").Index(i))...)
	}
	return errs
}

// validateNodeSelectorRequirement validates a requirement on a label.
func validateNodeSelectorRequirement(r *corev1.NodeSelectorRequirement, anyValues bool, p *validate.Path) (errs field.ErrorList) {
	values := p.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, values.Required("must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, values.Forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, values.Required("must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, p.Child("operator").Invalid(r.Operator, "not a valid selector operator"))
	}
	errs = append(errs, validate.LabelName(r.Key, p.Child("key"))...)
	if anyValues {
		return errs
	}
	for i, value := range r.Values {
		errs = append(errs, validate.Messages(value, validation.IsValidLabelValue(value), values.Index(i))...)
	}
	return errs
}

// validateNodeFieldRequirement validates a requirement on a field of the node. Its name is the only
// field that can be selected by.
func validateNodeFieldRequirement(r *corev1.NodeSelectorRequirement, p *validate.Path) (errs field.ErrorList) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			errs = append(errs, p.Child("values").Required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, p.Child("operator").Invalid(r.Operator, "not a valid selector operator"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, p.Child("key").Invalid(r.Key, "not a valid field selector key"))
	}
	for i, value := range r.Values {
		errs = append(errs, validate.DNSSubdomain(value, p.Child("values").Index(i))...)
	}
	return errs
}

// hasInvalidLabelValue reports whether a term requires a value that no label can have.
func hasInvalidLabelValue(terms []corev1.NodeSelectorTerm) bool {
	for i := range terms {
		for j := range terms[i].MatchExpressions {
			for _, value := range terms[i].MatchExpressions[j].Values {
				if len(validation.IsValidLabelValue(value)) > 0 {
					return true
				}
			}
		}
	}
	return false
}
