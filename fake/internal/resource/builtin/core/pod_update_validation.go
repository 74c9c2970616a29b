package core

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodUpdate validates an update of a pod. What its containers run is all that it can
// change, apart from a few fields for its scheduling and its end.
func validatePodUpdate(pod, old *corev1.Pod) field.ErrorList {
	opts := podUpdateOptions(old)
	errs := validatePodUpdateBy(opts, pod, old)
	if len(errs) > 0 {
		return validatePodUpdateBy(opts.relaxed(), pod, old)
	}
	return errs
}

// validatePodUpdateBy is validatePodUpdate with options. A real server validates annotations and
// tolerations twice, and lists their errors twice.
func validatePodUpdateBy(opts PodValidationOptions, pod, old *corev1.Pod) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validatePodObject(pod, opts)
	errs = append(errs, validatePodAnnotationsUpdate(pod, old, opts)...)
	if len(pod.Spec.Containers) != len(old.Spec.Containers) {
		return append(errs, p.Child("containers").Forbidden("pod updates may not add or remove containers"))
	}
	errs = append(errs, validateImages(pod.Spec.Containers, p.Child("containers"))...)
	if len(pod.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return append(errs, p.Child("initContainers").Forbidden("pod updates may not add or remove containers"))
	}
	errs = append(errs, validateImages(pod.Spec.InitContainers, p.Child("initContainers"))...)
	problems, stop := validateDeadlineUpdate(pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds, p.Child("activeDeadlineSeconds"))
	if errs = append(errs, problems...); stop {
		return errs
	}
	errs = append(errs, validateTolerationsUpdate(pod.Spec.Tolerations, old.Spec.Tolerations, opts, p.Child("tolerations"))...)
	errs = append(errs, validateSchedulingGatesUpdate(pod.Spec.SchedulingGates, old.Spec.SchedulingGates, p.Child("schedulingGates"))...)
	return append(errs, validatePodSpecUpdate(&pod.Spec, &old.Spec, p)...)
}

// validateImages validates the images of containers that an update may have changed.
func validateImages(containers []corev1.Container, p *validate.Path) (errs field.ErrorList) {
	for i := range containers {
		errs = append(errs, requireValue(containers[i].Image, p.Index(i).Child("image"))...)
		errs = append(errs, validateImageWithoutSpace(containers[i].Image, p.Index(i).Child("image"))...)
	}
	return errs
}

