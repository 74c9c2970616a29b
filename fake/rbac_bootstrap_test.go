package fakeapi_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
)

// rbacResources are the resources of rbac.authorization.k8s.io.
func rbacResources() []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, plural := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		all = append(all, rbacv1.SchemeGroupVersion.WithResource(plural))
	}
	return all
}

// bootstrapObjects returns the roles and bindings of a server by resource, namespace and name.
func bootstrapObjects(t *testing.T, srv *fakeapi.Server) map[string]unstructured.Unstructured {
	t.Helper()
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	all := map[string]unstructured.Unstructured{}
	for _, gvr := range rbacResources() {
		list, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, o := range list.Items {
			all[gvr.Resource+"/"+o.GetNamespace()+"/"+o.GetName()] = o
		}
	}
	return all
}

// ignoreIdentity ignores the fields that differ between objects with the same content.
func ignoreIdentity() cmp.Option {
	return cmpopts.IgnoreMapEntries(func(key string, _ any) bool {
		return slices.Contains([]string{"uid", "resourceVersion", "creationTimestamp", "time"}, key)
	})
}

func startBootstrapped(t *testing.T, opts ...fakeapi.Option) (*fakeapi.Server, kubernetes.Interface) {
	srv := fakeapi.Start(t, append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC()}, opts...)...)
	return srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())
}

func forkBootstrapped(t *testing.T, srv *fakeapi.Server, opts ...fakeapi.Option) *fakeapi.Server {
	t.Helper()
	f, err := srv.Fork(append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers()}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// What is loaded at a start is what the API server and the aggregation controller create one by
// one, with managedFields, and needs no work of either.
func TestBootstrapPolicyIsSettled(t *testing.T) {
	loaded, _ := startBootstrapped(t, fakeapi.WithoutControllers())
	version := loaded.ResourceVersion()
	require.NoError(t, loaded.RunControllers(t.Context()))
	require.Equal(t, version, loaded.ResourceVersion())
	require.Equal(t, version, forkBootstrapped(t, loaded, fakeapi.WithRBAC()).ResourceVersion(), "a fork has the policy")

	without := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	require.Empty(t, bootstrapObjects(t, without))
	created := forkBootstrapped(t, without, fakeapi.WithRBAC())
	require.NoError(t, created.RunControllers(t.Context()))
	want, got := bootstrapObjects(t, created), bootstrapObjects(t, loaded)
	require.Greater(t, len(got), 140)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		require.Empty(t, cmp.Diff(want[name].Object, got[name].Object, ignoreIdentity()), name)
	}
	require.Len(t, got, len(want))
}

// The rules that are served are those of the policy, and the subjects those of its bindings.
func TestBootstrapPolicyIsServed(t *testing.T) {
	_, client := startBootstrapped(t, fakeapi.WithoutSystemObjects())
	ctx, rbac, policy := t.Context(), client.RbacV1(), bootstrappolicy.Shared()
	roles, err := rbac.ClusterRoles().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, roles.Items, len(policy.ClusterRoles))
	for _, want := range policy.ClusterRoles {
		i := slices.IndexFunc(roles.Items, func(r rbacv1.ClusterRole) bool { return r.Name == want.Name })
		require.GreaterOrEqual(t, i, 0, want.Name)
		require.Equal(t, want.Labels, roles.Items[i].Labels)
		require.Equal(t, want.AggregationRule, roles.Items[i].AggregationRule)
		if want.AggregationRule == nil {
			require.Equal(t, want.Rules, roles.Items[i].Rules)
		}
	}
	bindings, err := rbac.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, bindings.Items, len(policy.ClusterRoleBindings))
	for _, want := range policy.ClusterRoleBindings {
		i := slices.IndexFunc(bindings.Items, func(b rbacv1.ClusterRoleBinding) bool { return b.Name == want.Name })
		require.GreaterOrEqual(t, i, 0, want.Name)
		require.Equal(t, want.RoleRef, bindings.Items[i].RoleRef)
		require.Equal(t, want.Subjects, bindings.Items[i].Subjects)
	}
	for _, want := range policy.Roles {
		role, err := rbac.Roles(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, want.Rules, role.Rules)
	}
	for _, want := range policy.RoleBindings {
		binding, err := rbac.RoleBindings(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, want.Subjects, binding.Subjects)
	}
}

// The aggregated roles have the rules of those that they select, by name.
func TestBootstrapPolicyAggregates(t *testing.T) {
	_, client := startBootstrapped(t, fakeapi.WithoutControllers())
	rules := func(name string) []rbacv1.PolicyRule {
		role, err := client.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		return role.Rules
	}
	require.Equal(t, rules("system:aggregate-to-view"), rules("view"))
	require.Equal(t, slices.Concat(rules("system:aggregate-to-edit"), rules("view")), rules("edit"))
	require.Equal(t, slices.Concat(rules("edit"), rules("system:aggregate-to-admin")), rules("admin"))
}

