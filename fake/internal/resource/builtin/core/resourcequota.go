package core

import corev1 "k8s.io/api/core/v1"

func setResourceQuotaDefaults(q *corev1.ResourceQuota) {
	setResourceListDefaults(q.Spec.Hard)
	setResourceListDefaults(q.Status.Hard)
	setResourceListDefaults(q.Status.Used)
}
