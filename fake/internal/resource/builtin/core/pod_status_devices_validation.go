package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateResourceClaimStatuses validates the claims that have been created for a pod.
func validateResourceClaimStatuses(statuses []corev1.PodResourceClaimStatus, claims []corev1.PodResourceClaim, p *validate.Path) (errs field.ErrorList) {
	if len(statuses) == 0 {
		return nil
	}
	var inSpec, names smallSet[string]
	for i := range claims {
		inSpec.add(claims[i].Name)
	}
	for i := range statuses {
		s, at := &statuses[i], p.Index(i)
		if !inSpec.has(s.Name) {
			errs = append(errs, at.Child("name").Invalid(s.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if !names.add(s.Name) {
			errs = append(errs, at.Child("name").Duplicate(s.Name))
		}
		if s.ResourceClaimName != nil {
			errs = append(errs, validate.DNSSubdomain(*s.ResourceClaimName, at.Child("resourceClaimName"))...)
		}
	}
	return errs
}

// validateExtendedResourceClaimStatus validates the claim that has been created for the extended
// resources of a pod, which may be nil.
func validateExtendedResourceClaimStatus(status *corev1.PodExtendedResourceClaimStatus, spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if status == nil {
		return nil
	}
	mappings := p.Child("requestMappings")
	if len(status.RequestMappings) == 0 {
		errs = append(errs, mappings.Required("at least one request mapping is required"))
	}
	containers := containersByName(spec.InitContainers)
	for name, c := range containersByName(spec.Containers) {
		containers[name] = c
	}
	var seen smallSet[corev1.ContainerExtendedResourceRequest]
	for i, m := range status.RequestMappings {
		at := mappings.Index(i)
		if c := containers[m.ContainerName]; c == nil {
			errs = append(errs, at.Child("containerName").Invalid(m.ContainerName, "must match the name of an entry in spec.initContainers.name or spec.containers.name"))
		} else if _, ok := c.Resources.Requests[corev1.ResourceName(m.ResourceName)]; !ok {
			errs = append(errs, at.Child("resourceName").Invalid(m.ResourceName,
				"must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests"))
		}
		errs = append(errs, validate.DNSLabel(m.RequestName, p.Child("requestName"))...)
		if !seen.add(m) {
			errs = append(errs, at.Child("containerName").Duplicate(m.ContainerName),
				at.Child("resourceName").Duplicate(m.ResourceName), at.Child("requestName").Duplicate(m.RequestName))
		}
	}
	if status.ResourceClaimName == "" {
		return append(errs, p.Child("resourceClaimName").Required(""))
	}
	return append(errs, validate.DNSSubdomain(status.ResourceClaimName, p.Child("resourceClaimName"))...)
}

// validateResourceHealth validates the health of the devices of containers. Statuses of containers
// that do not exist are ignored.
func validateResourceHealth(statuses []corev1.ContainerStatus, containers []corev1.Container, status *corev1.PodStatus, p *validate.Path) (errs field.ErrorList) {
	var byName map[string]*corev1.Container
	for i := range statuses {
		if len(statuses[i].AllocatedResourcesStatus) == 0 {
			continue
		}
		if byName == nil {
			byName = containersByName(containers)
		}
		c := byName[statuses[i].Name]
		claims := claimResourceNames(c, status.ExtendedResourceClaimStatus)
		for j := range statuses[i].AllocatedResourcesStatus {
			s, at := &statuses[i].AllocatedResourcesStatus[j], p.Index(i).Child("allocatedResourcesStatus").Index(j)
			if c != nil {
				errs = append(errs, validateHealthResourceName(s.Name, c, claims, at.Child("name"))...)
			}
			errs = append(errs, validateDeviceHealth(s.Resources, at.Child("resources"))...)
		}
	}
	return errs
}

// claimResourceNames returns the names that the resource statuses of a container, which may be nil,
// can have for claims.
func claimResourceNames(c *corev1.Container, extended *corev1.PodExtendedResourceClaimStatus) sets.Set[corev1.ResourceName] {
	if c == nil {
		return nil
	}
	names := sets.New[corev1.ResourceName]()
	for i := range c.Resources.Claims {
		claim := &c.Resources.Claims[i]
		names.Insert(claimResourceName(claim.Name, claim.Request))
	}
	if extended == nil {
		return names
	}
	for _, m := range extended.RequestMappings {
		quantity := c.Resources.Requests[corev1.ResourceName(m.ResourceName)]
		if m.ContainerName == c.Name && m.RequestName != "" && !quantity.IsZero() {
			names.Insert(claimResourceName(extended.ResourceClaimName, m.RequestName))
		}
	}
	return names
}

func claimResourceName(claim, request string) corev1.ResourceName {
	if request == "" {
		return corev1.ResourceName(resourceStatusClaimPrefix + claim)
	}
	return corev1.ResourceName(resourceStatusClaimPrefix + claim + "/" + request)
}

// validateHealthResourceName validates that a container requests a resource. claims has the names
// for its claims.
func validateHealthResourceName(name corev1.ResourceName, c *corev1.Container, claims sets.Set[corev1.ResourceName], p *validate.Path) field.ErrorList {
	if strings.HasPrefix(string(name), resourceStatusClaimPrefix) {
		if claims.Has(name) {
			return nil
		}
		return field.ErrorList{p.Invalid(name, "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' "+
			"when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty")}
	}
	if _, ok := c.Resources.Requests[name]; ok {
		return nil
	}
	return field.ErrorList{p.Invalid(name, "must match one of the container's resource requests")}
}

// validateDeviceHealth validates the health of devices, of which each is listed once.
func validateDeviceHealth(devices []corev1.ResourceHealth, p *validate.Path) (errs field.ErrorList) {
	var ids smallSet[corev1.ResourceID]
	for i := range devices {
		d, at := &devices[i], p.Index(i)
		switch d.Health {
		case corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown:
		default:
			errs = append(errs, validate.NotSupported(at.Child("health"), d.Health,
				corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown))
		}
		if d.Message != nil {
			switch length := len(*d.Message); {
			case length == 0:
				errs = append(errs, at.Child("message").Required("must be non-empty if specified"))
			case length > corev1.ResourceHealthMessageMaxLength:
				errs = append(errs, at.Child("message").TooLong(corev1.ResourceHealthMessageMaxLength))
			}
		}
		if !ids.add(d.ResourceID) {
			errs = append(errs, at.Child("resourceID").Duplicate(d.ResourceID))
		}
	}
	return errs
}