// An update that changes nothing is no write, so that the stored form is complete.
func TestBootstrapPolicyIsStoredInFull(t *testing.T) {
	srv, _ := startBootstrapped(t)
	client := dynamic.NewForConfigOrDie(srv.RESTConfig())
	for _, gvr := range rbacResources() {
		list, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping=rbac-defaults"})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items)
		for _, o := range list.Items {
			updated, err := client.Resource(gvr).Namespace(o.GetNamespace()).Update(t.Context(), &o, metav1.UpdateOptions{})
			require.NoError(t, err)
			require.Equal(t, o.GetResourceVersion(), updated.GetResourceVersion(), "%s %s", gvr.Resource, o.GetName())
		}
	}
}

// Other objects have the same resourceVersions with and without the policy, and uids follow from
// the seed.
func TestBootstrapPolicyRevisions(t *testing.T) {
	uids := func(srv *fakeapi.Server) map[string]types.UID {
		all := map[string]types.UID{}
		for name, o := range bootstrapObjects(t, srv) {
			all[name] = o.GetUID()
		}
		return all
	}
	for name, opts := range map[string][]fakeapi.Option{
		"with system objects": nil, "without system objects": {fakeapi.WithoutSystemObjects()},
	} {
		t.Run(name, func(t *testing.T) {
			opts := append(opts, fakeapi.WithSeed(1))
			srv, client := startBootstrapped(t, opts...)
			first, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, "1001", first.ResourceVersion)
			again, _ := startBootstrapped(t, opts...)
			require.Equal(t, uids(srv), uids(again))
			other, _ := startBootstrapped(t, append(opts, fakeapi.WithSeed(2))...)
			require.NotEqual(t, uids(srv), uids(other))
			distinct := map[types.UID]bool{}
			for _, uid := range uids(srv) {
				distinct[uid] = true
			}
			require.Len(t, distinct, len(uids(srv)))
		})
	}
}

// changePolicy changes objects of the policy in the ways that reconciliation treats differently.
func changePolicy(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	ctx, rbac := t.Context(), client.RbacV1()
	require.NoError(t, rbac.ClusterRoles().Delete(ctx, "system:kube-dns", metav1.DeleteOptions{}))
	require.NoError(t, rbac.RoleBindings("kube-system").Delete(ctx, "system:controller:token-cleaner", metav1.DeleteOptions{}))

	update := func(name string, change func(*rbacv1.ClusterRole)) {
		role, err := rbac.ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		change(role)
		_, err = rbac.ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	extra := rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"things"}, Verbs: []string{"get"}}
	update("system:auth-delegator", func(r *rbacv1.ClusterRole) {
		r.Rules = []rbacv1.PolicyRule{extra, r.Rules[1]}
		r.Labels, r.Annotations = map[string]string{"team": "a"}, nil
	})
	update("system:heapster", func(r *rbacv1.ClusterRole) {
		r.Rules, r.Annotations = nil, map[string]string{rbacv1.AutoUpdateAnnotationKey: "false"}
	})
	update("view", func(r *rbacv1.ClusterRole) { r.AggregationRule = nil })

	bindings := rbac.ClusterRoleBindings()
	basic, err := bindings.Get(ctx, "system:basic-user", metav1.GetOptions{})
	require.NoError(t, err)
	basic.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}}
	_, err = bindings.Update(ctx, basic, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, bindings.Delete(ctx, "cluster-admin", metav1.DeleteOptions{}))
	_, err = bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-admin"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// checkReconciled checks the policy after changePolicy and a reconciliation.
func checkReconciled(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	ctx, rbac := t.Context(), kubernetes.NewForConfigOrDie(srv.RESTConfig()).RbacV1()
	role := func(name string) *rbacv1.ClusterRole {
		r, err := rbac.ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		return r
	}
	require.Len(t, role("system:kube-dns").Rules, 1)
	_, err := rbac.RoleBindings("kube-system").Get(ctx, "system:controller:token-cleaner", metav1.GetOptions{})
	require.NoError(t, err)

	delegator := role("system:auth-delegator")
	require.Len(t, delegator.Rules, 3)
	require.Equal(t, []string{"things"}, delegator.Rules[0].Resources, "what is there besides stays")
	require.Equal(t, []string{"tokenreviews"}, delegator.Rules[2].Resources, "what is missing is added at the end")
	require.Equal(t, map[string]string{"team": "a", "kubernetes.io/bootstrapping": "rbac-defaults"}, delegator.Labels)
	require.Equal(t, "true", delegator.Annotations[rbacv1.AutoUpdateAnnotationKey])

	require.Empty(t, role("system:heapster").Rules, "it has opted out")
	require.Equal(t, "true", role("view").AggregationRule.ClusterRoleSelectors[0].MatchLabels["rbac.authorization.k8s.io/aggregate-to-view"])

	basic, err := rbac.ClusterRoleBindings().Get(ctx, "system:basic-user", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, basic.Subjects, 2)
	require.Equal(t, "ann", basic.Subjects[0].Name)
	admin, err := rbac.ClusterRoleBindings().Get(ctx, "cluster-admin", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "cluster-admin", admin.RoleRef.Name, "a binding to another role is replaced")
	require.Equal(t, "system:masters", admin.Subjects[0].Name)
}

