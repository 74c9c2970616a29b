package rbac

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateRules(t *testing.T) {
	const (
		namespaced = `rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`
		both       = `rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`
	)
	for name, c := range map[string]struct {
		rule               rbacv1.PolicyRule
		role, clusterRoles []string
	}{
		"a resource": {rule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"Any Name"}}},
		"nothing": {
			rbacv1.PolicyRule{},
			[]string{
				"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
				"rules[0].resources: Required value: resource rules must supply at least one resource",
			},
			[]string{
				"rules[0].apiGroups: Required value: resource rules must supply at least one api group",
				"rules[0].resources: Required value: resource rules must supply at least one resource",
			},
		},
		"a path": {
			rbacv1.PolicyRule{NonResourceURLs: []string{"/x"}},
			[]string{namespaced},
			nil,
		},
		"a path and a group": {
			rbacv1.PolicyRule{NonResourceURLs: []string{"/x"}, APIGroups: []string{"a"}},
			[]string{namespaced, both}, []string{both},
		},
		"a path and a resource": {
			rbacv1.PolicyRule{NonResourceURLs: []string{"/x"}, Resources: []string{"a"}},
			[]string{namespaced, both}, []string{both},
		},
		"a path and a name": {
			rbacv1.PolicyRule{NonResourceURLs: []string{"/x"}, ResourceNames: []string{"a"}},
			[]string{namespaced, both}, []string{both},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules := []rbacv1.PolicyRule{c.rule}
			require.Equal(t, c.role, validatetest.Texts(validateRole(&rbacv1.Role{Rules: rules})))
			require.Equal(t, c.role, validatetest.Texts(validateRoleUpdate(&rbacv1.Role{Rules: rules}, &rbacv1.Role{})))
			require.Equal(t, c.clusterRoles, validatetest.Texts(validateClusterRole(&rbacv1.ClusterRole{Rules: rules})))
			require.Equal(t, c.clusterRoles, validatetest.Texts(validateClusterRoleUpdate(&rbacv1.ClusterRole{Rules: rules}, &rbacv1.ClusterRole{})))
		})
	}
}

func TestValidateAggregationRule(t *testing.T) {
	for name, c := range map[string]struct {
		selectors []metav1.LabelSelector
		want      []string
	}{
		"none":  {nil, []string{"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"}},
		"valid": {[]metav1.LabelSelector{{}, {MatchLabels: map[string]string{"a": "b"}}}, nil},
		"operator": {[]metav1.LabelSelector{{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Has"}}}}, []string{
			`aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Has": not a valid selector operator`,
			`aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &rbacv1.ClusterRole{AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: c.selectors}}
			require.Equal(t, c.want, validatetest.Texts(validateClusterRole(r)))
		})
	}
}
