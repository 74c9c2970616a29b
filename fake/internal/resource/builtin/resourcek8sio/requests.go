package resourcek8sio

import resourcev1 "k8s.io/api/resource/v1"

// setRequestDefaults sets the defaults of the requests of claims and templates.
func setRequestDefaults(requests []resourcev1.DeviceRequest) {
	for i := range requests {
		if exact := requests[i].Exactly; exact != nil {
			setAllocationDefaults(&exact.AllocationMode, &exact.Count)
			setTolerationDefaults(exact.Tolerations)
		}
		alternatives := requests[i].FirstAvailable
		for j := range alternatives {
			setAllocationDefaults(&alternatives[j].AllocationMode, &alternatives[j].Count)
			setTolerationDefaults(alternatives[j].Tolerations)
		}
	}
}

func setAllocationDefaults(mode *resourcev1.DeviceAllocationMode, count *int64) {
	if *mode == "" {
		*mode = resourcev1.DeviceAllocationModeExactCount
	}
	if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
		*count = 1
	}
}

func setTolerationDefaults(tolerations []resourcev1.DeviceToleration) {
	for i := range tolerations {
		if tolerations[i].Operator == "" {
			tolerations[i].Operator = resourcev1.DeviceTolerationOpEqual
		}
	}
}

// dropDerivedAttributes clears the fields of the feature gate DRADerivedAttributes, which is off,
// unless the stored requests have them.
func dropDerivedAttributes(requests, old []resourcev1.DeviceRequest) {
	if hasDerivedAttributes(old) {
		return
	}
	for i := range requests {
		if exact := requests[i].Exactly; exact != nil {
			exact.DerivedAttributes = nil
		}
		for j := range requests[i].FirstAvailable {
			requests[i].FirstAvailable[j].DerivedAttributes = nil
		}
	}
}

func hasDerivedAttributes(requests []resourcev1.DeviceRequest) bool {
	for _, r := range requests {
		if r.Exactly != nil && len(r.Exactly.DerivedAttributes) > 0 {
			return true
		}
		for _, alternative := range r.FirstAvailable {
			if len(alternative.DerivedAttributes) > 0 {
				return true
			}
		}
	}
	return false
}
