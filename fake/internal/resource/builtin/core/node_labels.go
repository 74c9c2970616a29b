package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// stableNodeLabel returns the label that has replaced a label of nodes, and the version of
// Kubernetes in which it did. It returns "" for other labels.
func stableNodeLabel(key string) (replacement, since string) {
	switch key {
	case "beta.kubernetes.io/arch":
		return corev1.LabelArchStable, "v1.14"
	case "beta.kubernetes.io/os":
		return corev1.LabelOSStable, "v1.14"
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion, "v1.17"
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone, "v1.17"
	case corev1.LabelInstanceType:
		return corev1.LabelInstanceTypeStable, "v1.17"
	}
	return "", ""
}

// NodeLabelDeprecation returns the text of warnings for the use of a deprecated label of nodes, ""
// for other labels.
func NodeLabelDeprecation(key string) string {
	replacement, since := stableNodeLabel(key)
	if replacement == "" {
		return ""
	}
	return fmt.Sprintf("deprecated since %s; use %q instead", since, replacement)
}

// nodeSelectorTermWarnings returns the warnings for a term that requires deprecated labels.
func nodeSelectorTermWarnings(term *corev1.NodeSelectorTerm, p *validate.Path) (warnings []string) {
	for i := range term.MatchExpressions {
		key := term.MatchExpressions[i].Key
		if text := NodeLabelDeprecation(key); text != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", p.Child("matchExpressions").Index(i).Child("key").String(), key, text))
		}
	}
	return warnings
}
