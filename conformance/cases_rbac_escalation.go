package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docEscalation = "kubernetes.io, Using RBAC Authorization, Restrictions on role creation or update; k/k pkg/registry/rbac/validation/rule.go"
	docBindVerb   = "kubernetes.io, Using RBAC Authorization, Restrictions on role binding creation or update; k/k pkg/registry/rbac/escalation_check.go"
)

// rolesAndBindings is a rule to write roles and bindings.
func rolesAndBindings() object {
	return policyRule("get,create,update,patch,delete", rbacGroup, "roles,rolebindings")
}

// escalates sends the write of a role or a binding as a user, and expects that it is denied because
// the user does not hold these permissions, in the form of the message. The resource is that of a
// group of the resource rbac.authorization.k8s.io.
func escalates(u identity, c call, resource, name string, missing ...string) exchange {
	message := fmt.Sprintf("%s.%s %q is forbidden: user %q (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n%s",
		resource, rbacGroup, name, u.user, strings.Join(missing, "\n"))
	want := failure{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, contains: message, details: &metav1.StatusDetails{Name: name, Group: rbacGroup, Kind: resource}}
	return send(c.as(u), want.check)
}

// createRole returns a create of a Role.
func (a *access) createRole(name string, rules ...object) call {
	return post(a.in(rbacVersion, "roles"), a.role(name, rules...))
}

// createBinding returns a create of a RoleBinding to a role for the other user.
func (a *access) createBinding(name, kind, role string) call {
	return post(a.in(rbacVersion, "rolebindings"), a.bind(name, kind, role, userSubject(a.other())))
}

// Permissions as messages about escalation name them.
const (
	getSecrets    = `{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`
	everyResource = `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`
	everyPath     = `{NonResourceURLs:["*"], Verbs:["*"]}`
)

