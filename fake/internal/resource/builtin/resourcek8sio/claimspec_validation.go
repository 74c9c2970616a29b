package resourcek8sio

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags limits the numbers of requests, constraints, configurations and
// references, and requires that they differ. Longer lists are not validated here.

// validateClaimSpec validates the spec of a claim or a template.
func validateClaimSpec(s *resourcev1.ResourceClaimSpec, p *validate.Path) (errs field.ErrorList) {
	d, devices := &s.Devices, p.Child("devices")
	if len(d.Requests) <= resourcev1.DeviceRequestsMaxSize {
		for i := range d.Requests {
			errs = append(errs, validateRequest(&d.Requests[i], devices.Child("requests").Index(i))...)
		}
	}
	names := requestNames(d.Requests)
	if len(d.Constraints) <= resourcev1.DeviceConstraintsMaxSize {
		for i := range d.Constraints {
			errs = append(errs, validateConstraint(&d.Constraints[i], names, devices.Child("constraints").Index(i))...)
		}
	}
	if len(d.Config) <= resourcev1.DeviceConfigMaxSize {
		for i := range d.Config {
			at := devices.Child("config").Index(i)
			errs = append(errs, validateRequestRefs(d.Config[i].Requests, names, at.Child("requests"))...)
			errs = append(errs, validateConfiguration(&d.Config[i].DeviceConfiguration, false, at)...)
		}
	}
	return errs
}

// validateRequest requires either a request for devices or alternatives.
func validateRequest(r *resourcev1.DeviceRequest, p *validate.Path) field.ErrorList {
	errs := validate.DNSLabel(r.Name, p.Child("name"))
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		return append(errs, p.Required("exactly one of `exactly` or `firstAvailable` is required"))
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		return append(errs, p.Invalid(nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
	case r.Exactly != nil:
		return append(errs, validateExactRequest(r.Exactly, p.Child("exactly"))...)
	}
	if len(r.FirstAvailable) > resourcev1.FirstAvailableDeviceRequestMaxSize {
		return errs
	}
	for i := range r.FirstAvailable {
		s, at := &r.FirstAvailable[i], p.Child("firstAvailable").Index(i)
		errs = append(errs, validate.DNSLabel(s.Name, at.Child("name"))...)
		errs = append(errs, validateSelectors(s.Selectors, at.Child("selectors"))...)
		errs = append(errs, validateCount(s.AllocationMode, s.Count, at.Child("count"))...)
		errs = append(errs, validateTolerations(s.Tolerations, at.Child("tolerations"))...)
	}
	return errs
}

func validateExactRequest(r *resourcev1.ExactDeviceRequest, p *validate.Path) (errs field.ErrorList) {
	if r.DeviceClassName == "" {
		errs = append(errs, p.Child("deviceClassName").Required(""))
	} else {
		errs = append(errs, validate.DNSSubdomain(r.DeviceClassName, p.Child("deviceClassName"))...)
	}
	errs = append(errs, validateSelectors(r.Selectors, p.Child("selectors"))...)
	errs = append(errs, validateCount(r.AllocationMode, r.Count, p.Child("count"))...)
	return append(errs, validateTolerations(r.Tolerations, p.Child("tolerations"))...)
}

// validateCount validates the number of devices for a mode. The validation of tags refuses unknown
// modes.
func validateCount(mode resourcev1.DeviceAllocationMode, count int64, p *validate.Path) field.ErrorList {
	switch {
	case mode == resourcev1.DeviceAllocationModeAll && count != 0:
		return field.ErrorList{p.Invalid(count, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode))}
	case mode == resourcev1.DeviceAllocationModeExactCount && count <= 0:
		return field.ErrorList{p.Invalid(count, "must be greater than zero")}
	}
	return nil
}

// validateTolerations validates the values of tolerations. The validation of tags validates their
// keys, operators and effects.
func validateTolerations(tolerations []resourcev1.DeviceToleration, p *validate.Path) (errs field.ErrorList) {
	for i, t := range tolerations {
		value := p.Index(i).Child("value")
		switch t.Operator {
		case resourcev1.DeviceTolerationOpExists:
			if t.Value != "" {
				errs = append(errs, value.Invalid(t.Value, "must be empty for operator `Exists`"))
			}
		case resourcev1.DeviceTolerationOpEqual:
			errs = append(errs, validate.Messages(t.Value, validation.IsValidLabelValue(t.Value), value)...)
		}
	}
	return errs
}

// requestNames returns the names of requests, and those of alternatives as REQUEST/ALTERNATIVE.
func requestNames(requests []resourcev1.DeviceRequest) map[string]bool {
	names := make(map[string]bool)
	for _, r := range requests {
		names[r.Name] = true
		for _, alternative := range r.FirstAvailable {
			names[r.Name+"/"+alternative.Name] = true
		}
	}
	return names
}

func validateConstraint(c *resourcev1.DeviceConstraint, names map[string]bool, p *validate.Path) field.ErrorList {
	errs := validateRequestRefs(c.Requests, names, p.Child("requests"))
	if c.MatchAttribute == nil && c.DistinctAttribute == nil {
		errs = append(errs, p.Required(`exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
	}
	return errs
}

func validateRequestRefs(refs []string, names map[string]bool, p *validate.Path) (errs field.ErrorList) {
	if len(refs) > resourcev1.DeviceRequestsMaxSize {
		return nil
	}
	for i, ref := range refs {
		errs = append(errs, validateRequestRef(ref, names, p.Index(i))...)
	}
	return errs
}

// validateRequestRef validates the name of a request or of one of its alternatives.
func validateRequestRef(ref string, names map[string]bool, p *validate.Path) (errs field.ErrorList) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	request, alternative, found := strings.Cut(ref, "/")
	if strings.Contains(alternative, "/") {
		return field.ErrorList{p.Invalid(ref, detail)}
	}
	errs = validate.DNSLabel(request, p)
	if found {
		errs = append(errs, validate.DNSLabel(alternative, p)...)
	}
	if !names[ref] {
		errs = append(errs, p.Invalid(ref, detail))
	}
	return errs
}
