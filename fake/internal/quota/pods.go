package quota

import (
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
)

var podCount = countName(schema.GroupResource{Resource: "pods"})

// podNames are the names that pods are counted under, besides those of huge pages and extended
// resources.
var podNames = []corev1.ResourceName{
	podCount, corev1.ResourcePods,
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
}

// requiredNames are the names that each container must specify if a quota has them.
var requiredNames = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

func podEvaluator() *evaluator {
	return &evaluator{
		handles: handlesPod,
		matches: isPodName,
		counted: []corev1.ResourceName{podCount},
		usage:   func(obj runtime.Object, now time.Time) corev1.ResourceList { return podUsage(obj.(*corev1.Pod), now) },
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
			return podInScope(scope, obj.(*corev1.Pod))
		},
		missing: func(names []corev1.ResourceName, obj runtime.Object) string {
			return missingInContainers(names, obj.(*corev1.Pod))
		},
	}
}

// handlesPod is the handles of pods: an update can move a pod to another scope by its deadline.
func handlesPod(w *Write) bool {
	switch {
	case w.Subresource == "resize":
		return w.Operation == admissionv1.Update
	case w.Subresource != "":
		return false
	case w.Operation == admissionv1.Update:
		return hasDeadline(w.Object.(*corev1.Pod)) != hasDeadline(w.Old.(*corev1.Pod))
	}
	return w.Operation == admissionv1.Create
}

func isPodName(name corev1.ResourceName) bool {
	if slices.Contains(podNames, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix) {
		return true
	}
	_, ok := extendedRequest(name)
	return ok
}

// extendedRequest returns the extended resource that a name of spec.hard is about.
func extendedRequest(name corev1.ResourceName) (request string, ok bool) {
	request, ok = strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	return request, ok && (!isNative(name) || strings.HasPrefix(request, resourcev1.ResourceDeviceClassPrefix))
}

// isNative reports whether a resource is one of Kubernetes: without a domain or in kubernetes.io.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// podUsage returns what a pod uses. One that has ended counts as an object only.
func podUsage(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	list := corev1.ResourceList{podCount: one()}
	if hasEnded(pod, now) {
		return list
	}
	opts := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	add(list, computeUsage(resourcehelper.PodRequests(pod, opts), resourcehelper.PodLimits(pod, opts)))
	return list
}

// hasEnded reports whether a pod has terminated, or should have by now.
func hasEnded(pod *corev1.Pod, now time.Time) bool {
	if phase := pod.Status.Phase; phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		return true
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return false
	}
	return now.After(pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second))
}

// computeUsage returns requests and limits under the names of quotas.
func computeUsage(requests, limits corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePods: one()}
	for name, quantity := range requests {
		isCompute := name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if isCompute {
			list[name] = quantity
		}
		if isCompute || strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix) ||
			!isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
			list[corev1.DefaultResourceRequestsPrefix+name] = quantity
		}
	}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if quantity, ok := limits[name]; ok {
			list["limits."+name] = quantity
		}
	}
	return list
}

// missingInContainers returns the required names that containers do not specify, with the names of
// the containers. Nothing is required of the containers of a pod that has resources itself.
func missingInContainers(required []corev1.ResourceName, pod *corev1.Pod) string {
	if resourcehelper.IsPodLevelResourcesSet(pod) {
		return ""
	}
	var texts []string
	for _, name := range requiredNames {
		if !slices.Contains(required, name) {
			continue
		}
		var containers []string
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			if _, ok := computeUsage(c.Resources.Requests, c.Resources.Limits)[name]; !ok {
				containers = append(containers, c.Name)
			}
		}
		if len(containers) > 0 {
			slices.Sort(containers)
			texts = append(texts, string(name)+" for: "+strings.Join(slices.Compact(containers), ","))
		}
	}
	return strings.Join(texts, "; ")
}
