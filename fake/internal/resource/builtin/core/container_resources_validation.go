package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateContainerResources validates the resources of a container. claims are those of the pod.
func validateContainerResources(r *corev1.ResourceRequirements, claims *podClaims, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validateResourceRequirements(r, resourcesOfContainer, opts, p)
	return append(errs, validateContainerClaims(r.Claims, claims, p.Child("claims"))...)
}

// resourcesOwner is what requests resources.
type resourcesOwner int

const (
	resourcesOfContainer resourcesOwner = iota
	resourcesOfPod                      // the pod as a whole
)

// validateResourceRequirements validates requests and limits.
func validateResourceRequirements(r *corev1.ResourceRequirements, owner resourcesOwner, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	for name := range r.Limits {
		errs = append(errs, validateResourceLimit(r, name, owner, opts, p)...)
	}
	for name := range r.Requests {
		errs = append(errs, validateResourceRequest(r, name, owner, opts, p)...)
	}
	if len(errs) > 1 { // again, in the order of the names
		errs = nil
		for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
			errs = append(errs, validateResourceLimit(r, name, owner, opts, p)...)
		}
		for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
			errs = append(errs, validateResourceRequest(r, name, owner, opts, p)...)
		}
	}
	if hasHugePagesOnly(r) {
		errs = append(errs, p.Forbidden("HugePages require cpu or memory"))
	}
	return errs
}

// hasHugePagesOnly reports whether there are huge pages, but neither CPU nor memory.
func hasHugePagesOnly(r *corev1.ResourceRequirements) bool {
	hugePages := false
	for _, list := range [...]corev1.ResourceList{r.Limits, r.Requests} {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				return false
			}
			hugePages = hugePages || isHugePages(name)
		}
	}
	return hugePages
}

func validateResourceLimit(r *corev1.ResourceRequirements, name corev1.ResourceName, owner resourcesOwner, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	limit, at := r.Limits[name], p.Child("limits").Key(string(name))
	errs := validateRequestedResource(name, limit, owner, at)
	return append(errs, validateHugePages(name, limit, opts, at)...)
}