// validateDeadlineUpdate validates that a pod keeps its deadline, or gets an earlier one. stop
// reports whether a real server validates nothing more.
func validateDeadlineUpdate(seconds, old *int64, p *validate.Path) (errs field.ErrorList, stop bool) {
	switch {
	case seconds == nil && old == nil:
		return nil, false
	case seconds == nil:
		return field.ErrorList{p.Invalid(seconds, "must not update from a positive integer to nil value")}, false
	case *seconds < 0 || *seconds > math.MaxInt32:
		return field.ErrorList{p.Invalid(*seconds, validation.InclusiveRangeError(0, math.MaxInt32))}, true
	case old != nil && *old < *seconds:
		return field.ErrorList{p.Invalid(*seconds, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// tolerated is what a toleration tolerates, apart from for how long.
type tolerated struct {
	key, value string
	operator   corev1.TolerationOperator
	effect     corev1.TaintEffect
}

func toleratedBy(t *corev1.Toleration) tolerated {
	return tolerated{t.Key, t.Value, t.Operator, t.Effect}
}

// validateTolerationsUpdate validates that a pod keeps its tolerations. They can change for how
// long.
func validateTolerationsUpdate(tolerations, old []corev1.Toleration, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	if len(old) > 0 {
		var kept smallSet[tolerated]
		for i := range tolerations {
			kept.add(toleratedBy(&tolerations[i]))
		}
		for i := range old {
			if !kept.has(toleratedBy(&old[i])) {
				return field.ErrorList{p.Forbidden("existing toleration can not be modified except its tolerationSeconds")}
			}
		}
	}
	return validateTolerations(tolerations, opts, p)
}

// validateSchedulingGatesUpdate validates that a pod gets no more scheduling gates.
func validateSchedulingGatesUpdate(gates, old []corev1.PodSchedulingGate, p *validate.Path) (errs field.ErrorList) {
	if len(gates) == 0 {
		return nil
	}
	var known smallSet[string]
	for i := range old {
		known.add(old[i].Name)
	}
	for i, gate := range slices.Backward(gates) {
		if known.add(gate.Name) {
			errs = append(errs, p.Index(i).Child("name").Forbidden(fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	slices.Reverse(errs)
	return errs
}

// validatePodSpecUpdate validates that the fields that an update of a pod cannot change are the
// same.
func validatePodSpecUpdate(spec, old *corev1.PodSpec, p *validate.Path) field.ErrorList {
	if equalPodSpecs(spec, old) {
		return nil
	}
	masked := maskPodSpec(spec, old)
	errs := maskGatedFields(masked, old, p)
	if equality.Semantic.DeepEqual(masked, old) {
		return errs
	}
	return append(errs, p.Forbidden(fmt.Sprintf("pod updates may not change fields other than %s\n%v",
		strings.Join([]string{
			"`spec.containers[*].image`",
			"`spec.initContainers[*].image`",
			"`spec.activeDeadlineSeconds`",
			"`spec.tolerations` (only additions to existing tolerations)",
			"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
		}, ","), changes(*old, *masked))))
}

// equalPodSpecs reports whether two specs with the same number of containers are the same, apart
// from the fields that an update of any pod can change. It does not allocate.
func equalPodSpecs(spec, old *corev1.PodSpec) bool {
	if !equalExcept(spec, old, &spec.Containers, &spec.InitContainers, &spec.ActiveDeadlineSeconds, &spec.Tolerations, &spec.SchedulingGates) {
		return false
	}
	for i := range spec.Containers {
		if !equalExcept(&spec.Containers[i], &old.Containers[i], &spec.Containers[i].Image) {
			return false
		}
	}
	for i := range spec.InitContainers {
		if !equalExcept(&spec.InitContainers[i], &old.InitContainers[i], &spec.InitContainers[i].Image) {
			return false
		}
	}
	return true
}

// maskPodSpec returns spec with those fields of old that an update of any pod can change.
func maskPodSpec(spec, old *corev1.PodSpec) *corev1.PodSpec {
	masked := *spec
	masked.Containers = withImagesOf(old.Containers, spec.Containers)
	masked.InitContainers = withImagesOf(old.InitContainers, spec.InitContainers)
	masked.ActiveDeadlineSeconds, masked.Tolerations, masked.SchedulingGates = old.ActiveDeadlineSeconds, old.Tolerations, old.SchedulingGates
	return &masked
}

// withImagesOf returns containers with the images of old, which has as many.
func withImagesOf(old, containers []corev1.Container) []corev1.Container {
	masked := slices.Clone(containers)
	for i := range masked {
		masked[i].Image = old[i].Image
	}
	return masked
}

// maskGatedFields sets those fields of masked to the ones of old that an update can change while
// the pod has scheduling gates. It returns the errors of how they have changed. p is the path of
// the spec.
func maskGatedFields(masked, old *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if len(old.SchedulingGates) == 0 {
		return nil
	}
	if !maps.Equal(masked.NodeSelector, old.NodeSelector) {
		errs = validateNodeSelectorUpdate(masked.NodeSelector, old.NodeSelector, p.Child("nodeSelector"))
		masked.NodeSelector = old.NodeSelector
	}
	affinity, before := nodeAffinityOf(masked), nodeAffinityOf(old)
	if equality.Semantic.DeepEqual(affinity, before) {
		return errs
	}
	errs = append(errs, validateNodeAffinityUpdate(affinity, before, p.Child("affinity").Child("nodeAffinity"))...)
	switch {
	case masked.Affinity == nil:
		masked.Affinity = &corev1.Affinity{NodeAffinity: before}
	case old.Affinity == nil && masked.Affinity.PodAffinity == nil && masked.Affinity.PodAntiAffinity == nil:
		masked.Affinity = nil
	default:
		others := *masked.Affinity
		others.NodeAffinity = before
		masked.Affinity = &others
	}
	return errs
}

func nodeAffinityOf(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity
}

// validateNodeSelectorUpdate validates that a pod gets requirements and keeps those that it has.
func validateNodeSelectorUpdate(selector, old map[string]string, p *validate.Path) field.ErrorList {
	for key, before := range old {
		if value, ok := selector[key]; !ok || value != before {
			return field.ErrorList{p.Invalid(selector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")}
		}
	}
	return nil
}

// validateNodeAffinityUpdate validates that the required terms of node affinity get requirements
// and keep those that they have.
func validateNodeAffinityUpdate(affinity, old *corev1.NodeAffinity, p *validate.Path) (errs field.ErrorList) {
	if old == nil || old.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	before := old.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	var terms []corev1.NodeSelectorTerm
	if affinity != nil && affinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	at := p.Child(requiredAffinity).Child("nodeSelectorTerms")
	if len(before) > 0 && len(before) != len(terms) {
		return field.ErrorList{at.Invalid(terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	for i := range before {
		if !addsRequirements(&terms[i], &before[i]) {
			errs = append(errs, at.Index(i).Invalid(terms[i], "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// addsRequirements reports whether a term has the requirements of old, in the same place. An empty
// term matches nothing, so that it must stay empty.
func addsRequirements(term, old *corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {
		return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
	}
	return startsWith(term.MatchExpressions, old.MatchExpressions) && startsWith(term.MatchFields, old.MatchFields)
}

func startsWith(requirements, old []corev1.NodeSelectorRequirement) bool {
	return len(requirements) >= len(old) && equality.Semantic.DeepEqual(requirements[:len(old)], old)
}