// accessEscalationCases returns the cases about permissions that a user does not hold and cannot
// grant (RB-60 to RB-71).
func accessEscalationCases() []Case {
	must := accessRules(Must, docEscalation)
	should := accessRules(Should, docEscalation)
	binding := accessRules(Must, docBindVerb)
	secrets, configMaps := policyRule("get", "", "secrets"), policyRule("get", "", "configmaps")
	return []Case{
		must("RB-60", "a user cannot create a role with permissions that the user does not hold", "users would give themselves permissions", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("maker", userSubject(a.user()), rolesAndBindings(), configMaps),
				escalates(a.user(), a.createRole("a", secrets), "roles", "a", getSecrets),
				escalates(a.user(), a.createRole("a", configMaps, secrets), "roles", "a", getSecrets),
				escalates(a.user(), a.createRole("a", policyRule("*", "*", "*")), "roles", "a", everyResource),
				send(get(a.in(rbacVersion, "roles/a")), code(http.StatusNotFound)))
		}),
		must("RB-61", "a user can create a role with permissions that the user holds, by any roles and wildcards", "a namespace is delegated further", func(ctx context.Context, a *access) error {
			user := userSubject(a.user())
			held := append(append(a.grant("maker", user, rolesAndBindings()), a.grant("a", user, policyRule("get,list", "", "configmaps"))...),
				a.grantCluster("b", user, policyRule("get", "batch", "*"), policyRule("*", "apps", "*/scale,deployments"))...)
			return a.check(ctx, append(held, a.grant("c", user, policyRule("get", "", "secrets", "a", "b"))...),
				allowed(a.user(), a.createRole("d", policyRule("list,get", "", "configmaps"))),
				allowed(a.user(), a.createRole("e", policyRule("get", "batch", "jobs,jobs/status"), policyRule("get", "", "configmaps", "x"))),
				allowed(a.user(), a.createRole("f", policyRule("get,use", "apps", "deployments,deployments/scale"))),
				allowed(a.user(), a.createRole("g", policyRule("get", "", "secrets", "b"))),
				allowed(a.user(), a.createRole("h")),
				escalates(a.user(), a.createRole("i", policyRule("*", "batch", "jobs")), "roles", "i", `{APIGroups:["batch"], Resources:["jobs"], Verbs:["*"]}`))
		}),
		must("RB-62", "updates, patches and applies of roles, and PUTs that create them, are checked as creates are", "there are several ways to write a role", checkEscalationByUpdate),
		should("RB-63", "the message about missing permissions merges verbs, and names resources and resourceNames", "the user can find what is missing", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("maker", userSubject(a.user()), rolesAndBindings(), policyRule("get", "", "configmaps", "x")),
				escalates(a.user(), a.createRole("a", policyRule("get,list", "", "secrets")), "roles", "a", `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`),
				escalates(a.user(), a.createRole("a", policyRule("get,list", "", "configmaps", "x")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["x"], Verbs:["list"]}`),
				escalates(a.user(), a.createRole("a", policyRule("get", "", "configmaps", "x", "y")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["y"], Verbs:["get"]}`),
				escalates(a.user(), a.createRole("a", policyRule("list,watch", "", "configmaps", "y")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["y"], Verbs:["list" "watch"]}`),
				escalates(a.user(), a.createRole("a", policyRule("get", "", "configmaps")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}`))
		}),
		must("RB-64", "permissions in other namespaces or at a narrower scope are not held", "the owner of a namespace owns no other", func(ctx context.Context, a *access) error {
			_, other, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			elsewhere := "/apis/" + rbacVersion + "/namespaces/" + other
			if err := a.change(ctx, post(elsewhere+"/roles", a.role("r", secrets)), post(elsewhere+"/rolebindings", a.bind("r", "Role", "r", userSubject(a.user())))); err != nil {
				return err
			}
			clusterRole := a.clusterRole("c", configMaps)
			held := append(a.grant("maker", userSubject(a.user()), rolesAndBindings(), configMaps), a.grantCluster("maker", userSubject(a.user()), policyRule("create", rbacGroup, "clusterroles"), policyRule("get", "", "pods"))...)
			return a.check(ctx, held,
				escalates(a.user(), a.createRole("a", secrets), "roles", "a", getSecrets),
				escalates(a.user(), post(a.pathOf(clusterRole), clusterRole), "clusterroles", a.name("c"), `{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}`),
				allowed(a.user(), a.createRole("a", policyRule("get", "", "pods"))))
		}),
		must("RB-65", "the verb escalate allows to write roles with any permissions", "a controller writes roles for others", func(ctx context.Context, a *access) error {
			may := policyRule("create,patch,escalate", rbacGroup, "roles")
			clusterRole := a.clusterRole("c", secrets)
			return a.check(ctx, append(append(a.grant("a", userSubject(a.user()), may), a.grant("b", userSubject(a.other()), policyRule("*", rbacGroup, "roles"))...), a.role("r")),
				allowed(a.user(), a.createRole("x", policyRule("*", "*", "*"))),
				allowed(a.user(), mergePatch(a.in(rbacVersion, "roles/r"), object{"rules": []object{secrets}})),
				allowed(a.other(), a.createRole("y", secrets)),
				deniedInCluster(a.user(), post(a.pathOf(clusterRole), clusterRole), "create clusterroles."+rbacGroup))
		}),
		binding("RB-66", "a user cannot bind a role whose permissions the user does not hold", "users would give themselves permissions", func(ctx context.Context, a *access) error {
			big := []object{a.role("big", secrets), a.clusterRole("big", secrets), a.role("small", configMaps)}
			return a.check(ctx, append(big, a.grant("maker", userSubject(a.user()), rolesAndBindings(), configMaps)...),
				escalates(a.user(), a.createBinding("b", "Role", "big"), "rolebindings", "b", getSecrets),
				escalates(a.user(), a.createBinding("b", "ClusterRole", a.name("big")), "rolebindings", "b", getSecrets),
				escalates(a.user(), a.createBinding("b", "ClusterRole", "cluster-admin"), "rolebindings", "b", everyResource, everyPath),
				escalates(a.user(), apply(a.in(rbacVersion, "rolebindings/b"), a.bind("b", "Role", "big", userSubject(a.user()))), "rolebindings", "b", getSecrets),
				send(get(a.in(rbacVersion, "rolebindings/b")), code(http.StatusNotFound)),
				allowed(a.user(), a.createBinding("c", "Role", "small")))
		}),
		binding("RB-67", "the verb bind allows to bind a role without holding its permissions", "an administrator delegates certain roles", checkBindVerb),
		binding("RB-68", "any update of a binding is checked, except for finalizers; a deletion is not", "subjects are added by updates", func(ctx context.Context, a *access) error {
			b := a.bind("b", "Role", "big", userSubject(a.other()))
			if err := a.check(ctx, append(a.grant("maker", userSubject(a.user()), rolesAndBindings()), a.role("big", secrets), b),
				escalates(a.user(), mergePatch(a.itemOf(b), object{"subjects": []object{userSubject(a.user())}}), "rolebindings", "b", getSecrets),
				escalates(a.user(), mergePatch(a.itemOf(b), object{"metadata": object{"labels": object{"a": "b"}}}), "rolebindings", "b", getSecrets),
				allowed(a.user(), mergePatch(a.itemOf(b), object{"metadata": object{"finalizers": []string{finalizer}}})),
				allowed(a.user(), mergePatch(a.itemOf(b), object{"metadata": object{"finalizers": nil}}))); err != nil {
				return err
			}
			return a.s.expectAll(ctx, allowed(a.user(), del(a.itemOf(b))), allowed(a.user(), del(a.in(rbacVersion, "roles/big"))))
		}),
		must("RB-69", "an aggregationRule requires all permissions", "the rules of the role come from others", func(ctx context.Context, a *access) error {
			sum := a.clusterRole("sum").with("aggregationRule", object{"clusterRoleSelectors": []object{{"matchLabels": object{"conformance.example.com/aggregate": a.namespace}}}})
			refused := func(c call) exchange {
				message := fmt.Sprintf("clusterroles.%s %q is forbidden: must have cluster-admin privileges to use the aggregationRule", rbacGroup, a.name("sum"))
				return send(c.as(a.user()), failure{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, message: message}.check)
			}
			objects := append(a.grantCluster("maker", userSubject(a.user()), policyRule("get,create,update,patch", rbacGroup, "clusterroles")), a.bindCluster("b", "cluster-admin", userSubject(a.other())))
			return a.check(ctx, objects,
				refused(post(a.pathOf(sum), sum)),
				allowed(a.other(), post(a.pathOf(sum), sum)),
				refused(mergePatch(a.itemOf(sum), object{"metadata": object{"labels": object{"a": "b"}}})),
				refused(mergePatch(a.itemOf(sum), object{"aggregationRule": nil})))
		}),
		must("RB-70", "a user with cluster-admin can grant everything, by a RoleBinding in its namespace only", "an administrator delegates permissions", func(ctx context.Context, a *access) error {
			all := a.clusterRole("all", policyRule("*", "*", "*"), pathRule("*", "*"))
			b := a.bindCluster("all", a.name("all"), userSubject(a.identity("further")))
			return a.check(ctx, []object{a.bindCluster("b", "cluster-admin", userSubject(a.user())), a.bind("b", "ClusterRole", "cluster-admin", userSubject(a.other()))},
				allowed(a.user(), post(a.pathOf(all), all)), allowed(a.user(), post(a.pathOf(b), b)), allowed(a.user(), a.createBinding("c", "ClusterRole", "cluster-admin")),
				allowed(a.other(), a.createRole("r", policyRule("*", "*", "*"))), allowed(a.other(), a.createBinding("d", "ClusterRole", "cluster-admin")),
				deniedInCluster(a.other(), post(a.pathOf(b), a.bindCluster("e", "cluster-admin", userSubject(a.other()))), "create clusterrolebindings."+rbacGroup))
		}),
		should("RB-71", "the message about missing permissions names roles of the user that do not exist", "the user can find what is missing", func(ctx context.Context, a *access) error {
			return a.check(ctx, append(a.grant("maker", userSubject(a.user()), rolesAndBindings()), a.bind("gone", "Role", "gone", userSubject(a.user()))),
				escalates(a.user(), a.createRole("a", secrets), "roles", "a", getSecrets+`; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]`),
				allowed(a.user(), a.createRole("b")))
		}),
	}
}

