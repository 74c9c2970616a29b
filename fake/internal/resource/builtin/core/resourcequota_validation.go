package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// maxScopeErrors is the number of errors of scopes after which no more are looked for. Each of them
// has all scopes in its text.
const maxScopeErrors = 32

// validateResourceQuota validates a new ResourceQuota.
func validateResourceQuota(quota *corev1.ResourceQuota) field.ErrorList {
	var root *validate.Path
	spec, p := &quota.Spec, root.Child("spec")
	errs := validateQuotaResources(spec.Hard, p.Child("hard"))
	errs = append(errs, validateQuotaScopes(spec, p.Child("scopes"))...)
	return append(errs, validateQuotaScopeSelector(spec, p)...)
}

// validateResourceQuotaUpdate validates a ResourceQuota that replaces old. The scopes are a set
// that does not change.
func validateResourceQuotaUpdate(quota, old *corev1.ResourceQuota) field.ErrorList {
	errs := validateResourceQuota(quota)
	if !sets.New(quota.Spec.Scopes...).Equal(sets.New(old.Spec.Scopes...)) {
		var root *validate.Path
		errs = append(errs, root.Child("spec").Child("scopes").Invalid(quota.Spec.Scopes, "field is immutable"))
	}
	return errs
}

// validateResourceQuotaStatusUpdate validates the status of a ResourceQuota.
func validateResourceQuotaStatusUpdate(quota, _ *corev1.ResourceQuota) field.ErrorList {
	var root *validate.Path
	p := root.Child("status")
	errs := validateQuotaResources(quota.Status.Hard, p.Child("hard"))
	return append(errs, validateQuotaResources(quota.Status.Used, p.Child("used"))...)
}

func validateQuotaResources(list corev1.ResourceList, p *validate.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		path := p.Key(string(name))
		errs = append(errs, validateQuotaResourceName(name, path)...)
		errs = append(errs, validateResourceQuantity(name, list[name], path)...)
	}
	return errs
}

// validateQuotaScopes validates that scopes are known, apply to all resources, and do not exclude
// each other.
func validateQuotaScopes(spec *corev1.ResourceQuotaSpec, p *validate.Path) (errs field.ErrorList) {
	outside := resourcesOutsideOfScopes(spec.Hard)
	for _, scope := range spec.Scopes {
		if !isQuotaScope(scope) {
			errs = append(errs, p.Invalid(spec.Scopes, "unsupported scope"))
		}
		for range min(outside[scope], maxScopeErrors) {
			errs = append(errs, p.Invalid(spec.Scopes, "unsupported scope applied to resource"))
		}
		if len(errs) >= maxScopeErrors {
			break
		}
	}
	for range conflictingScopes(sets.New(spec.Scopes...)) {
		errs = append(errs, p.Invalid(spec.Scopes, "conflicting scopes"))
	}
	return errs
}

// validateQuotaScopeSelector is validateQuotaScopes for the scopes with conditions. p is the path
// of the spec. The errors do not tell which of the conditions they are for.
func validateQuotaScopeSelector(spec *corev1.ResourceQuotaSpec, p *validate.Path) (errs field.ErrorList) {
	if spec.ScopeSelector == nil {
		return nil
	}
	expressions := p.Child("scopeSelector").Child("matchExpressions")
	outside := resourcesOutsideOfScopes(spec.Hard)
	scopes := sets.Set[corev1.ResourceQuotaScope]{}
	for i := range spec.ScopeSelector.MatchExpressions {
		requirement := &spec.ScopeSelector.MatchExpressions[i]
		scope := requirement.ScopeName
		scopes.Insert(scope)
		if len(errs) >= maxScopeErrors {
			continue
		}
		if !isQuotaScope(scope) {
			errs = append(errs, expressions.Child("scopeName").Invalid(scope, "unsupported scope"))
		}
		for range min(outside[scope], maxScopeErrors) {
			errs = append(errs, expressions.Invalid(spec.ScopeSelector, "unsupported scope applied to resource"))
		}
		errs = append(errs, validateScopeOperator(requirement, expressions)...)
	}
	for range conflictingScopes(scopes) {
		errs = append(errs, expressions.Invalid(spec.Scopes, "conflicting scopes"))
	}
	return errs
}

func validateScopeOperator(requirement *corev1.ScopedResourceSelectorRequirement, p *validate.Path) (errs field.ErrorList) {
	switch requirement.ScopeName {
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating,
		corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		if requirement.Operator != corev1.ScopeSelectorOpExists {
			errs = append(errs, p.Child("operator").Invalid(requirement.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
				"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
		}
	}
	switch requirement.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(requirement.Values) == 0 {
			errs = append(errs, p.Child("values").Required("must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(requirement.Values) != 0 {
			errs = append(errs, p.Child("values").Invalid(requirement.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, p.Child("operator").Invalid(requirement.Operator, "not a valid selector operator"))
	}
	return errs
}

// isQuotaScope reports whether a scope is known.
func isQuotaScope(scope corev1.ResourceQuotaScope) bool { return slices.Contains(quotaScopes(), scope) }

func quotaScopes() []corev1.ResourceQuotaScope {
	return []corev1.ResourceQuotaScope{
		corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
		corev1.ResourceQuotaScopeVolumeAttributesClass,
	}
}

// resourcesOutsideOfScopes returns, for each scope, the number of resources to which it does not
// apply. Resources with a domain are not checked.
func resourcesOutsideOfScopes(hard corev1.ResourceList) map[corev1.ResourceQuotaScope]int {
	outside := map[corev1.ResourceQuotaScope]int{}
	for name := range hard {
		if !isQuotaResource(name) {
			continue
		}
		for _, scope := range quotaScopes() {
			if !isInScope(scope, name) {
				outside[scope]++
			}
		}
	}
	return outside
}

// isInScope reports whether a scope applies to what a resource counts.
func isInScope(scope corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch scope {
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
	}
	switch name {
	case corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory:
		return true
	}
	return false
}

// conflictingScopes returns the number of pairs of scopes that exclude each other.
func conflictingScopes(scopes sets.Set[corev1.ResourceQuotaScope]) (pairs int) {
	if scopes.HasAll(corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort) {
		pairs++
	}
	if scopes.HasAll(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating) {
		pairs++
	}
	return pairs
}
