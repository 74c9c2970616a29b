package core

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateAffinity validates the affinity of a pod, which may be nil.
func validateAffinity(affinity *corev1.Affinity, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if affinity == nil {
		return nil
	}
	if a := affinity.NodeAffinity; a != nil {
		errs = append(errs, validateNodeAffinity(a, opts, p.Child("nodeAffinity"))...)
	}
	if a := affinity.PodAffinity; a != nil {
		errs = append(errs, validatePodAffinity(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, opts, p.Child("podAffinity"))...)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		errs = append(errs, validatePodAffinity(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, opts, p.Child("podAntiAffinity"))...)
	}
	return errs
}

const (
	requiredAffinity  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredAffinity = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateNodeAffinity(a *corev1.NodeAffinity, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		errs = append(errs, ValidateNodeSelector(required, opts.allow.anyNodeAffinityValue, p.Child(requiredAffinity))...)
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i], p.Child(preferredAffinity).Index(i)
		errs = append(errs, validateAffinityWeight(term.Weight, at.Child("weight"))...)
		errs = append(errs, validateNodeSelectorTerm(&term.Preference, true, at.Child("preference"))...)
	}
	return errs
}

// validateAffinityWeight validates the weight of a preferred term.
func validateAffinityWeight(weight int32, p *validate.Path) field.ErrorList {
	if 1 <= weight && weight <= 100 {
		return nil
	}
	return field.ErrorList{p.Invalid(weight, "must be in the range 1-100")}
}

