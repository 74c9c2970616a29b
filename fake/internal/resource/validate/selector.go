package validate

import (
	"reflect"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SelectorMatches reports whether a selector without errors of LabelSelector matches labels. An
// empty selector matches everything, nil matches nothing.
func SelectorMatches(selector *metav1.LabelSelector, labels map[string]string) bool {
	if selector == nil {
		return false
	}
	for key, want := range selector.MatchLabels {
		if value, ok := labels[key]; !ok || value != want {
			return false
		}
	}
	for i := range selector.MatchExpressions {
		if !requirementMatches(&selector.MatchExpressions[i], labels) {
			return false
		}
	}
	return true
}

func requirementMatches(r *metav1.LabelSelectorRequirement, labels map[string]string) bool {
	value, ok := labels[r.Key]
	switch r.Operator {
	case metav1.LabelSelectorOpIn:
		return ok && slices.Contains(r.Values, value)
	case metav1.LabelSelectorOpNotIn:
		return !ok || !slices.Contains(r.Values, value)
	case metav1.LabelSelectorOpExists:
		return ok
	}
	return !ok
}

// ImmutableSelector is Immutable for a selector, without allocations.
func ImmutableSelector(selector, old *metav1.LabelSelector, p *Path) field.ErrorList {
	if EqualSelectors(selector, old) {
		return nil
	}
	return field.ErrorList{p.Invalid(selector, apivalidation.FieldImmutableErrorMsg)}
}

// EqualSelectors reports whether two selectors are equal, as equality.Semantic does.
func EqualSelectors(a, b *metav1.LabelSelector) bool {
	if a == nil || b == nil {
		return a == b
	}
	return EqualValues(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}
