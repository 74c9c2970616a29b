package fakeapi_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// aggregation is a server whose ClusterRoles are aggregated by settle.
type aggregation struct {
	*testing.T
	srv    *fakeapi.Server
	client kubernetes.Interface
}

func newAggregation(t *testing.T, opts ...fakeapi.Option) *aggregation {
	srv, client := startClient(t, append(opts, fakeapi.WithoutControllers())...)
	return &aggregation{t, srv, client}
}

func (a *aggregation) settle() {
	a.Helper()
	require.NoError(a, a.srv.RunControllers(a.Context()))
}

// ruleFor returns a rule for a resource, by which it is recognized.
func ruleFor(resource string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{resource}, Verbs: []string{"get"}}
}

// create creates a ClusterRole with a label and with rules for resources. It selects the labels in
// selects, one after the other.
func (a *aggregation) create(name, label string, selects []string, resources ...string) {
	a.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if label != "" {
		role.Labels = map[string]string{label: "true"}
	}
	for _, r := range resources {
		role.Rules = append(role.Rules, ruleFor(r))
	}
	if selects != nil {
		role.AggregationRule = &rbacv1.AggregationRule{}
	}
	for _, s := range selects {
		role.AggregationRule.ClusterRoleSelectors = append(role.AggregationRule.ClusterRoleSelectors, metav1.LabelSelector{MatchLabels: map[string]string{s: "true"}})
	}
	_, err := a.client.RbacV1().ClusterRoles().Create(a.Context(), role, metav1.CreateOptions{})
	require.NoError(a, err)
}

func (a *aggregation) get(name string) *rbacv1.ClusterRole {
	a.Helper()
	role, err := a.client.RbacV1().ClusterRoles().Get(a.Context(), name, metav1.GetOptions{})
	require.NoError(a, err)
	return role
}

// resources returns the resources of the rules of a ClusterRole.
func (a *aggregation) resources(name string) (all []string) {
	a.Helper()
	for _, rule := range a.get(name).Rules {
		all = append(all, rule.Resources...)
	}
	return all
}

func (a *aggregation) patch(name, patch string) {
	a.Helper()
	_, err := a.client.RbacV1().ClusterRoles().Patch(a.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "test"})
	require.NoError(a, err)
}

func TestAggregation(t *testing.T) {
	a := newAggregation(t)
	a.create("sum", "x", []string{"y", "x"}, "old")
	a.create("b", "x", nil, "b1", "shared")
	a.create("a", "x", nil, "a1", "shared")
	a.create("c", "y", nil, "c1", "a1")
	a.create("other", "z", nil, "other")
	a.settle()
	// Selector by selector, by name, each rule once, without its own.
	require.Equal(t, []string{"c1", "a1", "shared", "b1"}, a.resources("sum"))

	version := a.srv.ResourceVersion()
	a.settle()
	a.patch("other", `{"metadata":{"annotations":{"a":"b"}}}`)
	require.NotEqual(t, version, a.srv.ResourceVersion())
	version = a.srv.ResourceVersion()
	a.settle()
	require.Equal(t, version, a.srv.ResourceVersion(), "nothing is written without a difference")

	a.patch("sum", `{"rules":[]}`)
	a.settle()
	require.Equal(t, []string{"c1", "a1", "shared", "b1"}, a.resources("sum"), "what others write is overwritten")
	a.patch("other", `{"metadata":{"labels":{"x":"true"}}}`)
	a.settle()
	require.Equal(t, []string{"c1", "a1", "shared", "b1", "other"}, a.resources("sum"), "a new label adds")
	a.patch("c", `{"metadata":{"labels":null}}`)
	a.settle()
	require.Equal(t, []string{"a1", "shared", "b1", "other"}, a.resources("sum"), "a removed label removes")
	require.NoError(t, a.client.RbacV1().ClusterRoles().Delete(t.Context(), "a", metav1.DeleteOptions{}))
	a.settle()
	require.Equal(t, []string{"b1", "shared", "other"}, a.resources("sum"), "a deletion removes")
	a.patch("sum", `{"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"z","operator":"Exists"}]}]}}`)
	a.settle()
	require.Equal(t, []string{"other"}, a.resources("sum"))
	a.patch("other", `{"metadata":{"labels":null}}`)
	a.settle()
	require.Empty(t, a.resources("sum"))
	a.patch("sum", `{"aggregationRule":null,"rules":[{"apiGroups":[""],"resources":["own"],"verbs":["get"]}]}`)
	a.patch("b", `{"metadata":{"labels":{"z":"true"}}}`)
	a.settle()
	require.Equal(t, []string{"own"}, a.resources("sum"), "it aggregates no longer")
}

