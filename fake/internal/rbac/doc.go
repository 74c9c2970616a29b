// Package rbac authorizes requests by the Roles, ClusterRoles and bindings in a store
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/). It corresponds to the RBAC
// authorizer of kube-apiserver.
package rbac
