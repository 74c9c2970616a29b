package policy

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// v1beta1Label is the label in the selectors with which v1beta1 and v1 understand the same: all
// pods, or none.
const v1beta1Label = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// canonicalizePodDisruptionBudget removes v1beta1Label from the selector, as the conversion of a
// real server does, unless the selector is the one for no pods.
func canonicalizePodDisruptionBudget(b *policyv1.PodDisruptionBudget) {
	if s := b.Spec.Selector; s != nil && !selectsNone(s) {
		s.MatchExpressions = slices.DeleteFunc(s.MatchExpressions, hasV1beta1Label)
	}
}

func selectsNone(s *metav1.LabelSelector) bool {
	if len(s.MatchLabels) > 0 || len(s.MatchExpressions) != 1 {
		return false
	}
	r := s.MatchExpressions[0]
	return hasV1beta1Label(r) && r.Operator == metav1.LabelSelectorOpExists && len(r.Values) == 0
}

func hasV1beta1Label(r metav1.LabelSelectorRequirement) bool { return r.Key == v1beta1Label }
