package resourcek8sio

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateResourceSlice(s *resourcev1.ResourceSlice) field.ErrorList {
	return validateSliceSpec(&s.Spec, nil)
}

func validateResourceSliceUpdate(s, old *resourcev1.ResourceSlice) field.ErrorList {
	return validateSliceSpec(&s.Spec, &old.Spec)
}

// resourceSliceWarnings warns of names of drivers with capital letters.
func resourceSliceWarnings(s *resourcev1.ResourceSlice) []string {
	if s.Spec.Driver == strings.ToLower(s.Spec.Driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", s.Spec.Driver)}
}

func resourceSliceUpdateWarnings(s, _ *resourcev1.ResourceSlice) []string {
	return resourceSliceWarnings(s)
}

// validateSliceSpec validates the spec of a slice, old is nil for a new one.
func validateSliceSpec(s, old *resourcev1.ResourceSliceSpec) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := core.ValidateCSIDriverName(s.Driver, p.Child("driver"))
	errs = append(errs, validatePool(&s.Pool, p.Child("pool"))...)
	if old != nil {
		errs = append(errs, validate.Immutable(s.Pool.Name, old.Pool.Name, p.Child("pool").Child("name"))...)
		errs = append(errs, validate.Immutable(s.Driver, old.Driver, p.Child("driver"))...)
		errs = append(errs, validate.Immutable(s.NodeName, old.NodeName, p.Child("nodeName"))...)
	}
	errs = append(errs, validateSliceNodes(s, p)...)
	if s.SharedCounters != nil && s.Devices != nil {
		errs = append(errs, p.Invalid("", "only one of `sharedCounters` or `devices` is allowed"))
	}
	errs = append(errs, validateDevices(s, old, p.Child("devices"))...)
	if len(s.SharedCounters) <= resourcev1.ResourceSliceMaxCounterSets {
		for i, set := range s.SharedCounters {
			at := p.Child("sharedCounters").Index(i).Child("counters")
			errs = append(errs, validateCounters(set.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, at)...)
		}
	}
	return errs
}

func validatePool(pool *resourcev1.ResourcePool, p *validate.Path) field.ErrorList {
	errs := validatePoolName(pool.Name, p.Child("name"))
	if pool.ResourceSliceCount <= 0 {
		errs = append(errs, p.Child("resourceSliceCount").Invalid(pool.ResourceSliceCount, "must be greater than zero"))
	}
	if pool.Generation < 0 {
		errs = append(errs, p.Child("generation").Invalid(pool.Generation, "must be greater than or equal to zero"))
	}
	return errs
}

// validateCounters limits the number of counters. The validation of tags validates their names.
func validateCounters(counters map[string]resourcev1.Counter, maxCounters int, p *validate.Path) field.ErrorList {
	if len(counters) <= maxCounters {
		return nil
	}
	return field.ErrorList{p.TooMany(len(counters), maxCounters)}
}

// nodeFields are the fields that a slice and a device have for nodes.
type nodeFields struct {
	name     *string
	selector *corev1.NodeSelector
	all      *bool
}

// validateSliceNodes requires that a slice states in one way which nodes have its devices.
func validateSliceNodes(s *resourcev1.ResourceSliceSpec, p *validate.Path) field.ErrorList {
	const required = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	ways, errs := validateNodes(nodeFields{s.NodeName, s.NodeSelector, s.AllNodes}, true, p)
	if per := s.PerDeviceNodeSelection; per != nil && *per {
		ways = append(ways, "`perDeviceNodeSelection`")
	} else if per != nil {
		errs = append(errs, p.Child("perDeviceNodeSelection").Invalid(*per, "must be either unset or set to true"))
	}
	switch len(ways) {
	case 0:
		errs = append(errs, p.Required(required))
	case 1:
	default:
		errs = append(errs, p.Invalid("{"+strings.Join(ways, ", ")+"}", required+", but multiple fields are set"))
	}
	return errs
}

// validateNodes validates the fields for nodes of a slice or of a device. It returns the names of
// those that are set. The selector of a slice must have one term.
func validateNodes(f nodeFields, ofSlice bool, p *validate.Path) (ways []string, errs field.ErrorList) {
	switch {
	case f.name == nil:
	case *f.name != "":
		ways = append(ways, "`nodeName`")
		errs = append(errs, validate.DNSSubdomain(*f.name, p.Child("nodeName"))...)
	case ofSlice:
		errs = append(errs, p.Child("nodeName").Invalid(*f.name, "must be either unset or set to a non-empty string"))
	default:
		errs = append(errs, p.Child("nodeName").Invalid(*f.name, "must not be empty"))
	}
	if f.selector != nil {
		ways = append(ways, "`nodeSelector`")
		errs = append(errs, core.ValidateNodeSelector(f.selector, false, p.Child("nodeSelector"))...)
		if terms := f.selector.NodeSelectorTerms; ofSlice && len(terms) != 1 {
			errs = append(errs, p.Child("nodeSelector").Child("nodeSelectorTerms").Invalid(terms, "must have exactly one node selector term"))
		}
	}
	if f.all != nil && *f.all {
		ways = append(ways, "`allNodes`")
	} else if f.all != nil {
		errs = append(errs, p.Child("allNodes").Invalid(*f.all, "must be either unset or set to true"))
	}
	return ways, errs
}

// validateDevices validates the devices of a slice, of which there may be fewer if one has taints
// or consumes counters. The names of devices differ.
func validateDevices(s, old *resourcev1.ResourceSliceSpec, p *validate.Path) (errs field.ErrorList) {
	maxDevices := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(s.Devices, func(d resourcev1.Device) bool { return len(d.Taints) > 0 || len(d.ConsumesCounters) > 0 }) {
		maxDevices = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	if len(s.Devices) > maxDevices {
		return field.ErrorList{p.TooMany(len(s.Devices), maxDevices)}
	}
	before := make(map[string]*resourcev1.Device)
	if old != nil {
		for i := range slices.Backward(old.Devices) {
			before[old.Devices[i].Name] = &old.Devices[i]
		}
	}
	ownNodes := s.PerDeviceNodeSelection != nil && *s.PerDeviceNodeSelection
	for i := range s.Devices {
		d := &s.Devices[i]
		errs = append(errs, validateDevice(d, before[d.Name], ownNodes, p.Index(i))...)
	}
	seen := make(map[string]bool)
	for i := range s.Devices {
		name := s.Devices[i].Name
		if seen[name] {
			errs = append(errs, p.Index(i).Duplicate(name))
		}
		seen[name] = true
	}
	return errs
}