func checkEscalationByUpdate(ctx context.Context, a *access) error {
	secrets, configMaps := policyRule("get", "", "secrets"), policyRule("get", "", "configmaps")
	small, fresh := a.role("small", configMaps), a.role("new", configMaps)
	return a.check(ctx, append(a.grant("maker", userSubject(a.user()), rolesAndBindings(), configMaps), small),
		escalates(a.user(), put(a.itemOf(small), a.role("small", configMaps, secrets)), "roles", "small", getSecrets),
		escalates(a.user(), mergePatch(a.itemOf(small), object{"rules": []object{secrets}}), "roles", "small", getSecrets),
		escalates(a.user(), apply(a.itemOf(small), a.role("small", secrets)).withQuery("force=true"), "roles", "small", getSecrets),
		escalates(a.user(), apply(a.itemOf(fresh), a.role("new", secrets)), "roles", "new", getSecrets),
		escalates(a.user(), put(a.itemOf(fresh), a.role("new", secrets)), "roles", "new", getSecrets),
		send(get(a.itemOf(small)), value(listOf([]object{configMaps}), "rules")),
		send(get(a.itemOf(fresh)), code(http.StatusNotFound)),
		send(put(a.itemOf(fresh), fresh).as(a.user()), code(http.StatusCreated)),
		allowed(a.user(), put(a.itemOf(small), a.role("small"))))
}

func checkBindVerb(ctx context.Context, a *access) error {
	secrets := policyRule("get", "", "secrets")
	may := []object{rolesAndBindings(), policyRule("bind", rbacGroup, "roles", "big", "gone"), policyRule("bind", rbacGroup, "clusterroles")}
	cluster := a.bindCluster("x", a.name("big"), userSubject(a.other()))
	objects := append(a.grant("maker", userSubject(a.user()), may...), a.grantCluster("maker", userSubject(a.user()), policyRule("create", rbacGroup, "clusterrolebindings"))...)
	return a.check(ctx, append(objects, a.role("big", secrets), a.role("also", secrets), a.clusterRole("big", secrets)),
		allowed(a.user(), a.createBinding("a", "Role", "big")),
		allowed(a.user(), a.createBinding("b", "ClusterRole", a.name("big"))),
		allowed(a.user(), a.createBinding("c", "Role", "gone")),
		escalates(a.user(), a.createBinding("d", "Role", "also"), "rolebindings", "d", getSecrets),
		escalates(a.user(), post(a.pathOf(cluster), cluster), "clusterrolebindings", a.name("x"), getSecrets))
}
