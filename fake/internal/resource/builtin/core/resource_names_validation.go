package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateResourceName validates the name of a resource of any kind.
func validateResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	switch {
	case isNamedResource(name):
		return nil
	case len(validate.LabelName(string(name), p)) > 0:
		return validate.Messages(name, validation.IsQualifiedName(string(name)), p)
	case !strings.Contains(string(name), "/") && !isQuotaResource(name):
		return field.ErrorList{p.Invalid(name, "must be a standard resource type or fully qualified")}
	}
	return nil
}

// ValidateContainerResourceName validates the name of a resource that containers request.
func ValidateContainerResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	errs := validateResourceName(name, p)
	switch {
	case !strings.Contains(string(name), "/"):
		if !isContainerResource(name) {
			errs = append(errs, p.Invalid(name, "must be a standard resource for containers"))
		}
	case !isNativeResource(name) && !isExtendedResource(name):
		errs = append(errs, p.Invalid(name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// validateQuotaResourceName validates the name of a resource that a ResourceQuota limits.
func validateQuotaResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	errs := validateResourceName(name, p)
	if !strings.Contains(string(name), "/") && !isQuotaResource(name) {
		errs = append(errs, p.Invalid(name, "must be a standard resource for quota"))
	}
	return errs
}

// validateResourceQuantity validates how much of a resource is requested.
func validateResourceQuantity(name corev1.ResourceName, q resource.Quantity, p *validate.Path) (errs field.ErrorList) {
	if q.Sign() < 0 {
		errs = append(errs, p.Invalid(q.String(), apivalidation.IsNegativeErrorMsg))
	}
	if isIntegerResource(name) && !isInteger(q) {
		errs = append(errs, p.Invalid(q, "must be an integer"))
	}
	return errs
}

// isInteger reports whether a quantity is a whole number. Quantities are stored in thousandths.
func isInteger(q resource.Quantity) bool { return q.MilliValue()%1000 == 0 }

// isNativeResource reports whether a resource belongs to Kubernetes: its name has no domain, or
// kubernetes.io.
func isNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtendedResource reports whether a resource is one of another domain. Its name is so short that
// it is a name with the prefix for quotas, too.
func isExtendedResource(name corev1.ResourceName) bool {
	const prefix = corev1.DefaultResourceRequestsPrefix
	if isNativeResource(name) || strings.HasPrefix(string(name), prefix) {
		return false
	}
	domain, _, _ := strings.Cut(string(name), "/")
	return len(prefix)+len(domain) <= validation.DNS1123SubdomainMaxLength && len(validate.LabelName(string(name), nil)) == 0
}

// isOvercommitAllowed reports whether a container may request less of a resource than its limit.
func isOvercommitAllowed(name corev1.ResourceName) bool {
	return isNativeResource(name) && !isHugePages(name)
}

// isContainerResource reports whether a resource without domain is one of containers.
func isContainerResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return isHugePages(name)
}

// isNamedResource reports whether a resource has a name that Kubernetes knows: it is one of
// containers, of volumes or of quotas. Those of huge pages are not among them, since they depend on
// the size of the pages.
func isNamedResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceStorage, corev1.ResourceRequestsStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	return isObjectCount(name)
}

// isQuotaResource reports whether a resource without domain is one of quotas.
func isQuotaResource(name corev1.ResourceName) bool {
	return name != corev1.ResourceStorage && isNamedResource(name) || isHugePages(name) ||
		strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// isObjectCount reports whether the resource of a quota is a number of objects.
func isObjectCount(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers:
		return true
	}
	return false
}

// isIntegerResource reports whether there are only whole units of a resource.
func isIntegerResource(name corev1.ResourceName) bool {
	return isObjectCount(name) || isExtendedResource(name)
}
