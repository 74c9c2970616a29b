package bootstrappolicy

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// ClusterRoleBindings returns the ClusterRoleBindings. Each has the name of its ClusterRole.
func ClusterRoleBindings() []rbacv1.ClusterRoleBinding {
	bindings := []rbacv1.ClusterRoleBinding{
		clusterBinding("cluster-admin", group(user.SystemPrivilegedGroup)),
		clusterBinding("system:monitoring", group(user.MonitoringGroup)),
		clusterBinding("system:discovery", group(user.AllAuthenticated)),
		clusterBinding("system:basic-user", group(user.AllAuthenticated)),
		clusterBinding("system:public-info-viewer", group(user.AllAuthenticated), group(user.AllUnauthenticated)),
		clusterBinding("system:node-proxier", userNamed(user.KubeProxy)),
		clusterBinding("system:kube-controller-manager", userNamed(user.KubeControllerManager)),
		clusterBinding("system:kube-dns", serviceAccount("kube-dns")),
		clusterBinding("system:kube-scheduler", userNamed(user.KubeScheduler)),
		clusterBinding("system:volume-scheduler", userNamed(user.KubeScheduler)),
		clusterBinding("system:node"), // nodes have the Node authorizer instead
		clusterBinding("system:service-account-issuer-discovery", group(serviceaccount.AllServiceAccountsGroup)),
		clusterBinding("system:cluster-trust-bundle-discovery", group(serviceaccount.AllServiceAccountsGroup)),
	}
	for _, r := range controllerRoles() {
		bindings = append(bindings, clusterBinding(r.Name, serviceAccount(strings.TrimPrefix(r.Name, controllerPrefix))))
	}
	return bindings
}

// NamespaceRoleBindings returns the RoleBindings in kube-public and kube-system.
func NamespaceRoleBindings() []rbacv1.RoleBinding {
	const bootstrapSigner, cloudProvider, tokenCleaner = "bootstrap-signer", "cloud-provider", "token-cleaner"
	return []rbacv1.RoleBinding{
		binding(metav1.NamespacePublic, controllerPrefix+bootstrapSigner, serviceAccount(bootstrapSigner)),
		bindingTo(metav1.NamespaceSystem, "system::"+authenticationReader, authenticationReader,
			userNamed(user.KubeControllerManager), userNamed(user.KubeScheduler)),
		binding(metav1.NamespaceSystem, lockingControllerManager,
			userNamed(user.KubeControllerManager), serviceAccount("kube-controller-manager"), serviceAccount("leader-election-controller")),
		binding(metav1.NamespaceSystem, lockingScheduler, userNamed(user.KubeScheduler), serviceAccount("kube-scheduler")),
		binding(metav1.NamespaceSystem, controllerPrefix+bootstrapSigner, serviceAccount(bootstrapSigner)),
		binding(metav1.NamespaceSystem, controllerPrefix+cloudProvider, serviceAccount(cloudProvider)),
		binding(metav1.NamespaceSystem, controllerPrefix+tokenCleaner, serviceAccount(tokenCleaner)),
	}
}

// ClusterRolesToAggregate returns, by the names of ClusterRoles that aggregate others, the names of
// those with their rules. A ClusterRole of the first name that does not aggregate, as before v1.9,
// is copied to the second name.
func ClusterRolesToAggregate() map[string]string {
	return map[string]string{
		"admin": "system:aggregate-to-admin",
		"edit":  "system:aggregate-to-edit",
		"view":  "system:aggregate-to-view",
	}
}

// ClusterRoleBindingsToSplit returns, by the names of ClusterRoleBindings, those that had been one
// with them before v1.14. If only the first exists, the second is created with its subjects, labels
// and annotations.
func ClusterRoleBindingsToSplit() map[string]rbacv1.ClusterRoleBinding {
	return map[string]rbacv1.ClusterRoleBinding{"system:discovery": clusterBinding("system:public-info-viewer")}
}

func clusterBinding(name string, subjects ...rbacv1.Subject) rbacv1.ClusterRoleBinding {
	return rbacv1.ClusterRoleBinding{ObjectMeta: objectMeta(name), Subjects: subjects, RoleRef: roleRef("ClusterRole", name)}
}

// binding returns a RoleBinding with the name of its Role.
func binding(namespace, name string, subjects ...rbacv1.Subject) rbacv1.RoleBinding {
	return bindingTo(namespace, name, name, subjects...)
}

// bindingTo returns a RoleBinding to a Role.
func bindingTo(namespace, name, role string, subjects ...rbacv1.Subject) rbacv1.RoleBinding {
	b := rbacv1.RoleBinding{ObjectMeta: objectMeta(name), Subjects: subjects, RoleRef: roleRef("Role", role)}
	b.Namespace = namespace
	return b
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

func userNamed(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

// serviceAccount returns a ServiceAccount in kube-system.
func serviceAccount(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}
}