// validatePodAffinity validates the terms of pod affinity or anti-affinity.
func validatePodAffinity(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	for i := range required {
		errs = append(errs, validatePodAffinityTerm(&required[i], opts, p.Child(requiredAffinity).Index(i))...)
	}
	for i := range preferred {
		at := p.Child(preferredAffinity).Index(i)
		errs = append(errs, validateAffinityWeight(preferred[i].Weight, at.Child("weight"))...)
		errs = append(errs, validatePodAffinityTerm(&preferred[i].PodAffinityTerm, opts, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodAffinityTerm(term *corev1.PodAffinityTerm, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validatePodAffinityTermSelectors(term, opts.allow.anyAffinitySelectorValue, p)
	for _, name := range term.Namespaces {
		errs = append(errs, validate.Messages(name, apivalidation.ValidateNamespaceName(name, false), p.Child("namespace"))...)
	}
	errs = append(errs, validateLabelKeys(term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector, p)...)
	if term.TopologyKey == "" {
		errs = append(errs, p.Child("topologyKey").Required("can not be empty"))
	}
	return append(errs, validate.LabelName(term.TopologyKey, p.Child("topologyKey"))...)
}

// validatePodAffinityTermSelectors validates the selectors of a term. anyValue allows values that
// are no values of labels.
func validatePodAffinityTermSelectors(term *corev1.PodAffinityTerm, anyValue bool, p *validate.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: anyValue}
	errs := validate.LabelSelector(term.LabelSelector, opts, p.Child("labelSelector"))
	return append(errs, validate.LabelSelector(term.NamespaceSelector, opts, p.Child("namespaceSelector"))...)
}

// validateLabelKeys validates matchLabelKeys and mismatchLabelKeys of a term or of a spread
// constraint. The requirements that follow from them have been added to the selector of a pod, so
// that the selector has the key of another requirement twice.
func validateLabelKeys(match, mismatch []string, selector *metav1.LabelSelector, p *validate.Path) field.ErrorList {
	if len(match) == 0 && len(mismatch) == 0 {
		return nil
	}
	errs := validateLabelKeyNames(match, selector, p.Child("matchLabelKeys"))
	errs = append(errs, validateLabelKeyNames(mismatch, selector, p.Child("mismatchLabelKeys"))...)
	index := make(map[string]int, len(match))
	for i, key := range match {
		index[key] = i
	}
	if selector != nil {
		seen := make(map[string]bool, len(selector.MatchLabels)+len(selector.MatchExpressions))
		for key := range selector.MatchLabels {
			seen[key] = true
		}
		for i := range selector.MatchExpressions {
			key := selector.MatchExpressions[i].Key
			if at, ok := index[key]; ok && seen[key] {
				errs = append(errs, p.Index(at).Invalid(key, "exists in both matchLabelKeys and labelSelector"))
			}
			seen[key] = true
		}
	}
	if len(mismatch) == 0 {
		return errs
	}
	others := make(map[string]bool, len(mismatch))
	for _, key := range mismatch {
		others[key] = true
	}
	for i, key := range match {
		if others[key] {
			errs = append(errs, p.Child("matchLabelKeys").Index(i).Invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func validateLabelKeyNames(keys []string, selector *metav1.LabelSelector, p *validate.Path) (errs field.ErrorList) {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{p.Forbidden("must not be specified when labelSelector is not set")}
	}
	for i, key := range keys {
		errs = append(errs, validate.LabelName(key, p.Index(i))...)
	}
	return errs
}

// validateOldLabelKeys validates matchLabelKeys of a spread constraint as servers did before they
// added them to the selector.
func validateOldLabelKeys(keys []string, selector *metav1.LabelSelector, p *validate.Path) (errs field.ErrorList) {
	if len(keys) == 0 {
		return nil
	}
	selected := map[string]bool{}
	if selector == nil {
		errs = append(errs, p.Forbidden("must not be specified when labelSelector is not set"))
	} else {
		for key := range selector.MatchLabels {
			selected[key] = true
		}
		for i := range selector.MatchExpressions {
			selected[selector.MatchExpressions[i].Key] = true
		}
	}
	for i, key := range keys {
		errs = append(errs, validate.LabelName(key, p.Index(i))...)
		if selected[key] {
			errs = append(errs, p.Index(i).Invalid(key, "exists in both matchLabelKeys and labelSelector"))
		}
	}
	return errs
}

// validateTopologySpreadConstraints validates how the pods spread over a topology.
func validateTopologySpreadConstraints(constraints []corev1.TopologySpreadConstraint, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if len(constraints) == 0 {
		return nil
	}
	last := lastSpreadKinds(constraints)
	for i := range constraints {
		c, at := &constraints[i], p.Index(i)
		errs = append(errs, validatePositive(c.MaxSkew, at.Child("maxSkew"))...)
		if c.TopologyKey == "" {
			errs = append(errs, at.Child("topologyKey").Required("can not be empty"))
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			errs = append(errs, validate.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway))
		}
		if last[spreadKind{c.TopologyKey, c.WhenUnsatisfiable}] > i { // a later one is of the same kind
			errs = append(errs, at.Child("{topologyKey, whenUnsatisfiable}").Duplicate(fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
		if c.MinDomains != nil {
			errs = append(errs, validatePositive(*c.MinDomains, at.Child("minDomains"))...)
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, at.Child("minDomains").Invalid(*c.MinDomains,
					fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable)))
			}
		}
		errs = append(errs, validateNodeInclusionPolicy(c.NodeAffinityPolicy, at.Child("nodeAffinityPolicy"))...)
		errs = append(errs, validateNodeInclusionPolicy(c.NodeTaintsPolicy, at.Child("nodeTaintsPolicy"))...)
		if opts.allow.oldSpreadLabelKeys {
			errs = append(errs, validateOldLabelKeys(c.MatchLabelKeys, c.LabelSelector, at.Child("matchLabelKeys"))...)
		} else {
			errs = append(errs, validateLabelKeys(c.MatchLabelKeys, nil, c.LabelSelector, at)...)
		}
		if !opts.allow.anySpreadSelector {
			errs = append(errs, validate.LabelSelector(c.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
		}
	}
	return errs
}

func validatePositive(n int32, p *validate.Path) field.ErrorList {
	if n > 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(n, "must be greater than zero")}
}

// spreadKind is what distinguishes the spread constraints of a pod.
type spreadKind struct {
	topologyKey string
	action      corev1.UnsatisfiableConstraintAction
}

// lastSpreadKinds returns the index of the last constraint of each kind.
func lastSpreadKinds(constraints []corev1.TopologySpreadConstraint) map[spreadKind]int {
	last := make(map[spreadKind]int, len(constraints))
	for i := range constraints {
		last[spreadKind{constraints[i].TopologyKey, constraints[i].WhenUnsatisfiable}] = i
	}
	return last
}

func validateNodeInclusionPolicy(policy *corev1.NodeInclusionPolicy, p *validate.Path) field.ErrorList {
	if policy == nil || *policy == corev1.NodeInclusionPolicyHonor || *policy == corev1.NodeInclusionPolicyIgnore {
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, *policy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)}
}

// ValidateTolerations validates the taints that pods tolerate.
func ValidateTolerations(tolerations []corev1.Toleration, p *validate.Path) field.ErrorList {
	return validateTolerations(tolerations, PodValidationOptions{}, p)
}

func validateTolerations(tolerations []corev1.Toleration, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	for i := range tolerations {
		t, at := &tolerations[i], p.Index(i)
		if t.Key != "" {
			errs = append(errs, validate.LabelName(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, at.Child("operator").Invalid(t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, at.Child("effect").Invalid(t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		errs = append(errs, validateTolerationValue(t, opts, at)...)
		switch t.Effect {
		case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			errs = append(errs, validate.NotSupported(at.Child("effect"), t.Effect,
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute))
		}
	}
	return errs
}

// validateTolerationValue validates the operator of a toleration and its value. Lt and Gt need a
// feature that is off (TaintTolerationComparisonOperators).
func validateTolerationValue(t *corev1.Toleration, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	operator := p.Child("operator")
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
			errs = append(errs, operator.Invalid(t.Value, strings.Join(messages, ";")))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, operator.Invalid(t.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if !opts.allow.comparingTolerations {
			return field.ErrorList{validate.NotSupported(operator, t.Operator,
				corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)}
		}
		errs = validate.Messages(t.Value, content.IsDecimalInteger(t.Value), p.Child("value"))
		if _, err := strconv.ParseInt(t.Value, 10, 64); err != nil {
			errs = append(errs, p.Child("value").Invalid(t.Value, err.Error()))
		}
	default:
		errs = append(errs, validate.NotSupported(operator, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists))
	}
	return errs
}

// validateSchedulingGates validates that the gates of a pod have qualified names and are unique.
func validateSchedulingGates(gates []corev1.PodSchedulingGate, p *validate.Path) (errs field.ErrorList) {
	if len(gates) == 0 {
		return nil
	}
	var names smallSet[string]
	for i := range gates {
		errs = append(errs, validate.LabelName(gates[i].Name, p.Index(i))...)
		if !names.add(gates[i].Name) {
			errs = append(errs, p.Index(i).Duplicate(gates[i].Name))
		}
	}
	return errs
}

// validatePodResourceClaims validates the claims for devices. meta is the metadata of a pod, nil
// for a template.
func validatePodResourceClaims(claims []corev1.PodResourceClaim, meta *metav1.ObjectMeta, p *validate.Path) (errs field.ErrorList) {
	if len(claims) == 0 {
		return nil
	}
	var names smallSet[string]
	for i := range claims {
		if meta != nil && isMirrorPod(meta.Annotations) {
			errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
			continue
		}
		c, at := &claims[i], p.Index(i)
		switch {
		case c.Name == "":
			errs = append(errs, at.Child("name").Required(""))
		case !names.add(c.Name):
			errs = append(errs, at.Child("name").Duplicate(c.Name))
		default:
			errs = append(errs, validate.DNSLabel(c.Name, at.Child("name"))...)
		}
		switch {
		case c.ResourceClaimName != nil && c.ResourceClaimTemplateName != nil:
			errs = append(errs, at.Invalid(*c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		case c.ResourceClaimName == nil && c.ResourceClaimTemplateName == nil:
			errs = append(errs, at.Invalid(*c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		if name := c.ResourceClaimName; name != nil {
			errs = append(errs, validate.DNSSubdomain(*name, at.Child("resourceClaimName"))...)
		}
		if name := c.ResourceClaimTemplateName; name != nil {
			errs = append(errs, validate.DNSSubdomain(*name, at.Child("resourceClaimTemplateName"))...)
		}
	}
	return errs
}

// validatePreemptionPolicy validates whether a pod preempts others, which may be nil.
func validatePreemptionPolicy(policy *corev1.PreemptionPolicy, p *validate.Path) field.ErrorList {
	switch {
	case policy == nil, *policy == corev1.PreemptLowerPriority, *policy == corev1.PreemptNever:
		return nil
	case *policy == "":
		return field.ErrorList{p.Required("")}
	}
	return field.ErrorList{validate.NotSupported(p, *policy, corev1.PreemptLowerPriority, corev1.PreemptNever)}
}

// validateSchedulingGroup validates the reference to the group of pods that a pod is scheduled
// with, which may be nil. Only old pods have one, see dropDisabledPodSpecFields.
func validateSchedulingGroup(spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.SchedulingGroup == nil {
		return nil
	}
	if name := spec.SchedulingGroup.PodGroupName; name == nil {
		errs = append(errs, p.Child("podGroupName").Invalid(name, "must specify one of: `podGroupName`"))
	} else {
		errs = append(errs, validate.DNSSubdomain(*name, p.Child("podGroupName"))...)
	}
	if len(spec.EvictionResponders) > 0 {
		errs = append(errs, p.Forbidden("may not be set when evictionResponders is set"))
	}
	return errs
}
