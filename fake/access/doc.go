// Package access reports which permissions the requests to an API server needed, compares them with
// the RBAC manifests of a project, and writes the smallest manifests that cover them.
//
// A [Report] has the accesses of each user and user agent: verb, resource, namespace and names of
// objects. Server.Access of package fakeapi returns it, also for a server that allows everything.
// So a suite that runs as the administrator learns what its manifests lack. [Report.Of] selects a
// client.
//
// # Manifests
//
// [ReadManifests] reads the manifests of a directory, such as config/rbac of kubebuilder. Files and
// objects of other kinds are ignored. Templates have to be rendered first:
//
//   - kustomize: the directory that has the roles and their bindings can be read as it is. A prefix
//     of the names does not matter.
//   - Helm: the output of helm template.
//   - Operator Lifecycle Manager: the permissions of a ClusterServiceVersion count as Roles, its
//     clusterPermissions as ClusterRoles.
//
// A Role or a RoleBinding without a namespace, as kustomize sets it later, applies to every
// namespace. CheckOptions.Namespace says which one it will be in. A ServiceAccount without a
// namespace is any of that name.
//
// The rules of an aggregated ClusterRole are those of the ClusterRoles that it selects, of the
// manifests and of the bootstrap policy. A binding may refer to a role of the bootstrap policy,
// such as view, and roles of the manifests with the label
// rbac.authorization.k8s.io/aggregate-to-view are then part of it.
//
// # Comparing
//
// [Check] compares the accesses of a client with the roles of a subject, the ones that RBAC would
// evaluate (https://kubernetes.io/docs/reference/access-authn-authz/rbac/): those bound to the
// subject and to its groups, with what the bootstrap policy grants to all authenticated users. Its
// [Result] has
//
//   - the rules that are missing, each with the file and the role that it fits into and the
//     requests that needed it. A request that was denied needs its rule too. An Access with more
//     than MaxNames names needs a rule without resourceNames.
//   - the rules that no access used, down to one verb of one resource. A rule is used if it allows
//     an access, even if another one does so as well. A rule with a wildcard, "*", is listed if
//     something else than the wildcard would do: "* of configmaps: used are get, list of
//     configmaps". Rules for the subresource finalizers are not listed, because only clusters with
//     the admission plugin OwnerReferencesPermissionEnforcement ask for them. A watch also uses a
//     rule for lists, because informers list where a server has no streaming lists.
//
// Creating or changing a role or a binding needs the verb escalate or bind, or all permissions that
// it grants
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping).
// If both are missing, the result has both.
//
// Nothing is known about requests to other servers and about requests that no test makes. A rule
// for the metrics endpoint of a manager, for example, is unused unless a test requests the reviews.
//
// # Writing
//
// [Report.WriteManifests] writes a ServiceAccount with the smallest roles that cover a report. Read
// again, they lack nothing and have nothing unused.
package access
