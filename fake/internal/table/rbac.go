package table

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
)

// rbacPrinters returns the printers of bindings. Roles have no printer. The descriptions are those
// of v1beta1, as on a real server.
func rbacPrinters() []entry {
	gv := rbacv1.SchemeGroupVersion
	return []entry{
		newEntry(gv, func(b *rbacv1.RoleBinding) []any {
			cells := []any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, since(b.CreationTimestamp)}
			return append(cells, subjects(b.Subjects)...)
		},
			named(),
			text("Role", describes(rbacv1beta1.RoleBinding{}, "roleRef")),
			age(),
			wide(text("Users", "Users in the roleBinding")),
			wide(text("Groups", "Groups in the roleBinding")),
			wide(text("ServiceAccounts", "ServiceAccounts in the roleBinding")),
		),
		newEntry(gv, func(b *rbacv1.ClusterRoleBinding) []any {
			cells := []any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, since(b.CreationTimestamp)}
			return append(cells, subjects(b.Subjects)...)
		},
			named(),
			text("Role", describes(rbacv1beta1.ClusterRoleBinding{}, "roleRef")),
			age(),
			wide(text("Users", "Users in the clusterRoleBinding")),
			wide(text("Groups", "Groups in the clusterRoleBinding")),
			wide(text("ServiceAccounts", "ServiceAccounts in the clusterRoleBinding")),
		),
	}
}

// subjects returns the cells of users, groups and service accounts.
func subjects(all []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, s := range all {
		switch s.Kind {
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		}
	}
	return []any{strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", ")}
}
