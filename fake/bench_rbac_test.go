package fakeapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkRBAC measures gets of a ConfigMap by a user, without HTTP. Of the bindings, the last one
// allows the request. With the mode off, the same user may do everything. The denied user has none
// of them.
func BenchmarkRBAC(b *testing.B) {
	const name = "user-499"
	for _, c := range []struct {
		name      string
		option    fakeapi.Option
		bindings  int
		namespace string
		user      string
		code      int
	}{
		{"off/namespace", fakeapi.WithAuthorizationModes(fakeapi.ModeAlwaysAllow), 500, "default", name, http.StatusOK},
		{"bindings=1", fakeapi.WithRBAC(), 1, "default", "user-0", http.StatusOK},
		{"bindings=500/namespace", fakeapi.WithRBAC(), 500, "default", name, http.StatusOK},
		{"bindings=500/cluster", fakeapi.WithRBAC(), 500, "", name, http.StatusOK},
		{"bindings=500/denied", fakeapi.WithRBAC(), 500, "default", "other", http.StatusForbidden},
	} {
		b.Run(c.name, func(b *testing.B) {
			objects := append(userBindings(c.bindings, c.namespace), configMap("a", "0"))
			token := fakeapi.Token{Value: "some-token", User: c.user, Groups: []string{"team"}}
			srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), c.option, fakeapi.WithTokens(token), fakeapi.WithObjects(objects...))
			r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default/configmaps/a", nil)
			r.Header.Set("Authorization", "Bearer "+token.Value)
			r.Header.Set("User-Agent", "bench/1")
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				srv.ServeHTTP(w, r)
				if w.Code != c.code {
					b.Fatalf("%d: %s", w.Code, w.Body)
				}
			}
		})
	}
}

// userBindings returns n bindings of roles that allow to get ConfigMaps, each to another user, in a
// namespace or at the cluster scope for "".
func userBindings(n int, namespace string) (objects []runtime.Object) {
	for i := range n {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("b%03d", i)}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}
		subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: fmt.Sprint("user-", i)}}
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		}})
		if namespace == "" {
			objects = append(objects, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
			continue
		}
		meta.Namespace = namespace
		objects = append(objects, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
	}
	return objects
}