// The controller applies the rules, so that it owns them alone.
func TestAggregationManagedFields(t *testing.T) {
	a := newAggregation(t)
	a.create("sum", "", []string{"x"}, "old")
	a.create("one", "x", nil, "one")
	a.settle()
	fields := a.get("sum").ManagedFields
	require.Len(t, fields, 2)
	require.Equal(t, "clusterrole-aggregation-controller", fields[0].Manager)
	require.Equal(t, metav1.ManagedFieldsOperationApply, fields[0].Operation)
	require.JSONEq(t, `{"f:rules":{}}`, fields[0].FieldsV1.GetRawString())
	require.NotContains(t, fields[1].FieldsV1.GetRawString(), "f:rules")
}

// Rules of a ClusterRole that selects nothing stay as they are, because an apply without rules
// removes only those that were applied before.
func TestAggregationOfNothing(t *testing.T) {
	a := newAggregation(t)
	a.create("sum", "", []string{"x"}, "own")
	a.settle()
	require.Equal(t, []string{"own"}, a.resources("sum"))
}

// A role of a CRD's author joins view, and through it edit and admin.
func TestAggregationOfUserRoles(t *testing.T) {
	a := newAggregation(t, fakeapi.WithRBAC())
	bindClusterRole(t, a.client, "default", "ann", "admin")
	counts := map[string]int{}
	for _, name := range []string{"view", "edit", "admin"} {
		counts[name] = len(a.get(name).Rules)
	}
	a.create("things-view", "rbac.authorization.k8s.io/aggregate-to-view", nil, "things")
	a.create("things-edit", "rbac.authorization.k8s.io/aggregate-to-edit", nil, "others")
	a.settle()
	require.Contains(t, a.resources("view"), "things")
	require.NotContains(t, a.resources("view"), "others")
	for _, name := range []string{"edit", "admin"} {
		require.Subset(t, a.resources(name), []string{"things", "others"})
		require.Len(t, a.get(name).Rules, counts[name]+2)
	}
	require.NoError(t, a.client.RbacV1().ClusterRoles().Delete(t.Context(), "things-view", metav1.DeleteOptions{}))
	require.NoError(t, a.client.RbacV1().ClusterRoles().Delete(t.Context(), "things-edit", metav1.DeleteOptions{}))
	a.settle()
	for name, count := range counts {
		require.Len(t, a.get(name).Rules, count)
	}
}

// Aggregation continues with a fork, after a restore, and when the events of a change are lost.
func TestAggregationOfStoredState(t *testing.T) {
	a := newAggregation(t, fakeapi.WithRBAC())
	a.create("things-view", "rbac.authorization.k8s.io/aggregate-to-view", nil, "things")
	snapshot := a.srv.Snapshot()

	f := forkBootstrapped(t, a.srv, fakeapi.WithRBAC())
	forked := &aggregation{t, f, kubernetes.NewForConfigOrDie(f.RESTConfig())}
	forked.settle()
	require.Contains(t, forked.resources("admin"), "things")

	require.NoError(t, forked.client.RbacV1().ClusterRoles().Delete(t.Context(), "things-view", metav1.DeleteOptions{}))
	f.ForgetHistory()
	forked.settle()
	require.NotContains(t, forked.resources("admin"), "things")
	require.NoError(t, f.Restore(snapshot, 1000))
	forked.settle()
	require.Contains(t, forked.resources("admin"), "things")
}

// A change that the controller is not allowed to make is made when it is allowed, and the policy
// sees the user of the controller.
func TestAggregationIsReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: frozen}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [rbac.authorization.k8s.io], apiVersions: ['*'], operations: [UPDATE], resources: [clusterroles]}]}
  validations:
  - expression: request.userInfo.username != 'system:serviceaccount:kube-system:clusterrole-aggregation-controller' || request.options.fieldManager != 'clusterrole-aggregation-controller'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: frozen}
spec: {policyName: frozen, validationActions: [Deny]}
`))
		a := &aggregation{t, srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())}
		a.create("sum", "", []string{"x"})
		a.create("one", "x", nil, "one")
		time.Sleep(time.Minute)
		require.Empty(t, a.resources("sum"))
		require.ErrorContains(t, srv.RunControllers(t.Context()), "rules of clusterroles.rbac.authorization.k8s.io/sum")
		require.NoError(t, a.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "frozen", metav1.DeleteOptions{}))
		a.settle()
		require.Equal(t, []string{"one"}, a.resources("sum"))
	})
}

// ClusterRoles that aggregate each other in a circle end with the same rules.
func TestAggregationInACircle(t *testing.T) {
	a := newAggregation(t)
	for i := range 3 {
		a.create(fmt.Sprint("role-", i), fmt.Sprint("x", i), []string{fmt.Sprint("x", (i+1)%3)}, fmt.Sprint("resource-", i))
	}
	a.create("other", "x0", nil, "other")
	a.settle()
	for i := range 3 {
		require.Contains(t, a.resources(fmt.Sprint("role-", i)), "other")
		require.ElementsMatch(t, a.resources("role-0"), a.resources(fmt.Sprint("role-", i)))
	}
}