func TestBootstrapPolicyIsReconciled(t *testing.T) {
	srv, client := startBootstrapped(t, fakeapi.WithoutControllers())
	changePolicy(t, client)
	version := srv.ResourceVersion()

	t.Run("fork", func(t *testing.T) {
		f := forkBootstrapped(t, srv, fakeapi.WithRBAC())
		checkReconciled(t, f)
		require.Equal(t, f.ResourceVersion(), forkBootstrapped(t, f, fakeapi.WithRBAC()).ResourceVersion(), "nothing is missing any more")
	})
	t.Run("fork without RBAC", func(t *testing.T) {
		require.Equal(t, version, forkBootstrapped(t, srv).ResourceVersion())
	})
	t.Run("restore", func(t *testing.T) {
		other, _ := startBootstrapped(t)
		require.NoError(t, other.Restore(srv.Snapshot(), 1000))
		checkReconciled(t, other)
	})
	t.Run("restore of a server without RBAC", func(t *testing.T) {
		other, otherClient := startBootstrapped(t)
		require.NoError(t, other.Restore(fakeapi.Start(t, fakeapi.WithInMemoryNetwork()).Snapshot(), 1000))
		_, err := otherClient.RbacV1().ClusterRoles().Get(t.Context(), "cluster-admin", metav1.GetOptions{})
		require.NoError(t, err)
	})
	t.Run("restore by a replica", func(t *testing.T) {
		other, _ := startBootstrapped(t)
		replica, err := other.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		require.NoError(t, replica.Restore(srv.Snapshot(), 1000))
		checkReconciled(t, other)
	})
	require.Equal(t, version, srv.ResourceVersion())
}

// The dump of a server can be loaded into another, also after the policy has changed.
func TestLoadDumpOfBootstrapPolicy(t *testing.T) {
	srv, client := startBootstrapped(t, fakeapi.WithoutControllers())
	changePolicy(t, client)
	text, err := srv.Dump()
	require.NoError(t, err)
	other, _ := startBootstrapped(t, fakeapi.WithoutControllers(), fakeapi.WithYAML(text))
	checkReconciled(t, other)
	want, got := bootstrapObjects(t, forkBootstrapped(t, srv, fakeapi.WithRBAC())), bootstrapObjects(t, other)
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
}

// A ClusterRole from before aggregation keeps its rules, and a binding that was split its subjects.
func TestFixturesFromBeforeTheBootstrapPolicy(t *testing.T) {
	srv, client := startBootstrapped(t, fakeapi.WithoutControllers(), fakeapi.WithYAML(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: view, labels: {team: a}}
rules:
- {apiGroups: [example.com], resources: [things], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "system:discovery"}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:discovery"}
`))
	require.NoError(t, srv.RunControllers(t.Context()))
	things := func(r *rbacv1.ClusterRole) int {
		return slices.IndexFunc(r.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "things") })
	}
	parts, err := client.RbacV1().ClusterRoles().Get(t.Context(), "system:aggregate-to-view", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, 0, things(parts))
	require.Equal(t, "true", parts.Labels["rbac.authorization.k8s.io/aggregate-to-view"])
	require.Equal(t, "a", parts.Labels["team"])
	for _, name := range []string{"view", "edit", "admin"} {
		role, err := client.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, things(role), 0, name)
		require.Greater(t, len(role.Rules), 10, name)
	}
	split, err := client.RbacV1().ClusterRoleBindings().Get(t.Context(), "system:public-info-viewer", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "ann", split.Subjects[0].Name)
	require.Len(t, split.Subjects, 3)
}

// Clients may write the objects while they are reconciled.
func TestBootstrapPolicyIsReconciledAmongWrites(t *testing.T) {
	srv, client := startBootstrapped(t)
	bindings := client.RbacV1().ClusterRoleBindings()
	snapshot := srv.Snapshot()
	done := make(chan struct{})
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				patch := fmt.Sprintf(`{"subjects":[],"metadata":{"annotations":{"n":%q}}}`, uuid.NewString())
				_, _ = bindings.Patch(context.Background(), "system:basic-user", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				_ = bindings.Delete(context.Background(), "system:discovery", metav1.DeleteOptions{})
			}
		})
	}
	for range 20 {
		require.NoError(t, srv.Restore(snapshot, 1000))
		snapshot = srv.Snapshot()
	}
	close(done)
	writers.Wait()
	require.NoError(t, srv.Restore(srv.Snapshot(), 1000))
	for name, want := range map[string]int{"system:basic-user": 1, "system:discovery": 1} {
		b, err := bindings.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Len(t, b.Subjects, want)
	}
}
