package bootstrappolicy

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The names of Roles to which a RoleBinding has subjects other than one ServiceAccount.
const (
	authenticationReader     = "extension-apiserver-authentication-reader"
	lockingControllerManager = "system::leader-locking-kube-controller-manager"
	lockingScheduler         = "system::leader-locking-kube-scheduler"
)

// NamespaceRoles returns the Roles in kube-public and kube-system.
func NamespaceRoles() []rbacv1.Role {
	return []rbacv1.Role{
		role(metav1.NamespacePublic, controllerPrefix+"bootstrap-signer",
			rule(read, "", "configmaps"),
			namedRule("update", "", "configmaps", "cluster-info"),
			eventsRule(),
		),
		role(metav1.NamespaceSystem, authenticationReader,
			namedRule(read, "", "configmaps", "extension-apiserver-authentication"),
		),
		role(metav1.NamespaceSystem, controllerPrefix+"bootstrap-signer",
			rule(read, "", "secrets"),
		),
		role(metav1.NamespaceSystem, controllerPrefix+"cloud-provider",
			rule("create get list watch", "", "configmaps"),
		),
		role(metav1.NamespaceSystem, controllerPrefix+"token-cleaner",
			rule("delete get list watch", "", "secrets"),
			eventsRule(),
		),
		leaderLockingRole(lockingControllerManager, "kube-controller-manager"),
		leaderLockingRole(lockingScheduler, "kube-scheduler"),
	}
}

// leaderLockingRole returns the Role of a component that elects a leader.
func leaderLockingRole(name, component string) rbacv1.Role {
	return role(metav1.NamespaceSystem, name,
		rule("watch", "", "configmaps"),
		namedRule("get update", "", "configmaps", component),
		rule("create get list update watch", "coordination.k8s.io", "leases"),
		rule("create get list update watch", "coordination.k8s.io", "leasecandidates"),
	)
}
