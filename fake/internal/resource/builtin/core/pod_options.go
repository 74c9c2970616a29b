package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// PodValidationOptions are rules that depend on the object that an update replaces: what it has
// already stays valid. The zero value has the rules for the template of a new object.
type PodValidationOptions struct {
	// isPod reports whether the spec is that of a pod, not of a template.
	isPod bool
	// old and oldAnnotations are those of the pod or template that an update replaces. old is nil for
	// a new one.
	old            *corev1.PodSpec
	oldAnnotations map[string]string
	// containerOptions and allow have the rules that old is exempt from, see relaxed.
	containerOptions
	allow podExemptions
}

// podExemptions are rules for a pod as a whole that an update may break because the object that it
// replaces breaks them already. Most of them have become stricter at some time.
type podExemptions struct {
	// anyDeletionCost allows malformed values of the annotation with the deletion cost.
	anyDeletionCost bool
	// anyAffinitySelectorValue and anyNodeAffinityValue allow malformed label values in the selectors
	// of pod affinity, and in required node affinity.
	anyAffinitySelectorValue, anyNodeAffinityValue bool
	// anySpreadSelector allows malformed selectors of spread constraints. oldSpreadLabelKeys checks
	// their matchLabelKeys as old servers did.
	anySpreadSelector, oldSpreadLabelKeys bool
	// hostSysctls allows sysctls of namespaces that are those of the host.
	hostSysctls bool
	// hostNetworkWithoutHostUsers and devicesWithoutHostUsers allow these in a user namespace.
	hostNetworkWithoutHostUsers, devicesWithoutHostUsers bool
	// comparingTolerations allows the operators Lt and Gt.
	comparingTolerations bool
}

// PodTemplateValidationOptions returns the options for an update that replaces old, which is nil
// for a new template.
func PodTemplateValidationOptions(template, old *corev1.PodTemplateSpec) PodValidationOptions {
	if template == nil || old == nil {
		return PodValidationOptions{}
	}
	return PodValidationOptions{old: &old.Spec, oldAnnotations: old.Annotations}
}

// podUpdateOptions returns the options for an update of a pod.
func podUpdateOptions(old *corev1.Pod) PodValidationOptions {
	return PodValidationOptions{isPod: true, old: &old.Spec, oldAnnotations: old.Annotations}
}

// relaxed returns opts with the exemptions for what the old object has. It is called for invalid
// objects only, so that valid ones do not pay for it.
func (opts PodValidationOptions) relaxed() PodValidationOptions {
	old := opts.old
	opts.containerOptions = containerOptionsFor(old)
	opts.allow = podExemptions{
		anyDeletionCost:             !isDeletionCostValid(opts.oldAnnotations),
		anyAffinitySelectorValue:    hasInvalidAffinitySelector(old.Affinity),
		anyNodeAffinityValue:        hasInvalidNodeAffinityValue(old.Affinity),
		anySpreadSelector:           hasInvalidSpreadSelector(old.TopologySpreadConstraints),
		oldSpreadLabelKeys:          hasInvalidSpreadLabelKeys(old.TopologySpreadConstraints),
		hostSysctls:                 hasHostSysctl(old),
		hostNetworkWithoutHostUsers: hasUserNamespace(old) && old.HostNetwork,
		devicesWithoutHostUsers:     hasUserNamespace(old) && hasVolumeDevices(old),
		comparingTolerations:        hasComparingToleration(old.Tolerations),
	}
	return opts
}

func hasInvalidAffinitySelector(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	if a := affinity.PodAffinity; a != nil &&
		hasInvalidTermSelector(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	a := affinity.PodAntiAffinity
	return a != nil && hasInvalidTermSelector(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func hasInvalidTermSelector(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
	for i := range required {
		if len(validatePodAffinityTermSelectors(&required[i], false, nil)) > 0 {
			return true
		}
	}
	for i := range preferred {
		if len(validatePodAffinityTermSelectors(&preferred[i].PodAffinityTerm, false, nil)) > 0 {
			return true
		}
	}
	return false
}

func hasInvalidNodeAffinityValue(affinity *corev1.Affinity) bool {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return hasInvalidLabelValue(affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
}

func hasInvalidSpreadSelector(constraints []corev1.TopologySpreadConstraint) bool {
	for i := range constraints {
		if len(validate.LabelSelector(constraints[i].LabelSelector, metav1validation.LabelSelectorValidationOptions{}, nil)) > 0 {
			return true
		}
	}
	return false
}

func hasInvalidSpreadLabelKeys(constraints []corev1.TopologySpreadConstraint) bool {
	for i := range constraints {
		if c := &constraints[i]; len(validateLabelKeys(c.MatchLabelKeys, nil, c.LabelSelector, nil)) > 0 {
			return true
		}
	}
	return false
}

func hasHostSysctl(spec *corev1.PodSpec) bool {
	return spec.SecurityContext != nil && slices.ContainsFunc(spec.SecurityContext.Sysctls, func(s corev1.Sysctl) bool {
		return hostNamespaceOfSysctl(s.Name, spec) != ""
	})
}

func hasVolumeDevices(spec *corev1.PodSpec) (has bool) {
	visitContainers(spec, func(c *corev1.Container) { has = has || len(c.VolumeDevices) > 0 })
	return has
}

func hasComparingToleration(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt
	})
}
