package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateLimitRangeUpdate(limitRange, _ *corev1.LimitRange) field.ErrorList {
	return validateLimitRange(limitRange)
}

// validateLimitRange validates that the limits are for different types, and that the amounts of
// each are in order.
func validateLimitRange(limitRange *corev1.LimitRange) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec").Child("limits")
	seen := map[corev1.LimitType]bool{}
	for i := range limitRange.Spec.Limits {
		item, path := &limitRange.Spec.Limits[i], p.Index(i)
		errs = append(errs, validateLimitType(item.Type, path.Child("type"))...)
		if seen[item.Type] {
			errs = append(errs, path.Child("type").Duplicate(item.Type))
		}
		seen[item.Type] = true
		errs = append(errs, validateLimitRangeItem(item, path)...)
	}
	return errs
}

func validateLimitType(limitType corev1.LimitType, p *validate.Path) field.ErrorList {
	if messages := validation.IsQualifiedName(string(limitType)); len(messages) > 0 {
		return validate.Messages(limitType, messages, p)
	}
	switch limitType {
	case corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim:
		return nil
	}
	if strings.Contains(string(limitType), "/") {
		return nil
	}
	return field.ErrorList{p.Invalid(limitType, "must be a standard limit type or fully qualified")}
}

func validateLimitRangeItem(item *corev1.LimitRangeItem, p *validate.Path) field.ErrorList {
	names := map[corev1.ResourceName]bool{}
	validateNames := func(list corev1.ResourceList, p *validate.Path) (errs field.ErrorList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			names[name] = true
			errs = append(errs, validateLimitResourceName(item.Type, name, p.Key(string(name)))...)
		}
		return errs
	}
	errs := validateNames(item.Max, p.Child("max"))
	errs = append(errs, validateNames(item.Min, p.Child("min"))...)
	bounds := *item
	if item.Type == corev1.LimitTypePod {
		const detail = "may not be specified when `type` is 'Pod'"
		if len(item.Default) > 0 {
			errs = append(errs, p.Child("default").Forbidden(detail))
		}
		if len(item.DefaultRequest) > 0 {
			errs = append(errs, p.Child("defaultRequest").Forbidden(detail))
		}
		bounds.Default, bounds.DefaultRequest = nil, nil
	} else {
		errs = append(errs, validateNames(item.Default, p.Child("default"))...)
		errs = append(errs, validateNames(item.DefaultRequest, p.Child("defaultRequest"))...)
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, hasMin := item.Min[corev1.ResourceStorage]
		if _, hasMax := item.Max[corev1.ResourceStorage]; !hasMin && !hasMax {
			errs = append(errs, p.Child("limits").Required("either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	errs = append(errs, validateNames(item.MaxLimitRequestRatio, p.Child("maxLimitRequestRatio"))...)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, validateLimitBounds(&bounds, name, p)...)
		errs = append(errs, validateLimitRatio(&bounds, name, p)...)
	}
	return errs
}

// validateLimitResourceName validates the name of a resource. Limits of other types than pods and
// containers can be for storage.
func validateLimitResourceName(limitType corev1.LimitType, name corev1.ResourceName, p *validate.Path) field.ErrorList {
	if limitType == corev1.LimitTypePod || limitType == corev1.LimitTypeContainer {
		return ValidateContainerResourceName(name, p)
	}
	return validateResourceName(name, p)
}

// validateLimitBounds validates that min, defaultRequest, default and max of a resource are in this
// order.
func validateLimitBounds(item *corev1.LimitRangeItem, name corev1.ResourceName, p *validate.Path) (errs field.ErrorList) {
	key := string(name)
	lowest, hasMin := item.Min[name]
	highest, hasMax := item.Max[name]
	limit, hasLimit := item.Default[name]
	request, hasRequest := item.DefaultRequest[name]
	// The errors of default have the other value as the invalid one.
	for _, bound := range []struct {
		both        bool
		low, high   resource.Quantity
		p           *validate.Path
		invalid     resource.Quantity
		lowIs, what string
	}{
		{hasMin && hasMax, lowest, highest, p.Child("min"), lowest, "min value", "max value"},
		{hasRequest && hasMin, lowest, request, p.Child("defaultRequest"), request, "min value", "default request value"},
		{hasRequest && hasMax, request, highest, p.Child("defaultRequest"), request, "default request value", "max value"},
		{hasRequest && hasLimit, request, limit, p.Child("defaultRequest"), request, "default request value", "default limit value"},
		{hasLimit && hasMin, lowest, limit, p.Child("default"), lowest, "min value", "default value"},
		{hasLimit && hasMax, limit, highest, p.Child("default"), highest, "default value", "max value"},
	} {
		if bound.both && bound.low.Cmp(bound.high) > 0 {
			detail := fmt.Sprintf("%s %s is greater than %s %s", bound.lowIs, bound.low.String(), bound.what, bound.high.String())
			errs = append(errs, bound.p.Key(key).Invalid(bound.invalid, detail))
		}
	}
	return errs
}

// validateLimitRatio validates the ratio of limit and request of a resource, and that the two have
// equal defaults if the resource cannot be overcommitted.
func validateLimitRatio(item *corev1.LimitRangeItem, name corev1.ResourceName, p *validate.Path) (errs field.ErrorList) {
	ratio, hasRatio := item.MaxLimitRequestRatio[name]
	path := p.Child("maxLimitRequestRatio").Key(string(name))
	if hasRatio && ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		errs = append(errs, path.Invalid(ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	lowest, hasMin := item.Min[name]
	if highest, hasMax := item.Max[name]; hasRatio && hasMin && hasMax {
		ratioValue, possible := float64(ratio.Value()), float64(highest.Value())/float64(lowest.Value())
		if max(ratio.Value(), lowest.Value(), highest.Value()) < resource.MaxMilliValue {
			ratioValue, possible = float64(ratio.MilliValue())/1000, float64(highest.MilliValue())/float64(lowest.MilliValue())
		}
		if ratioValue > possible {
			errs = append(errs, path.Invalid(ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), possible)))
		}
	}
	request, hasRequest := item.DefaultRequest[name]
	if limit, hasLimit := item.Default[name]; hasRequest && hasLimit && limit.Cmp(request) != 0 && !isOvercommitAllowed(name) {
		errs = append(errs, p.Child("defaultRequest").Key(string(name)).Invalid(request,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit.String(), request.String(), name)))
	}
	return errs
}
