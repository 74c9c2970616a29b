package resourcek8sio

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags refuses changes of an allocation, and validates the names of drivers and
// pools, the sources of configurations, and the sizes and duplicates of most lists.

func validateResourceClaimStatusUpdate(c, old *resourcev1.ResourceClaim) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("status")
	status := &c.Status
	reserved := p.Child("reservedFor")
	if len(status.ReservedFor) <= resourcev1.ResourceClaimReservedForMaxSize {
		for i := range status.ReservedFor {
			errs = append(errs, validateConsumer(&status.ReservedFor[i], reserved.Index(i))...)
		}
	}
	ids := make(map[deviceID]bool)
	for _, r := range allocated(c) {
		ids[allocatedID(&r)] = true
	}
	for i := range status.Devices {
		errs = append(errs, validateDeviceStatus(&status.Devices[i], ids, p.Child("devices").Index(i))...)
	}
	switch {
	case len(status.ReservedFor) > 0 && status.Allocation == nil:
		errs = append(errs, reserved.Forbidden("may not be specified when `allocated` is not set"))
	case c.DeletionTimestamp != nil && hasNewConsumer(status.ReservedFor, old.Status.ReservedFor):
		errs = append(errs, reserved.Forbidden("new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	if status.Allocation != nil && old.Status.Allocation == nil {
		errs = append(errs, validateAllocation(status.Allocation, requestNames(c.Spec.Devices.Requests), p.Child("allocation"))...)
	}
	return errs
}

func validateConsumer(r *resourcev1.ResourceClaimConsumerReference, p *validate.Path) (errs field.ErrorList) {
	if r.Resource == "" {
		errs = append(errs, p.Child("resource").Required(""))
	}
	if r.Name == "" {
		errs = append(errs, p.Child("name").Required(""))
	}
	if r.UID == "" {
		errs = append(errs, p.Child("uid").Required(""))
	}
	return errs
}

// hasNewConsumer reports whether there is a consumer that is not in old.
func hasNewConsumer(consumers, old []resourcev1.ResourceClaimConsumerReference) bool {
	before := make(map[resourcev1.ResourceClaimConsumerReference]bool, len(old))
	for _, c := range old {
		before[c] = true
	}
	return slices.ContainsFunc(consumers, func(c resourcev1.ResourceClaimConsumerReference) bool { return !before[c] })
}

// validateDeviceStatus validates the status of a device that is one of allocated.
func validateDeviceStatus(s *resourcev1.AllocatedDeviceStatus, allocated map[deviceID]bool, p *validate.Path) field.ErrorList {
	errs := core.ValidateCSIDriverName(s.Driver, p.Child("driver"))
	errs = append(errs, validatePoolName(s.Pool, p.Child("pool"))...)
	errs = append(errs, validate.DNSLabel(s.Device, p.Child("device"))...)
	if id := statusID(s); !allocated[id] {
		errs = append(errs, p.Invalid(id, "must be an allocated device in the claim"))
	}
	conditions := p.Child("conditions")
	if n := len(s.Conditions); n > resourcev1.AllocatedDeviceStatusMaxConditions {
		errs = append(errs, conditions.TooMany(n, resourcev1.AllocatedDeviceStatusMaxConditions))
	}
	errs = append(errs, metav1validation.ValidateConditions(s.Conditions, conditions.Field())...)
	if s.Data != nil && len(s.Data.Raw) > 0 {
		errs = append(errs, validateRawObject(s.Data, resourcev1.AllocatedDeviceStatusDataMaxLength, p.Child("data"))...)
	}
	if n := s.NetworkData; n != nil && len(n.IPs) <= resourcev1.NetworkDeviceDataMaxIPs {
		for i, ip := range n.IPs {
			errs = append(errs, validation.IsValidInterfaceAddress(p.Child("networkData").Child("ips").Index(i).Field(), ip)...)
		}
	}
	return errs
}

// validateAllocation validates a new allocation for requests with names.
func validateAllocation(a *resourcev1.AllocationResult, names map[string]bool, p *validate.Path) (errs field.ErrorList) {
	if len(a.Devices.Results) <= resourcev1.AllocationResultsMaxSize {
		for i := range a.Devices.Results {
			r, at := &a.Devices.Results[i], p.Child("devices").Child("results").Index(i)
			errs = append(errs, validateRequestRef(r.Request, names, at.Child("request"))...)
			errs = append(errs, validate.DNSLabel(r.Device, at.Child("device"))...)
			errs = append(errs, validateBindingConditions(r.BindingConditions, r.BindingFailureConditions, at)...)
			errs = append(errs, validateTolerations(r.Tolerations, at.Child("tolerations"))...)
		}
	}
	if len(a.Devices.Config) <= 2*resourcev1.DeviceConfigMaxSize { // those of the class and those of the claim
		for i := range a.Devices.Config {
			c, at := &a.Devices.Config[i], p.Child("devices").Child("config").Index(i)
			errs = append(errs, validateRequestRefs(c.Requests, names, at.Child("requests"))...)
			errs = append(errs, validateConfiguration(&c.DeviceConfiguration, false, at)...)
		}
	}
	if a.NodeSelector != nil {
		errs = append(errs, core.ValidateNodeSelector(a.NodeSelector, false, p.Child("nodeSelector"))...)
	}
	return errs
}
