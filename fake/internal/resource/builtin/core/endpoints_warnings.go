//lint:file-ignore SA1019 Endpoints are served

package core

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func endpointsWarningsOnUpdate(e, _ *corev1.Endpoints) []string { return endpointsWarnings(e) }

// endpointsWarnings returns the warnings for addresses in an unusual form, unless the Endpoints are
// those of the controller for Services.
func endpointsWarnings(e *corev1.Endpoints) (warnings []string) {
	if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return nil
	}
	var root *validate.Path
	for i := range e.Subsets {
		subset, p := &e.Subsets[i], root.Child("subsets").Index(i)
		for j := range subset.Addresses {
			warnings = append(warnings, warningsForIP(subset.Addresses[j].IP, p.Child("addresses").Index(j).Child("ip"))...)
		}
		for j := range subset.NotReadyAddresses {
			warnings = append(warnings, warningsForIP(subset.NotReadyAddresses[j].IP, p.Child("notReadyAddresses").Index(j).Child("ip"))...)
		}
	}
	return warnings
}
