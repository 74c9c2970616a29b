package batch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	maxPolicyRules            = 20
	maxExitCodes              = 255
	maxPodConditions          = 20
	maxSucceededIndexesLength = 64 * 1024
)

// validatePodFailurePolicy validates spec.PodFailurePolicy.
func validatePodFailurePolicy(spec *batchv1.JobSpec, p *validate.Path) (errs field.ErrorList) {
	rules, p := spec.PodFailurePolicy.Rules, p.Child("rules")
	if len(rules) > maxPolicyRules {
		errs = append(errs, p.TooMany(len(rules), maxPolicyRules))
	}
	containers := newContainerNames(&spec.Template.Spec, len(rules))
	for i := range rules {
		errs = append(errs, validatePodFailureRule(&rules[i], spec, containers, p.Index(i))...)
	}
	return errs
}

func validatePodFailureRule(rule *batchv1.PodFailurePolicyRule, spec *batchv1.JobSpec, containers containerNames, p *validate.Path) (errs field.ErrorList) {
	switch action, p := rule.Action, p.Child("action"); action {
	case batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore:
	case batchv1.PodFailurePolicyActionFailIndex:
		if spec.BackoffLimitPerIndex == nil {
			errs = append(errs, p.Invalid(action, "requires the backoffLimitPerIndex to be set"))
		}
	case "":
		errs = append(errs, p.Required(`valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`))
	default:
		errs = append(errs, validate.NotSupported(p, action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
			batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore))
	}
	if rule.OnExitCodes != nil {
		errs = append(errs, validateOnExitCodes(rule.OnExitCodes, containers, p.Child("onExitCodes"))...)
	}
	if len(rule.OnPodConditions) > 0 {
		errs = append(errs, validateOnPodConditions(rule.OnPodConditions, p.Child("onPodConditions"))...)
	}
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		errs = append(errs, p.Invalid(field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		errs = append(errs, p.Invalid(field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

func validateOnPodConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, p *validate.Path) (errs field.ErrorList) {
	if len(patterns) > maxPodConditions {
		errs = append(errs, p.TooMany(len(patterns), maxPodConditions))
	}
	for i := range patterns {
		p := p.Index(i)
		errs = append(errs, validate.LabelName(string(patterns[i].Type), p.Child("type"))...)
		switch status := patterns[i].Status; status {
		case corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown:
		case "":
			errs = append(errs, p.Child("status").Required(`valid values: ["False" "True" "Unknown"]`))
		default:
			errs = append(errs, validate.NotSupported(p.Child("status"), status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown))
		}
	}
	return errs
}

func validateOnExitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, containers containerNames, p *validate.Path) (errs field.ErrorList) {
	switch operator, p := r.Operator, p.Child("operator"); operator {
	case batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn:
	case "":
		errs = append(errs, p.Required(`valid values: ["In" "NotIn"]`))
	default:
		errs = append(errs, validate.NotSupported(p, operator, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn))
	}
	if name := r.ContainerName; name != nil && !containers.has(*name) {
		errs = append(errs, p.Child("containerName").Invalid(*name, "must be one of the container or initContainer names in the pod template"))
	}
	values, p := r.Values, p.Child("values")
	switch {
	case len(values) == 0:
		errs = append(errs, p.Invalid(values, "at least one value is required"))
	case len(values) > maxExitCodes:
		errs = append(errs, p.TooMany(len(values), maxExitCodes))
	}
	isOrdered := slices.IsSorted(values)
	var seen map[int32]bool // of values that are not ordered
	if !isOrdered {
		seen = make(map[int32]bool, len(values))
	}
	for i, value := range values {
		if value == 0 && r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, p.Index(i).Invalid(value, "must not be 0 for the In operator"))
		}
		if seen[value] || isOrdered && i > 0 && values[i-1] == value {
			errs = append(errs, p.Index(i).Duplicate(value))
		}
		if seen != nil {
			seen[value] = true
		}
	}
	if !isOrdered {
		errs = append(errs, p.Invalid(values, "must be ordered"))
	}
	return errs
}

// containerNames are the names of the containers and the init containers of a pod.
type containerNames struct {
	pods *corev1.PodSpec
	set  map[string]bool // nil if searching the pod is fast enough
}

// newContainerNames returns the names for a number of look-ups.
func newContainerNames(pods *corev1.PodSpec, lookups int) containerNames {
	names := containerNames{pods: pods}
	if lookups <= maxPolicyRules {
		return names
	}
	names.set = make(map[string]bool, len(pods.Containers)+len(pods.InitContainers))
	for i := range pods.Containers {
		names.set[pods.Containers[i].Name] = true
	}
	for i := range pods.InitContainers {
		names.set[pods.InitContainers[i].Name] = true
	}
	return names
}

func (n containerNames) has(name string) bool {
	if n.set != nil {
		return n.set[name]
	}
	hasName := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(n.pods.Containers, hasName) || slices.ContainsFunc(n.pods.InitContainers, hasName)
}

// validateSuccessPolicy validates spec.SuccessPolicy.
func validateSuccessPolicy(spec *batchv1.JobSpec, p *validate.Path) (errs field.ErrorList) {
	if !isIndexed(spec) {
		return field.ErrorList{p.Invalid(*spec.SuccessPolicy, "requires indexed completion mode")}
	}
	var completions int32 // a Job without a number is invalid
	if spec.Completions != nil {
		completions = *spec.Completions
	}
	rules, p := spec.SuccessPolicy.Rules, p.Child("rules")
	if len(rules) == 0 {
		errs = append(errs, p.Required("at least one rules must be specified when the successPolicy is specified"))
	}
	if len(rules) > maxPolicyRules {
		errs = append(errs, p.TooMany(len(rules), maxPolicyRules))
	}
	for i := range rules {
		errs = append(errs, validateSuccessRule(&rules[i], completions, p.Index(i))...)
	}
	return errs
}

func validateSuccessRule(rule *batchv1.SuccessPolicyRule, completions int32, p *validate.Path) (errs field.ErrorList) {
	indexes, count := rule.SucceededIndexes, rule.SucceededCount
	if indexes == nil && count == nil {
		return field.ErrorList{p.Required("at least one of succeededCount or succeededIndexes must be specified")}
	}
	var total int32
	if indexes != nil {
		p := p.Child("succeededIndexes")
		if len(*indexes) > maxSucceededIndexesLength {
			errs = append(errs, p.TooLong(maxSucceededIndexesLength))
		}
		var err error
		if total, err = countIndexes(*indexes, completions); err != nil {
			errs = append(errs, p.Invalid(*indexes, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	if count == nil {
		return errs
	}
	p = p.Child("succeededCount")
	errs = append(errs, validate.NonNegative(int64(*count), p)...)
	if *count > completions {
		errs = append(errs, p.Invalid(*count, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
	}
	if indexes != nil && *count > total {
		errs = append(errs, p.Invalid(*count, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
	}
	return errs
}

// countIndexes returns the number of indexes in a list of intervals, for instance 5 for "0-2,4,6".
func countIndexes(list string, completions int32) (total int32, err error) {
	if list == "" {
		return 0, nil
	}
	last := int32(-1)
	for text := range strings.SplitSeq(list, ",") {
		first, end, err := parseInterval(text, completions)
		if err != nil {
			return 0, err
		}
		if last >= first {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, first)
		}
		total += end - first + 1
		last = end
	}
	return total, nil
}

// parseInterval returns the first and the last index of an interval, which is one number or two.
func parseInterval(text string, completions int32) (first, last int32, err error) {
	if strings.Count(text, "-") > 1 {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	x, y, isRange := strings.Cut(text, "-")
	if first, err = parseIndex(x, completions); err != nil || !isRange {
		return first, first, err
	}
	if last, err = parseIndex(y, completions); err != nil {
		return 0, 0, err
	}
	if first >= last {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", first, last)
	}
	return first, last, nil
}

func parseIndex(text string, completions int32) (int32, error) {
	index, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if index >= int(completions) {
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return int32(index), nil
}
