package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// resourceQuotaWarnings returns the warnings for requests above the limits of the same resource.
func resourceQuotaWarnings(quota *corev1.ResourceQuota) (warnings []string) {
	hard := quota.Spec.Hard
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage} {
		requestName, limitName := "requests."+name, "limits."+name
		request, ok := hard[requestName]
		if !ok && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			requestName = name // which limits the requests, too
			request, ok = hard[name]
		}
		if limit, hasLimit := hard[limitName]; ok && hasLimit && request.Cmp(limit) > 0 {
			warnings = append(warnings, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", requestName, request.String(), limitName, limit.String()))
		}
	}
	return warnings
}
