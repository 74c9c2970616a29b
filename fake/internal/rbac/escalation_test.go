package rbac

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

func TestCompactAndDescribe(t *testing.T) {
	one := func(group, resource, verb string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
	}
	named := func(name, verb string) rbacv1.PolicyRule {
		rule := one("", "pods", verb)
		rule.ResourceNames = []string{name}
		return rule
	}
	rules := []rbacv1.PolicyRule{
		one("", "pods", "list"), one("apps", "pods", "get"), named(`a"b`, "get"), one("", "pods", "get"), named(`a"b`, "get"),
		named(`a"b`, "list"), named("", "get"), named("c", "get"),
		{NonResourceURLs: []string{"/a"}, Verbs: []string{"get"}}, {NonResourceURLs: []string{"/a"}, Verbs: []string{"put"}},
	}
	require.Equal(t, []string{
		`{APIGroups:[""], Resources:["pods"], ResourceNames:[""], Verbs:["get"]}`,
		`{APIGroups:[""], Resources:["pods"], ResourceNames:["a\"b"], Verbs:["get" "get" "list"]}`,
		`{APIGroups:[""], Resources:["pods"], ResourceNames:["c"], Verbs:["get"]}`,
		`{APIGroups:[""], Resources:["pods"], Verbs:["list" "get"]}`,
		`{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}`,
		`{NonResourceURLs:["/a"], Verbs:["get"]}`,
		`{NonResourceURLs:["/a"], Verbs:["put"]}`,
	}, describeRules(compact(rules)))
	require.Equal(t, []string{"list"}, rules[0].Verbs, "the rules are not changed")
}

func TestCountOfPermissions(t *testing.T) {
	many := slices.Repeat([]string{"a"}, 3)
	rule := rbacv1.PolicyRule{APIGroups: many, Resources: many, ResourceNames: many, Verbs: many}
	urls := rbacv1.PolicyRule{NonResourceURLs: many, Verbs: many}
	for _, c := range []struct {
		rules []rbacv1.PolicyRule
		count int
	}{
		{nil, 0},
		{[]rbacv1.PolicyRule{{Verbs: many}}, 0},
		{[]rbacv1.PolicyRule{rule}, 81},
		{[]rbacv1.PolicyRule{{APIGroups: many, Resources: many, Verbs: many}}, 27},
		{[]rbacv1.PolicyRule{urls}, 9},
		{[]rbacv1.PolicyRule{rule, urls, rule}, 171},
	} {
		require.True(t, isCountAtMost(c.rules, c.count), "%v", c)
		require.Equal(t, c.count == 0, isCountAtMost(c.rules, max(0, c.count-1)), "%v", c)
	}
	huge := slices.Repeat([]string{"a"}, 1<<17)
	require.False(t, isCountAtMost([]rbacv1.PolicyRule{{APIGroups: huge, Resources: huge, ResourceNames: huge, Verbs: huge}}, maxGranted))
}

func TestNamedByRequest(t *testing.T) {
	bindings := schema.GroupResource{Group: rbacv1.GroupName, Resource: "rolebindings"}
	missing := func(name string) error { return apierrors.NewNotFound(rbacv1.Resource("role"), name) }
	other := errors.New("other")
	require.NoError(t, NamedByRequest(nil, bindings))
	require.Equal(t, other, NamedByRequest(other, bindings))
	require.EqualError(t, NamedByRequest(missing("a"), bindings), `rolebindings.rbac.authorization.k8s.io "a" not found`)
	require.True(t, apierrors.IsNotFound(NamedByRequest(missing("a"), bindings)))
	require.EqualError(t, NamedByRequest(utilerrors.NewAggregate([]error{missing("a"), other, missing("b")}), bindings),
		`[rolebindings.rbac.authorization.k8s.io "a" not found, other, rolebindings.rbac.authorization.k8s.io "b" not found]`)
}
