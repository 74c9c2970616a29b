//lint:file-ignore SA1019 the warnings are for deprecated fields

package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func nodeWarningsOnUpdate(node, _ *corev1.Node) []string { return nodeWarnings(node) }

// nodeWarnings returns the warnings for fields that are deprecated, or have networks in an unusual
// form.
func nodeWarnings(node *corev1.Node) (warnings []string) {
	if node.Spec.ConfigSource != nil {
		warnings = append(warnings, "spec.configSource: the feature is removed")
	}
	if node.Spec.DoNotUseExternalID != "" {
		warnings = append(warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range node.Spec.PodCIDRs {
		warnings = append(warnings, validation.GetWarningsForCIDR(field.NewPath("spec", "podCIDRs").Index(i), cidr)...)
	}
	return warnings
}
