package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// setPodLevelResourceDefaults sets the resources of the pod as a whole, if it has any (KEP-2837):
// the limits of huge pages are those of the containers, and for each limit there is a request,
// which is that of the containers if they have one. A limit that all containers have is one of the
// pod, too. The requests of the containers are set.
func setPodLevelResourceDefaults(spec *corev1.PodSpec) {
	r := spec.Resources
	if r == nil || len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: spec.InitContainers, Containers: spec.Containers}}
	limits := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	for name, limit := range limits {
		if _, ok := r.Requests[name]; !ok && isHugePages(name) {
			r.Limits = copyMissing(r.Limits, corev1.ResourceList{name: limit})
		}
	}
	for name, request := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		// Huge pages cannot be overcommitted, so that their request is the limit.
		if resourcehelper.IsSupportedPodLevelResource(name) && !isHugePages(name) {
			r.Requests = copyMissing(r.Requests, corev1.ResourceList{name: request})
		}
	}
	for name, limit := range r.Limits {
		if resourcehelper.IsSupportedPodLevelResource(name) {
			r.Requests = copyMissing(r.Requests, corev1.ResourceList{name: limit})
		}
	}
	for name, request := range r.Requests {
		limit, ok := limits[name]
		if !ok || !resourcehelper.IsSupportedPodLevelResource(name) || !allContainersLimit(spec, name) {
			continue
		}
		if request.Cmp(limit) > 0 {
			limit = request
		}
		r.Limits = copyMissing(r.Limits, corev1.ResourceList{name: limit})
	}
}

// allContainersLimit reports whether all containers have a limit for a resource.
func allContainersLimit(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	for i := range containerCount(spec) {
		c, _, _ := containerAt(spec, i)
		if _, ok := c.Resources.Limits[name]; !ok {
			return false
		}
	}
	return true
}

// keepPodLevelResources restores the resources of the pod as a whole if an update omits them.
func keepPodLevelResources(spec, old *corev1.PodSpec) {
	if spec.Resources == nil {
		spec.Resources = old.Resources.DeepCopy()
	}
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// qosClass returns the quality of service class of a pod. It follows from its CPU and memory: from
// those of the pod as a whole if that has any resources, otherwise from those of its containers.
func qosClass(pod *corev1.Pod) corev1.PodQOSClass {
	q := qosSummary{guaranteed: true}
	if resourcehelper.IsPodLevelResourcesSet(pod) {
		q.add(pod.Spec.Resources)
	} else {
		for i := range pod.Spec.InitContainers {
			q.add(&pod.Spec.InitContainers[i].Resources)
		}
		for i := range pod.Spec.Containers {
			q.add(&pod.Spec.Containers[i].Resources)
		}
	}
	switch {
	case !q.hasResources:
		return corev1.PodQOSBestEffort
	case q.guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// qosSummary is what the class of a pod follows from: whether it has requests or limits, and
// whether all of its limits are set and equal to the requests.
type qosSummary struct{ hasResources, guaranteed bool }

func (q *qosSummary) add(r *corev1.ResourceRequirements) {
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit := r.Limits[name]
		request, ok := r.Requests[name]
		if !ok {
			request = limit // the default of a request
		}
		q.hasResources = q.hasResources || !request.IsZero() || !limit.IsZero()
		q.guaranteed = q.guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
	}
}
