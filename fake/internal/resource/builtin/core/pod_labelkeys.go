package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mergeLabelKeys adds the labels of a new pod that are named by matchLabelKeys and
// mismatchLabelKeys to the selectors beside them (KEP-3633, KEP-3243).
func mergeLabelKeys(pod *corev1.Pod) {
	if affinity := pod.Spec.Affinity; affinity != nil {
		if a := affinity.PodAffinity; a != nil {
			mergeTerms(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
		if a := affinity.PodAntiAffinity; a != nil {
			mergeTerms(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		mergeKeys(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
}

func mergeTerms(preferred []corev1.WeightedPodAffinityTerm, required []corev1.PodAffinityTerm, labels map[string]string) {
	for i := range preferred {
		mergeTerm(&preferred[i].PodAffinityTerm, labels)
	}
	for i := range required {
		mergeTerm(&required[i], labels)
	}
}

func mergeTerm(term *corev1.PodAffinityTerm, labels map[string]string) {
	mergeKeys(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
	mergeKeys(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
}

// mergeKeys adds a requirement for each of the keys that is a label. No selector matches nothing,
// and stays.
func mergeKeys(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if selector == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}
