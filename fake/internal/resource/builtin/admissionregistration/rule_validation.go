package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// staticSuffix is the suffix of configurations that a server loads from files.
const staticSuffix = ".static.k8s.io"

// validateStaticName refuses the names of configurations that come from files.
func validateStaticName(name string) field.ErrorList {
	if !strings.HasSuffix(name, staticSuffix) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name,
		fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", staticSuffix))}
}

// validateMatchResources validates the constraints of a policy or a binding.
func validateMatchResources(m *admissionv1.MatchResources, p *validate.Path) (errs field.ErrorList) {
	if m.MatchPolicy == nil {
		errs = append(errs, p.Child("matchPolicy").Required(""))
	} else {
		errs = append(errs, validateMatchPolicy(m.MatchPolicy, p.Child("matchPolicy"))...)
	}
	errs = append(errs, validateRequiredSelector(m.NamespaceSelector, p.Child("namespaceSelector"))...)
	errs = append(errs, validateRequiredSelector(m.ObjectSelector, p.Child("objectSelector"))...)
	for i := range m.ResourceRules {
		errs = append(errs, validateNamedRule(&m.ResourceRules[i], p.Child("resourceRules").Index(i))...)
	}
	for i := range m.ExcludeResourceRules {
		errs = append(errs, validateNamedRule(&m.ExcludeResourceRules[i], p.Child("excludeResourceRules").Index(i))...)
	}
	return errs
}

// validateMutableOperations validates that the operations of rules have an object to change.
func validateMutableOperations(rules []admissionv1.NamedRuleWithOperations, p *validate.Path) (errs field.ErrorList) {
	mutable := []admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update}
	for i := range rules {
		for _, operation := range rules[i].Operations {
			if !slices.Contains(mutable, operation) {
				errs = append(errs, validate.NotSupported(p.Child("resourceRules").Child("operations"), operation, mutable...))
			}
		}
	}
	return errs
}

func validateRequiredSelector(s *metav1.LabelSelector, p *validate.Path) field.ErrorList {
	if s == nil {
		return field.ErrorList{p.Required("")}
	}
	return validate.LabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, p)
}

func validateMatchPolicy(policy *admissionv1.MatchPolicyType, p *validate.Path) field.ErrorList {
	return validateOneOf(policy, p, admissionv1.Equivalent, admissionv1.Exact)
}

func validateFailurePolicy(policy *admissionv1.FailurePolicyType, p *validate.Path) field.ErrorList {
	return validateOneOf(policy, p, admissionv1.Fail, admissionv1.Ignore)
}

// validateOneOf validates that a value is one of valid, or nil.
func validateOneOf[T ~string](value *T, p *validate.Path, valid ...T) field.ErrorList {
	if value == nil || slices.Contains(valid, *value) {
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, *value, valid...)}
}

// validateNamedRule validates a rule with the names of resources, each once.
func validateNamedRule(r *admissionv1.NamedRuleWithOperations, p *validate.Path) (errs field.ErrorList) {
	seen := make(map[string]bool)
	for i, name := range r.ResourceNames {
		at := p.Child("resourceNames").Index(i)
		errs = append(errs, validate.Messages(name, resource.ValidatePathSegmentName(name, false), at)...)
		if seen[name] {
			errs = append(errs, at.Duplicate(name))
		}
		seen[name] = true
	}
	return append(errs, validateRule(&r.RuleWithOperations, p)...)
}

func validateRule(r *admissionv1.RuleWithOperations, p *validate.Path) field.ErrorList {
	errs := validateWildcard(r.Operations, "operations", p.Child("operations"))
	known := []admissionv1.OperationType{admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update}
	for i, operation := range r.Operations {
		if !slices.Contains(known, operation) {
			errs = append(errs, validate.NotSupported(p.Child("operations").Index(i), operation, known...))
		}
	}
	errs = append(errs, validateWildcard(r.APIGroups, "API groups", p.Child("apiGroups"))...)
	errs = append(errs, validateWildcard(r.APIVersions, "API versions", p.Child("apiVersions"))...)
	for i, version := range r.APIVersions {
		if version == "" {
			errs = append(errs, p.Child("apiVersions").Index(i).Required(""))
		}
	}
	errs = append(errs, validateResources(r.Resources, p.Child("resources"))...)
	return append(errs, validateOneOf(r.Scope, p.Child("scope"), admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope)...)
}

// validateWildcard requires values, and "*" to be alone. others names the values.
func validateWildcard[T ~string](values []T, others string, p *validate.Path) field.ErrorList {
	if len(values) == 0 {
		return field.ErrorList{p.Required("")}
	}
	if len(values) > 1 && slices.Contains(values, "*") {
		return field.ErrorList{p.Invalid(values, "if '*' is present, must not specify other "+others)}
	}
	return nil
}

// validateResources validates resources, each with or without a subresource. A resource must not
// be covered by another one with a wildcard before it.
func validateResources(resources []string, p *validate.Path) (errs field.ErrorList) {
	if len(resources) == 0 {
		errs = append(errs, p.Required(""))
	}
	allSubresourcesOf, anyResourceWith := make(map[string]bool), make(map[string]bool)
	endsPlain := false // whether the last one without subresource is not "*"
	for i, one := range resources {
		if one == "" {
			errs = append(errs, p.Index(i).Required(""))
			continue
		}
		res, sub, found := strings.Cut(one, "/")
		if !found {
			endsPlain = one != "*"
			continue
		}
		if allSubresourcesOf[res] {
			errs = append(errs, p.Index(i).Invalid(one, fmt.Sprintf("if '%s/*' is present, must not specify %s", res, one)))
		}
		if anyResourceWith[sub] {
			errs = append(errs, p.Index(i).Invalid(one, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, one)))
		}
		if sub == "*" {
			allSubresourcesOf[res] = true
		}
		if res == "*" {
			anyResourceWith[sub] = true
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, p.Invalid(resources, "if '*/*' is present, must not specify other resources"))
	}
	if endsPlain && slices.Contains(resources, "*") {
		errs = append(errs, p.Invalid(resources, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}
