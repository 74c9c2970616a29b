package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags requires the verbs of rules.

func validateRole(r *rbacv1.Role) field.ErrorList {
	return validateRules(r.Rules, true)
}

func validateRoleUpdate(r, _ *rbacv1.Role) field.ErrorList {
	return validateRole(r)
}

func validateClusterRole(r *rbacv1.ClusterRole) field.ErrorList {
	return append(validateRules(r.Rules, false), validateAggregationRule(r.AggregationRule)...)
}

func validateClusterRoleUpdate(r, _ *rbacv1.ClusterRole) field.ErrorList {
	return validateClusterRole(r)
}

func validateRules(rules []rbacv1.PolicyRule, isNamespaced bool) (errs field.ErrorList) {
	var root *validate.Path
	path := root.Child("rules")
	for i := range rules {
		errs = append(errs, validateRule(&rules[i], isNamespaced, path.Index(i))...)
	}
	return errs
}

// validateRule validates a rule, which is either for paths or for resources.
func validateRule(r *rbacv1.PolicyRule, isNamespaced bool, p *validate.Path) (errs field.ErrorList) {
	if len(r.NonResourceURLs) > 0 {
		if isNamespaced {
			errs = append(errs, p.Child("nonResourceURLs").Invalid(r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
		}
		if len(r.APIGroups) > 0 || len(r.Resources) > 0 || len(r.ResourceNames) > 0 {
			errs = append(errs, p.Child("nonResourceURLs").Invalid(r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(r.APIGroups) == 0 {
		errs = append(errs, p.Child("apiGroups").Required("resource rules must supply at least one api group"))
	}
	if len(r.Resources) == 0 {
		errs = append(errs, p.Child("resources").Required("resource rules must supply at least one resource"))
	}
	return errs
}

func validateAggregationRule(r *rbacv1.AggregationRule) (errs field.ErrorList) {
	if r == nil {
		return nil
	}
	var root *validate.Path
	path := root.Child("aggregationRule").Child("clusterRoleSelectors")
	if len(r.ClusterRoleSelectors) == 0 {
		errs = append(errs, path.Required("at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	for i := range r.ClusterRoleSelectors {
		at := path.Index(i)
		errs = append(errs, validate.LabelSelector(&r.ClusterRoleSelectors[i], metav1validation.LabelSelectorValidationOptions{}, at)...)
		if _, err := metav1.LabelSelectorAsSelector(&r.ClusterRoleSelectors[i]); err != nil {
			errs = append(errs, at.Invalid(nil, "invalid label selector."))
		}
	}
	return errs
}
