package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// setLimitRangeDefaults sets the default limits of containers from the maximum, and the default
// requests from the default limits and the minimum.
func setLimitRangeDefaults(r *corev1.LimitRange) {
	for i := range r.Spec.Limits {
		item := &r.Spec.Limits[i]
		if item.Type == corev1.LimitTypeContainer {
			item.Default = copyMissing(item.Default, item.Max)
			item.DefaultRequest = copyMissing(item.DefaultRequest, item.Default)
			item.DefaultRequest = copyMissing(item.DefaultRequest, item.Min)
		}
		setResourceListDefaults(item.Max)
		setResourceListDefaults(item.Min)
		setResourceListDefaults(item.Default)
		setResourceListDefaults(item.DefaultRequest)
		setResourceListDefaults(item.MaxLimitRequestRatio)
	}
}

// prepareLimitRangeForCreate names a LimitRange that has no name after a UUID, its own.
func prepareLimitRangeForCreate(_ context.Context, r *corev1.LimitRange) {
	if r.Name == "" {
		r.Name = string(r.UID)
	}
}
