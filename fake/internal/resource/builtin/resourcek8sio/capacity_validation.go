package resourcek8sio

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// maxValidValues is the number of amounts that a policy for requests may list.
const maxValidValues = 10

// validateCapacities validates the capacities of a device. Only a device that is allocated several
// times has policies for the requests of capacity.
func validateCapacities(d *resourcev1.Device, p *validate.Path) (errs field.ErrorList) {
	isShared := d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		errs = append(errs, validateQualifiedName(string(name), p)...)
		c, at := d.Capacity[name], p.Key(shortened(string(name))).Child("requestPolicy")
		switch {
		case c.RequestPolicy == nil:
		case isShared:
			errs = append(errs, validateRequestPolicy(c.RequestPolicy, c.Value, at)...)
		default:
			errs = append(errs, at.Forbidden("allowMultipleAllocations must be true"))
		}
	}
	return errs
}

// validateRequestPolicy validates a policy for requests of a capacity. It lists amounts or has a
// range, and then a default.
func validateRequestPolicy(policy *resourcev1.CapacityRequestPolicy, capacity resource.Quantity, p *validate.Path) field.ErrorList {
	hasValues, hasRange := len(policy.ValidValues) > 0, policy.ValidRange != nil
	switch {
	case hasValues && hasRange:
		return field.ErrorList{p.Forbidden(`exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case hasValues && policy.Default == nil:
		return field.ErrorList{p.Child("default").Required("required when validValues is defined")}
	case hasRange && policy.Default == nil:
		return field.ErrorList{p.Child("default").Required("required when validRange is defined")}
	case hasValues:
		return validateValidValues(policy.ValidValues, *policy.Default, capacity, p.Child("validValues"))
	case hasRange:
		return validateValidRange(policy.ValidRange, *policy.Default, capacity, p.Child("validRange"))
	}
	return nil
}

// validateValidValues requires different amounts in ascending order, with the default among them.
// Amounts that round up to the same whole number are the same: fractions need the feature gate
// DRAFractionalCapacityRange, which is off.
func validateValidValues(values []resource.Quantity, byDefault, capacity resource.Quantity, p *validate.Path) (errs field.ErrorList) {
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, p.Index(i).Invalid(values[i].String(), "values must be sorted in ascending order"))
		}
	}
	hasDefault := false
	if len(values) > maxValidValues {
		errs = append(errs, p.TooMany(len(values), maxValidValues))
	} else {
		for i, v := range values {
			if v.Cmp(capacity) > 0 {
				errs = append(errs, p.Index(i).Invalid(v.String(), fmt.Sprintf("option is larger than capacity value: %s", capacity.String())))
			}
			hasDefault = hasDefault || v.Cmp(byDefault) == 0
		}
		seen := make(map[string]bool)
		for i, v := range values {
			amount := strconv.FormatInt(v.Value(), 10)
			if seen[amount] {
				errs = append(errs, p.Index(i).Duplicate(amount))
			}
			seen[amount] = true
		}
	}
	if !hasDefault {
		errs = append(errs, p.Invalid(byDefault.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

// validateValidRange validates a range of amounts with its default.
func validateValidRange(r *resourcev1.CapacityRequestPolicyRange, byDefault, capacity resource.Quantity, p *validate.Path) (errs field.ErrorList) {
	if r.Min == nil {
		return field.ErrorList{p.Child("min").Required("required when validRange is defined")}
	}
	if r.Min.Cmp(capacity) > 0 {
		errs = append(errs, p.Child("min").Invalid(r.Min.String(), fmt.Sprintf("min is larger than capacity value: %s", capacity.String())))
	}
	if byDefault.Cmp(*r.Min) < 0 {
		errs = append(errs, p.Child("min").Invalid(byDefault.String(), fmt.Sprintf("default is less than min: %s", r.Min.String())))
	}
	if r.Max != nil {
		if r.Min.Cmp(*r.Max) > 0 {
			errs = append(errs, p.Child("max").Invalid(r.Min.String(), fmt.Sprintf("min is larger than max: %s", r.Max.String())))
		}
		if r.Max.Cmp(capacity) > 0 {
			errs = append(errs, p.Child("max").Invalid(r.Max.String(), fmt.Sprintf("max is larger than capacity value: %s", capacity.String())))
		}
		if byDefault.Cmp(*r.Max) > 0 {
			errs = append(errs, p.Child("max").Invalid(byDefault.String(), fmt.Sprintf("default is more than max: %s", r.Max.String())))
		}
	}
	if r.Step != nil && r.Step.Sign() <= 0 {
		errs = append(errs, p.Child("step").Invalid(r.Step.String(), "must be greater than zero"))
	}
	if r.Step == nil || r.Step.Sign() <= 0 {
		return errs
	}
	return append(errs, validateStep(r, byDefault, capacity, p)...)
}

// validateStep validates that a range and its default consist of steps, which are positive. They
// are numbers of 64 bits, rounded up like those of [validateValidValues].
func validateStep(r *resourcev1.CapacityRequestPolicyRange, byDefault, capacity resource.Quantity, p *validate.Path) (errs field.ErrorList) {
	at := p.Child("step")
	first := r.Min.DeepCopy()
	first.Add(*r.Step)
	if first.Cmp(capacity) > 0 {
		errs = append(errs, at.Invalid(r.Step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), capacity.String())))
	}
	boundErrs := validateBound(r.Step, at)
	boundErrs = append(boundErrs, validateBound(r.Min, p.Child("min"))...)
	boundErrs = append(boundErrs, validateBound(r.Max, p.Child("max"))...)
	boundErrs = append(boundErrs, validateBound(&byDefault, p.Child("default"))...)
	if boundErrs != nil {
		return append(errs, boundErrs...)
	}
	for _, q := range []*resource.Quantity{&byDefault, r.Max} {
		if q != nil && (q.Value()-r.Min.Value())%r.Step.Value() != 0 {
			errs = append(errs, at.Invalid(q.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String())))
		}
	}
	return errs
}

// validateBound validates that a number of a range is one of 64 bits, and not negative.
func validateBound(q *resource.Quantity, p *validate.Path) field.ErrorList {
	switch {
	case q == nil:
		return nil
	case q.Sign() < 0:
		return field.ErrorList{p.Invalid(q.String(), apivalidation.IsNegativeErrorMsg)}
	case q.CmpInt64(math.MaxInt64) > 0:
		return field.ErrorList{p.Invalid(q.String(), fmt.Sprintf("must not be larger than %d", int64(math.MaxInt64)))}
	}
	return nil
}
