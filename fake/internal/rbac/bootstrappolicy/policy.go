// Package bootstrappolicy has the roles and bindings that kube-apiserver v1.37 creates when it
// starts with the authorization mode RBAC, with its default feature gates
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings).
//
// The objects have the labels and annotations of the real ones, and no other metadata. Their
// defaults are set. The lists in a rule are sorted.
package bootstrappolicy

import (
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The label of all objects of the policy.
const (
	bootstrappingLabel = "kubernetes.io/bootstrapping"
	bootstrappingValue = "rbac-defaults"
)

// The field managers of the policy in a cluster.
const (
	// FieldManager is that of the API server, which creates the objects.
	FieldManager = "kube-apiserver"
	// AggregationManager is that of the controller that writes the rules of aggregated ClusterRoles.
	AggregationManager = "clusterrole-aggregation-controller"
)

// Sets of verbs.
const (
	read      = "get list watch"
	write     = "create delete deletecollection patch update"
	readWrite = "create delete deletecollection get list patch update watch"
)

// controllerPrefix begins the names of the roles of controllers.
const controllerPrefix = "system:controller:"

// Policy is the roles and bindings.
type Policy struct {
	ClusterRoles        []rbacv1.ClusterRole
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
	Roles               []rbacv1.Role
	RoleBindings        []rbacv1.RoleBinding
}

// Shared returns the policy. It is shared by the process and must not be modified.
var Shared = sync.OnceValue(func() *Policy {
	return &Policy{ClusterRoles(), ClusterRoleBindings(), NamespaceRoles(), NamespaceRoleBindings()}
})

// ClusterRoles returns the ClusterRoles. Those that aggregate others have no rules of their own.
func ClusterRoles() []rbacv1.ClusterRole {
	return slices.Concat(userRoles(), componentRoles(), controllerRoles())
}

// objectMeta returns the metadata of an object of the policy.
func objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{bootstrappingLabel: bootstrappingValue},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
	}
}

func clusterRole(name string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
	return rbacv1.ClusterRole{ObjectMeta: objectMeta(name), Rules: rules}
}

// controllerRole returns the ClusterRole of the ServiceAccount of a controller.
func controllerRole(controller string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
	return clusterRole(controllerPrefix+controller, rules...)
}

// aggregatedRole returns a ClusterRole with the rules of those that have its aggregation label.
func aggregatedRole(name string) rbacv1.ClusterRole {
	role := clusterRole(name)
	role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
		{MatchLabels: map[string]string{aggregationLabel(name): "true"}},
	}}
	return role
}

// aggregatedTo returns role with the label by which a ClusterRole aggregates it.
func aggregatedTo(name string, role rbacv1.ClusterRole) rbacv1.ClusterRole {
	role.Labels[aggregationLabel(name)] = "true"
	return role
}

// aggregationLabel returns the label of the roles that a ClusterRole aggregates.
func aggregationLabel(name string) string { return rbacv1.GroupName + "/aggregate-to-" + name }

func role(namespace, name string, rules ...rbacv1.PolicyRule) rbacv1.Role {
	r := rbacv1.Role{ObjectMeta: objectMeta(name), Rules: rules}
	r.Namespace = namespace
	return r
}

// rule returns a rule for resources. Each argument is a list with spaces between its elements; the
// core group is empty.
func rule(verbs, groups, resources string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		Verbs: strings.Fields(verbs), APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources),
	}
}

// namedRule returns a rule for the objects with some names.
func namedRule(verbs, groups, resources, names string) rbacv1.PolicyRule {
	r := rule(verbs, groups, resources)
	r.ResourceNames = strings.Fields(names)
	return r
}

// pathRule returns a rule for paths that are not of resources.
func pathRule(verbs, paths string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Fields(verbs), NonResourceURLs: strings.Fields(paths)}
}

// eventsRule returns the rule for recording Events.
func eventsRule() rbacv1.PolicyRule { return rule("create patch update", " events.k8s.io", "events") }
