package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateResourceName validates the name of a resource, such as cpu or example.com/gpu.
func validateResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
		return validate.Messages(name, messages, p)
	}
	if !strings.Contains(string(name), "/") && !isStandardResource(name) {
		return field.ErrorList{p.Invalid(name, "must be a standard resource type or fully qualified")}
	}
	return nil
}

// validateContainerResourceName validates the name of a resource that containers can use.
func validateContainerResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
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

// validateQuotaResourceName validates the name of a resource that a ResourceQuota can limit.
func validateQuotaResourceName(name corev1.ResourceName, p *validate.Path) field.ErrorList {
	errs := validateResourceName(name, p)
	if !strings.Contains(string(name), "/") && !isQuotaResource(name) {
		errs = append(errs, p.Invalid(name, "must be a standard resource for quota"))
	}
	return errs
}

// validateResourceQuantity validates that an amount of a resource is not negative, and a whole number
// where the resource is counted.
func validateResourceQuantity(name corev1.ResourceName, value resource.Quantity, p *validate.Path) (errs field.ErrorList) {
	if value.Sign() < 0 {
		errs = append(errs, p.Invalid(value.String(), "must be greater than or equal to 0"))
	}
	if value.MilliValue()%1000 != 0 && (isObjectCount(name) || isExtendedResource(name)) {
		errs = append(errs, p.Invalid(value, "must be an integer"))
	}
	return errs
}

// isStandardResource reports whether a name without a domain is that of a resource.
func isStandardResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceStorage || isQuotaResource(name)
}

// isQuotaResource reports whether a name without a domain is that of a resource for quotas.
func isQuotaResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	return isObjectCount(name) || isHugePages(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// isObjectCount reports whether a resource is a number of objects.
func isObjectCount(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
		corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers:
		return true
	}
	return false
}

// isContainerResource reports whether a name without a domain is that of a resource for containers.
func isContainerResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name)
}

// isNativeResource reports whether a resource is one of Kubernetes itself.
func isNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtendedResource reports whether a resource is one of a device or of an extension of a cluster.
// Quotas name it with a prefix, which must leave it valid.
func isExtendedResource(name corev1.ResourceName) bool {
	return !isNativeResource(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// canOvercommit reports whether containers can have a lower request than limit of a resource.
func canOvercommit(name corev1.ResourceName) bool {
	return isNativeResource(name) && !isHugePages(name)
}
