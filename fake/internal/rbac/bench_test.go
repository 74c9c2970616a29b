package rbac_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// bootstrapPolicy returns the roles and bindings that a server has at its start.
func bootstrapPolicy() (objects []runtime.Object) {
	for _, r := range bootstrappolicy.ClusterRoles() {
		objects = append(objects, &r)
	}
	for _, b := range bootstrappolicy.ClusterRoleBindings() {
		objects = append(objects, &b)
	}
	for _, r := range bootstrappolicy.NamespaceRoles() {
		objects = append(objects, &r)
	}
	for _, b := range bootstrappolicy.NamespaceRoleBindings() {
		objects = append(objects, &b)
	}
	return objects
}

// rolesAndBindings returns n ClusterRoles that allow to get a resource, and n bindings of them, in
// a namespace or at the cluster scope for "". vary changes what the role of a number allows and to
// whom.
func rolesAndBindings(n int, namespace string, vary func(i int, rule *rbacv1.PolicyRule, subject *rbacv1.Subject)) (objects []runtime.Object) {
	for i := range n {
		name := fmt.Sprintf("b%05d", i)
		rule := rbacv1.PolicyRule{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
		subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}
		vary(i, &rule, &subject)
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}})
		if namespace == "" {
			objects = append(objects, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: ref, Subjects: []rbacv1.Subject{subject}})
		} else {
			objects = append(objects, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, RoleRef: ref, Subjects: []rbacv1.Subject{subject}})
		}
	}
	return objects
}

func toUsers(i int, _ *rbacv1.PolicyRule, s *rbacv1.Subject) { s.Name = fmt.Sprint("user-", i) }

func ofResources(i int, r *rbacv1.PolicyRule, _ *rbacv1.Subject) {
	r.Resources = []string{fmt.Sprint("things-", i)}
}

func ofNames(i int, r *rbacv1.PolicyRule, _ *rbacv1.Subject) {
	r.ResourceNames = []string{fmt.Sprint("name-", i)}
}

// BenchmarkAuthorize measures decisions about a request to get an object, beside the bootstrap
// policy. The binding that allows it is the last one. With written=true there is a write of another
// object before each of them, whose time is not that of the decision and is measured as well.
func BenchmarkAuthorize(b *testing.B) {
	const n = 500
	info := func(name string) user.Info {
		return &user.DefaultInfo{Name: name, Groups: []string{"team", "system:authenticated"}}
	}
	for _, c := range []struct {
		name    string
		objects []runtime.Object
		action  authorizer.AttributesRecord
		allowed bool
	}{
		{"bootstrap/denied", nil, authorizer.AttributesRecord{User: info("ann"), Resource: "configmaps", Namespace: "ns"}, false},
		{"cluster/user", rolesAndBindings(n, "", toUsers), authorizer.AttributesRecord{User: info("user-499"), Resource: "configmaps", Namespace: "ns"}, true},
		{"namespace/user", rolesAndBindings(n, "ns", toUsers), authorizer.AttributesRecord{User: info("user-499"), Resource: "configmaps", Namespace: "ns"}, true},
		{"namespace/denied", rolesAndBindings(n, "ns", toUsers), authorizer.AttributesRecord{User: info("user-499"), Resource: "secrets", Namespace: "ns"}, false},
		{"namespace/resources", rolesAndBindings(n, "ns", ofResources), authorizer.AttributesRecord{User: info("ann"), Resource: "things-499", Namespace: "ns"}, true},
		{"namespace/names", rolesAndBindings(n, "ns", ofNames), authorizer.AttributesRecord{User: info("ann"), Resource: "configmaps", Name: "name-499", Namespace: "ns"}, true},
	} {
		c.action.ResourceRequest, c.action.Verb = true, "get"
		for _, written := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/written=%v", c.name, written), func(b *testing.B) {
				store := memstore.New(memstore.Options{HistoryCount: 1000})
				put(b, store, append(bootstrapPolicy(), c.objects...)...)
				a := rbac.New(store.View, builtin.Table())
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if written {
						putData(b, store, "pods/ns/a", strings.Repeat("x", i%2))
					}
					decision, _, _ := a.Authorize(b.Context(), &c.action)
					if decision == authorizer.DecisionAllow != c.allowed {
						b.Fatal("wrong decision")
					}
				}
			})
		}
	}
}

// BenchmarkChange measures the first decision after one of 500 bindings, or one of their roles, was
// written, together with that write.
func BenchmarkChange(b *testing.B) {
	const n = 500
	for _, namespace := range []string{"", "ns"} {
		for _, one := range []string{"binding", "role"} {
			b.Run(fmt.Sprintf("namespace=%s/%s", namespace, one), func(b *testing.B) {
				store := memstore.New(memstore.Options{HistoryCount: 1000})
				objects := rolesAndBindings(n, namespace, toUsers)
				put(b, store, append(bootstrapPolicy(), objects...)...)
				written := objects[len(objects)-2:]
				if written = written[:1]; one == "binding" {
					written = objects[len(objects)-1:]
				}
				_, key := keyOf(b, written[0])
				record := store.View().Get(key)
				a := rbac.New(store.View, builtin.Table())
				action := &authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "user-499"}, Verb: "get", Resource: "configmaps", Namespace: "ns", ResourceRequest: true}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					putData(b, store, key, string(record.Data)+strings.Repeat(" ", i%2))
					decision, reason, err := a.Authorize(b.Context(), action)
					require.NoError(b, err)
					require.Equal(b, authorizer.DecisionAllow, decision, reason)
				}
			})
		}
	}
}