func validateResourceRequest(r *corev1.ResourceRequirements, name corev1.ResourceName, owner resourcesOwner, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	request, at := r.Requests[name], p.Child("requests").Key(string(name))
	errs := validateRequestedResource(name, request, owner, at)
	switch limit, ok := r.Limits[name]; {
	case !ok && !isOvercommitAllowed(name):
		errs = append(errs, p.Child("limits").Required("Limit must be set for non overcommitable resources"))
	case !ok:
	case request.Cmp(limit) != 0 && !isOvercommitAllowed(name):
		errs = append(errs, p.Child("requests").Invalid(request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
	case request.Cmp(limit) > 0:
		errs = append(errs, p.Child("requests").Invalid(request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
	}
	return append(errs, validateHugePages(name, request, opts, at)...)
}

// validateRequestedResource validates the name of a resource and how much of it is requested.
func validateRequestedResource(name corev1.ResourceName, q resource.Quantity, owner resourcesOwner, p *validate.Path) (errs field.ErrorList) {
	if owner == resourcesOfPod {
		errs = validatePodResourceName(name, p)
	} else {
		errs = ValidateContainerResourceName(name, p)
	}
	return append(errs, validateResourceQuantity(name, q, p)...)
}

// validatePodResourceName validates the name of a resource that a pod requests as a whole
// (KEP-2837).
func validatePodResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	errs := validateResourceName(name, p)
	if len(errs) == 0 && !resourcehelper.IsSupportedPodLevelResource(name) {
		supported := slices.Sorted(maps.Keys(resourcehelper.SupportedPodLevelResources()))
		errs = append(errs, validate.NotSupported(p, name, supported...))
	}
	return errs
}

// validateHugePages validates that a quantity of huge pages has no parts of pages.
func validateHugePages(name corev1.ResourceName, q resource.Quantity, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	if !isHugePages(name) || opts.anyHugePages || isMultipleOfPageSize(name, q) {
		return nil
	}
	return field.ErrorList{p.Invalid(q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))}
}

// isMultipleOfPageSize reports whether a quantity is a multiple of the page size in the name of a
// resource.
func isMultipleOfPageSize(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	return err == nil && size.Sign() > 0 && isInteger(size) && q.Value()%size.Value() == 0
}

// validateContainerClaims validates the references of a container to the resource claims of its
// pod, either to a claim as a whole or to some of its requests.
func validateContainerClaims(refs []corev1.ResourceClaim, claims *podClaims, p *validate.Path) (errs field.ErrorList) {
	var (
		seen     smallSet[corev1.ResourceClaim]
		requests map[string]int // the number of references to requests of a claim
	)
	for i, ref := range refs {
		at := p.Index(i)
		if ref.Name == "" {
			errs = append(errs, at.Required(""))
			continue
		}
		switch {
		case seen.has(corev1.ResourceClaim{Name: ref.Name}):
			errs = append(errs, at.Duplicate(ref.Name))
		case ref.Request == "":
			for range requests[ref.Name] {
				errs = append(errs, at.Duplicate(ref.Name))
			}
			seen.add(ref)
		default:
			errs = append(errs, validate.DNSLabel(ref.Request, at.Child("request"))...)
			if !seen.add(ref) {
				errs = append(errs, at.Duplicate(ref.Name+"/"+ref.Request))
				break
			}
			if requests == nil {
				requests = make(map[string]int)
			}
			requests[ref.Name]++
		}
		errs = append(errs, claims.validateName(ref.Name, at)...)
	}
	return errs
}

// podClaims are the resource claims of a pod, which its containers refer to.
type podClaims struct {
	names    smallSet[string]
	unknown  string // the text for a reference to a claim that the pod does not have
	reported int    // the size of all texts for such references
}

// maxUnknownClaims is the maximum size of the texts for unknown claims in a pod, each of which has
// the names of all claims. Otherwise they would be a multiple of the size of the pod. A server
// lists all.
const maxUnknownClaims = 10 << 20

// validateName validates that the pod has a claim with a name.
func (c *podClaims) validateName(name string, p *validate.Path) field.ErrorList {
	if c.names.has(name) || c.reported > maxUnknownClaims {
		return nil
	}
	if c.unknown == "" {
		c.unknown = unknownClaim(c.names.values())
	}
	c.reported += len(c.unknown)
	err := p.NotFound(name)
	err.Detail = c.unknown
	return field.ErrorList{err}
}

// unknownClaim returns the text for a reference to a claim that the pod does not have.
func unknownClaim(names []string) string {
	const text = "must be one of the names in pod.spec.resourceClaims"
	if len(names) == 0 {
		return text + " which is empty"
	}
	slices.Sort(names)
	return text + ": " + strings.Join(names, ", ")
}

var (
	resizeResources = [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	resizePolicies  = [...]corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}
)

// validateResizePolicy validates what happens to a container when its resources change.
func validateResizePolicy(policies []corev1.ContainerResizePolicy, ofPod corev1.RestartPolicy, p *validate.Path) (errs field.ErrorList) {
	var names smallSet[corev1.ResourceName]
	for i := range policies {
		name, policy := policies[i].ResourceName, policies[i].RestartPolicy
		if !names.add(name) {
			errs = append(errs, p.Index(i).Duplicate(name))
		}
		switch {
		case name == "":
			errs = append(errs, p.Required(""))
		case !slices.Contains(resizeResources[:], name):
			errs = append(errs, validate.NotSupported(p, name, resizeResources[:]...))
		}
		switch {
		case policy == "":
			errs = append(errs, p.Required(""))
		case !slices.Contains(resizePolicies[:], policy):
			errs = append(errs, validate.NotSupported(p, policy, resizePolicies[:]...))
		}
		if ofPod == corev1.RestartPolicyNever && policy != corev1.NotRequired {
			errs = append(errs, p.Invalid(policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

// validateNoRestartWhenResized validates that an init container that runs before the others does
// not restart.
func validateNoRestartWhenResized(policies []corev1.ContainerResizePolicy, p *validate.Path) (errs field.ErrorList) {
	for i := range policies {
		if policy := policies[i].RestartPolicy; policy == corev1.RestartContainer {
			errs = append(errs, p.Index(i).Child("restartPolicy").Invalid(policy,
				"must not be set to 'RestartContainer' for non-sidecar initContainers"))
		}
	}
	return errs
}
