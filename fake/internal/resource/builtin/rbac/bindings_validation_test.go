package rbac

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateSubjects(t *testing.T) {
	for name, c := range map[string]struct {
		subject                  rbacv1.Subject
		binding, clusterBindings []string
	}{
		"a user":  {subject: rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "Ann@example.com"}},
		"a group": {subject: rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:masters"}},
		"an account": {
			subject: rbacv1.Subject{Kind: "ServiceAccount", Name: "bot", Namespace: "Not Validated"},
		},
		"an account without namespace": {
			rbacv1.Subject{Kind: "ServiceAccount", Name: "bot"}, nil, []string{"subjects[0].namespace: Required value"},
		},
		"an account of a group, without a name": {
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: "n", APIGroup: "x"},
			[]string{`subjects[0].apiGroup: Unsupported value: "x": supported values: ""`},
			[]string{`subjects[0].apiGroup: Unsupported value: "x": supported values: ""`},
		},
		"a user of another group": {
			rbacv1.Subject{Kind: "User", Name: "ann", APIGroup: "x"},
			[]string{`subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`},
			[]string{`subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`},
		},
		"a robot": {
			rbacv1.Subject{Kind: "Robot", Name: "r"},
			[]string{`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
			[]string{`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ref, subjects := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "a:b"}, []rbacv1.Subject{c.subject}
			require.Equal(t, c.binding, validatetest.Texts(validateRoleBinding(&rbacv1.RoleBinding{RoleRef: ref, Subjects: subjects})))
			require.Equal(t, c.clusterBindings, validatetest.Texts(validateClusterRoleBinding(&rbacv1.ClusterRoleBinding{RoleRef: ref, Subjects: subjects})))
		})
	}
	errs := validateSubjects([]rbacv1.Subject{{Kind: "ServiceAccount", Name: "A Name"}}, true)
	require.Len(t, errs, 1)
	require.Equal(t, "subjects[0].name", errs[0].Field)
}

func TestValidateRoleRefs(t *testing.T) {
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "a"}
	for name, c := range map[string]struct {
		ref                      rbacv1.RoleRef
		binding, clusterBindings []string
	}{
		"a role": {role, nil, []string{`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`}},
		"another group and kind": {
			rbacv1.RoleRef{APIGroup: "x", Kind: "User", Name: "a"},
			[]string{
				`roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`,
				`roleRef.kind: Unsupported value: "User": supported values: "Role", "ClusterRole"`,
			},
			[]string{
				`roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`,
				`roleRef.kind: Unsupported value: "User": supported values: "ClusterRole"`,
			},
		},
		"a name with a slash": {
			rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "a/b"},
			[]string{`roleRef.name: Invalid value: "a/b": may not contain '/'`},
			[]string{`roleRef.name: Invalid value: "a/b": may not contain '/'`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.binding, validatetest.Texts(validateRoleBinding(&rbacv1.RoleBinding{RoleRef: c.ref})))
			require.Equal(t, c.clusterBindings, validatetest.Texts(validateClusterRoleBinding(&rbacv1.ClusterRoleBinding{RoleRef: c.ref})))
		})
	}
	changed := role
	changed.Kind = "ClusterRole"
	want := []string{`roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"a"}: cannot change roleRef`}
	require.Equal(t, want, validatetest.Texts(validateRoleBindingUpdate(&rbacv1.RoleBinding{RoleRef: changed}, &rbacv1.RoleBinding{RoleRef: role})))
	require.Empty(t, validateRoleBindingUpdate(&rbacv1.RoleBinding{RoleRef: role}, &rbacv1.RoleBinding{RoleRef: role}))
	require.Equal(t, want, validatetest.Texts(validateClusterRoleBindingUpdate(&rbacv1.ClusterRoleBinding{RoleRef: changed}, &rbacv1.ClusterRoleBinding{RoleRef: role}))[:1])
}
