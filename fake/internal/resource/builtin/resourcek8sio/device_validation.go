package resourcek8sio

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateDevice validates a device. old is the device with the same name that it replaces, nil if
// there is none; its capacities and taints stay valid. With ownNodes the device states which nodes
// have it.
func validateDevice(d, old *resourcev1.Device, ownNodes bool, p *validate.Path) field.ErrorList {
	errs := validate.DNSLabel(d.Name, p.Child("name"))
	if n := len(d.Attributes) + len(d.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		errs = append(errs, p.Invalid(n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)))
	}
	if n := len(d.Attributes); n > resourcev1.ResourceSliceMaxAttributeValuesPerDevice {
		errs = append(errs, p.Invalid(n, fmt.Sprintf("the total number of attribute values must not exceed %d", resourcev1.ResourceSliceMaxAttributeValuesPerDevice)))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		errs = append(errs, validateQualifiedName(string(name), p.Child("attributes"))...)
		errs = append(errs, validateAttribute(d.Attributes[name], p.Child("attributes").Key(shortened(string(name))))...)
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Capacity, d.Capacity) {
		errs = append(errs, validateCapacities(d, p.Child("capacity"))...)
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Taints, d.Taints) {
		errs = append(errs, validateTaints(d.Taints, p.Child("taints"))...)
	}
	if len(d.ConsumesCounters) <= resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice {
		for i, c := range d.ConsumesCounters {
			at := p.Child("consumesCounters").Index(i).Child("counters")
			errs = append(errs, validateCounters(c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, at)...)
		}
	}
	errs = append(errs, validateDeviceNodes(d, ownNodes, p)...)
	return append(errs, validateBindingConditions(d.BindingConditions, d.BindingFailureConditions, p)...)
}

func validateTaints(taints []resourcev1.DeviceTaint, p *validate.Path) (errs field.ErrorList) {
	if len(taints) > resourcev1.DeviceTaintsMaxLength {
		return field.ErrorList{p.TooMany(len(taints), resourcev1.DeviceTaintsMaxLength)}
	}
	for i := range taints {
		errs = append(errs, validateTaint(&taints[i], p.Index(i))...)
	}
	return errs
}

// shortened returns the name of an attribute or a capacity for paths, without the middle part of
// names that are too long.
func shortened(name string) string {
	const maxLength = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength
	if len(name) <= maxLength {
		return name
	}
	const kept = maxLength - len("...")
	return name[:(kept+1)/2] + "..." + name[len(name)-kept/2:]
}

// semanticVersion matches the versions of semver.org.
var semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// validateAttribute validates the value of an attribute. The validation of tags requires that there
// is one.
func validateAttribute(a resourcev1.DeviceAttribute, p *validate.Path) (errs field.ErrorList) {
	if s := a.StringValue; s != nil && len(*s) > resourcev1.DeviceAttributeMaxValueLength {
		errs = append(errs, p.Child("string").TooLong(resourcev1.DeviceAttributeMaxValueLength))
	}
	if v := a.VersionValue; v != nil {
		if !semanticVersion.MatchString(*v) {
			errs = append(errs, p.Child("version").Invalid(*v, "must be a string compatible with semver.org spec 2.0.0"))
		}
		if len(*v) > resourcev1.DeviceAttributeMaxValueLength {
			errs = append(errs, p.Child("version").TooLong(resourcev1.DeviceAttributeMaxValueLength))
		}
	}
	return errs
}

// validateDeviceNodes requires that a device states in one way which nodes have it, or that it does
// not.
func validateDeviceNodes(d *resourcev1.Device, ownNodes bool, p *validate.Path) field.ErrorList {
	if !ownNodes {
		if d.NodeName == nil && d.NodeSelector == nil && d.AllNodes == nil {
			return nil
		}
		return field.ErrorList{p.Invalid(nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
	}
	const required = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	ways, errs := validateNodes(nodeFields{d.NodeName, d.NodeSelector, d.AllNodes}, false, p)
	switch len(ways) {
	case 0:
		errs = append(errs, p.Required(required))
	case 1:
	default:
		errs = append(errs, p.Invalid("{"+strings.Join(ways, ", ")+"}", required))
	}
	return errs
}

// validateBindingConditions validates the conditions of a device for the binding of pods. Those of
// success and of failure come together and differ.
func validateBindingConditions(success, failure []string, p *validate.Path) (errs field.ErrorList) {
	successPath, failurePath := p.Child("bindingConditions"), p.Child("bindingFailureConditions")
	if len(success) <= resourcev1.BindingConditionsMaxSize {
		for i, c := range success {
			errs = append(errs, validate.LabelName(c, successPath.Index(i))...)
		}
	}
	if len(failure) <= resourcev1.BindingFailureConditionsMaxSize {
		for i, c := range failure {
			errs = append(errs, validate.LabelName(c, failurePath.Index(i))...)
		}
	}
	isSuccess, isFailure := make(map[string]bool), make(map[string]bool)
	for i, c := range success {
		if isSuccess[c] {
			errs = append(errs, successPath.Index(i).Duplicate(c))
		}
		isSuccess[c] = true
	}
	for i, c := range failure {
		if isFailure[c] {
			errs = append(errs, failurePath.Index(i).Duplicate(c))
		}
		isFailure[c] = true
		if isSuccess[c] {
			errs = append(errs, failurePath.Index(i).Invalid(c, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	if len(success) == 0 && len(failure) > 0 {
		errs = append(errs, successPath.Invalid(success, "bindingConditions are required to use bindingFailureConditions"))
	}
	if len(failure) == 0 && len(success) > 0 {
		errs = append(errs, failurePath.Invalid(failure, "bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}
