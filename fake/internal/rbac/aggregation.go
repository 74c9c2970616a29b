package rbac

import (
	"cmp"
	"slices"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AggregateRules returns the rules that a ClusterRole with an aggregationRule has: for each
// selector, those of the ClusterRoles that it selects, in the order of their names, each rule once.
// list returns the ClusterRoles that a selector selects, in any order; the ClusterRole itself may
// be among them and is left out. An invalid selector is an error.
func AggregateRules(role *rbacv1.ClusterRole, list func(labels.Selector) ([]*rbacv1.ClusterRole, error)) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	seen := make(map[string]bool)
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, err
		}
		selected, err := list(selector)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(selected, func(a, b *rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
		for _, one := range selected {
			if one.Name == role.Name {
				continue
			}
			for _, rule := range one.Rules {
				if key := ruleKey(&rule); !seen[key] {
					seen[key] = true
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, nil
}

// EqualRules reports whether two lists have the same rules in the same order. An empty list in a
// rule equals an absent one.
func EqualRules(a, b []rbacv1.PolicyRule) bool {
	return slices.EqualFunc(a, b, func(x, y rbacv1.PolicyRule) bool {
		return slices.Equal(x.Verbs, y.Verbs) && slices.Equal(x.APIGroups, y.APIGroups) && slices.Equal(x.Resources, y.Resources) &&
			slices.Equal(x.ResourceNames, y.ResourceNames) && slices.Equal(x.NonResourceURLs, y.NonResourceURLs)
	})
}

// ruleKey returns a text that is the same for equal rules only. An empty list equals an absent one.
func ruleKey(rule *rbacv1.PolicyRule) string {
	var key []byte
	for _, list := range [][]string{rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs} {
		for _, one := range list {
			key = strconv.AppendQuote(key, one)
		}
		key = append(key, ';')
	}
	return string(key)
}
