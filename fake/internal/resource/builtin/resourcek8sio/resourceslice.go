package resourcek8sio

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func setResourceSliceDefaults(s *resourcev1.ResourceSlice) {
	for i := range s.Spec.Devices {
		for j := range s.Spec.Devices[i].Taints {
			setTaintDefaults(&s.Spec.Devices[i].Taints[j])
		}
	}
}

func prepareResourceSliceForCreate(_ context.Context, s *resourcev1.ResourceSlice) {
	dropDisabledSliceFields(s, &resourcev1.ResourceSlice{})
}

// prepareResourceSliceForUpdate counts a change of the spec in the generation before fields are
// dropped.
func prepareResourceSliceForUpdate(_ context.Context, s, old *resourcev1.ResourceSlice) {
	if !equality.Semantic.DeepEqual(s.Spec, old.Spec) {
		s.Generation = old.Generation + 1
	}
	dropDisabledSliceFields(s, old)
}

// dropDisabledSliceFields clears the fields of feature gates that are off, each unless old has it:
// DRAPartitionableDevicesType, DRAOptionalNodeOperations, DRANodeAllocatableResources,
// DRAListTypeAttributes and DRADeviceCompatibilityGroups.
func dropDisabledSliceFields(s, old *resourcev1.ResourceSlice) {
	if old.Spec.PartitionTypeAttribute == nil {
		s.Spec.PartitionTypeAttribute = nil
	}
	if len(old.Spec.SkipNodeOperations) == 0 {
		s.Spec.SkipNodeOperations = nil
	}
	if !slices.ContainsFunc(old.Spec.Devices, hasNodeAllocatableResources) {
		for i := range s.Spec.Devices {
			s.Spec.Devices[i].NodeAllocatableResources = nil
		}
	}
	if !slices.ContainsFunc(old.Spec.Devices, hasListAttributes) {
		for i := range s.Spec.Devices {
			dropListAttributes(s.Spec.Devices[i].Attributes)
		}
	}
	if !slices.ContainsFunc(old.Spec.Devices, hasCompatibilityGroups) {
		for i := range s.Spec.Devices {
			for j := range s.Spec.Devices[i].ConsumesCounters {
				s.Spec.Devices[i].ConsumesCounters[j].CompatibilityGroups = nil
			}
		}
	}
}

func hasNodeAllocatableResources(d resourcev1.Device) bool {
	return len(d.NodeAllocatableResources) > 0
}

func hasListAttributes(d resourcev1.Device) bool {
	for _, a := range d.Attributes {
		if isListAttribute(a) {
			return true
		}
	}
	return false
}

func isListAttribute(a resourcev1.DeviceAttribute) bool {
	return a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil
}

func dropListAttributes(attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) {
	for name, a := range attributes {
		if isListAttribute(a) {
			a.IntValues, a.BoolValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			attributes[name] = a
		}
	}
}

func hasCompatibilityGroups(d resourcev1.Device) bool {
	return slices.ContainsFunc(d.ConsumesCounters, func(c resourcev1.DeviceCounterConsumption) bool {
		return len(c.CompatibilityGroups) > 0
	})
}
