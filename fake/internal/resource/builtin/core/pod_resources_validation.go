package core

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodResources validates the resources of a pod as a whole (KEP-2837), which may be nil. p
// is the path of the spec.
func validatePodResources(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	r, at := spec.Resources, p.Child("resources")
	if r == nil {
		return nil
	}
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return field.ErrorList{at.Forbidden("may not be set for a windows pod")}
	}
	if r.Claims != nil {
		errs = append(errs, at.Child("claims").Forbidden("claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, validateResourceRequirements(r, resourcesOfPod, opts, at)...)
	if len(r.Claims) > 0 {
		var claims podClaims
		addResourceClaims(&claims.names, spec)
		errs = append(errs, validateContainerClaims(r.Claims, &claims, at.Child("claims"))...)
	}
	return append(errs, validatePodResourcesSuffice(spec, at)...)
}

// validatePodResourcesSuffice validates that the containers fit into the resources of their pod. p
// is the path of these.
func validatePodResourcesSuffice(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	pod := &corev1.Pod{Spec: *spec}
	requests := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		ofContainers := requests[name]
		if ofPod, ok := spec.Resources.Requests[name]; ok && ofContainers.Cmp(ofPod) > 0 {
			errs = append(errs, p.Child("requests").Key(string(name)).Invalid(ofPod.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", ofContainers.String())))
		}
	}
	limits := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		ofContainers := limits[name]
		if ofPod, ok := spec.Resources.Limits[name]; ok && isHugePages(name) && ofContainers.Cmp(ofPod) > 0 {
			errs = append(errs, p.Child("limits").Key(string(name)).Invalid(ofPod.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", ofContainers.String())))
		}
	}
	for i := range spec.Containers {
		limits := spec.Containers[i].Resources.Limits
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			limit := limits[name]
			if ofPod, ok := spec.Resources.Limits[name]; ok && limit.Cmp(ofPod) > 0 {
				errs = append(errs, p.Child("containers").Index(i).Key(string(name)).Child("limits").Invalid(limit.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", ofPod.String())))
			}
		}
	}
	return errs
}

// ValidateOverhead validates the resources that a runtime needs for a pod.
func ValidateOverhead(overhead corev1.ResourceList, p *validate.Path) field.ErrorList {
	return validateOverhead(overhead, PodValidationOptions{}, p)
}

// validateOverhead validates the resources that a pod needs besides its containers.
func validateOverhead(overhead corev1.ResourceList, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	if overhead == nil {
		return nil
	}
	return validateResourceRequirements(&corev1.ResourceRequirements{Limits: overhead}, resourcesOfContainer, opts, p)
}
