package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// scopesOf returns the scopes of a quota. An object counts if it is in all of them.
func scopesOf(q *corev1.ResourceQuota) (scopes []corev1.ScopedResourceSelectorRequirement) {
	for _, name := range q.Spec.Scopes {
		scopes = append(scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		scopes = append(scopes, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return scopes
}

// podInScope reports whether a pod is in a scope.
func podInScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return hasDeadline(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !hasDeadline(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		return isSelected(scope, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return hasAffinityAcrossNamespaces(pod.Spec.Affinity)
	}
	return false
}

func hasDeadline(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// isBestEffort reports whether the class of a pod is BestEffort. It is the one in its status, if
// that has one: a pod is of this class if neither the pod nor a container has a request or a limit
// for processor time or memory.
func isBestEffort(pod *corev1.Pod) bool {
	if class := pod.Status.QOSClass; class != "" {
		return class == corev1.PodQOSBestEffort
	}
	hasNone := func(r *corev1.ResourceRequirements) bool {
		for _, list := range [...]corev1.ResourceList{r.Requests, r.Limits} {
			for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if quantity, ok := list[name]; ok && quantity.Sign() > 0 {
					return false
				}
			}
		}
		return true
	}
	if pod.Spec.Resources != nil && !hasNone(pod.Spec.Resources) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers), func(c corev1.Container) bool {
		return !hasNone(&c.Resources)
	})
}

// isSelected reports whether a scope selects an object by one of the class names that it has.
func isSelected(scope corev1.ScopedResourceSelectorRequirement, classes ...string) bool {
	classes = slices.DeleteFunc(classes, func(name string) bool { return name == "" })
	isListed := func(name string) bool { return slices.Contains(scope.Values, name) }
	switch scope.Operator {
	case corev1.ScopeSelectorOpExists:
		return len(classes) > 0
	case corev1.ScopeSelectorOpDoesNotExist:
		return len(classes) == 0
	case corev1.ScopeSelectorOpIn:
		return slices.ContainsFunc(classes, isListed)
	case corev1.ScopeSelectorOpNotIn:
		return len(classes) == 0 || slices.ContainsFunc(classes, func(name string) bool { return !isListed(name) })
	}
	return false
}

// hasAffinityAcrossNamespaces reports whether a term of the affinity names namespaces.
func hasAffinityAcrossNamespaces(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	crosses := func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
	weighted := func(t corev1.WeightedPodAffinityTerm) bool { return crosses(t.PodAffinityTerm) }
	if p := a.PodAffinity; p != nil && (slices.ContainsFunc(p.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(p.PreferredDuringSchedulingIgnoredDuringExecution, weighted)) {
		return true
	}
	p := a.PodAntiAffinity
	return p != nil && (slices.ContainsFunc(p.RequiredDuringSchedulingIgnoredDuringExecution, crosses) ||
		slices.ContainsFunc(p.PreferredDuringSchedulingIgnoredDuringExecution, weighted))
}
