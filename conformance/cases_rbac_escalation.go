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
func (p *access) createRole(name string, rules ...object) call {
	return post(p.in(rbacVersion, "roles"), p.role(name, rules...))
}

// createBinding returns a create of a RoleBinding to a role for the other user.
func (p *access) createBinding(name, kind, role string) call {
	return post(p.in(rbacVersion, "rolebindings"), p.bind(name, kind, role, userSubject(p.other())))
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
		must("RB-60", "a user cannot create a role with permissions that the user does not hold", "users would give themselves permissions", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("maker", userSubject(p.user()), rolesAndBindings(), configMaps),
				escalates(p.user(), p.createRole("a", secrets), "roles", "a", getSecrets),
				escalates(p.user(), p.createRole("a", configMaps, secrets), "roles", "a", getSecrets),
				escalates(p.user(), p.createRole("a", policyRule("*", "*", "*")), "roles", "a", everyResource),
				send(get(p.in(rbacVersion, "roles/a")), code(http.StatusNotFound)))
		}),
		must("RB-61", "a user can create a role with permissions that the user holds, by any roles and wildcards", "a namespace is delegated further", func(ctx context.Context, p *access) error {
			user := userSubject(p.user())
			held := append(append(p.grant("maker", user, rolesAndBindings()), p.grant("a", user, policyRule("get,list", "", "configmaps"))...),
				p.grantCluster("b", user, policyRule("get", "batch", "*"), policyRule("*", "apps", "*/scale,deployments"))...)
			return p.check(ctx, append(held, p.grant("c", user, policyRule("get", "", "secrets", "a", "b"))...),
				allowed(p.user(), p.createRole("d", policyRule("list,get", "", "configmaps"))),
				allowed(p.user(), p.createRole("e", policyRule("get", "batch", "jobs,jobs/status"), policyRule("get", "", "configmaps", "x"))),
				allowed(p.user(), p.createRole("f", policyRule("get,use", "apps", "deployments,deployments/scale"))),
				allowed(p.user(), p.createRole("g", policyRule("get", "", "secrets", "b"))),
				allowed(p.user(), p.createRole("h")),
				escalates(p.user(), p.createRole("i", policyRule("*", "batch", "jobs")), "roles", "i", `{APIGroups:["batch"], Resources:["jobs"], Verbs:["*"]}`))
		}),
		must("RB-62", "updates, patches and applies of roles, and PUTs that create them, are checked as creates are", "there are several ways to write a role", checkEscalationByUpdate),
		should("RB-63", "the message about missing permissions merges verbs, and names resources and resourceNames", "the user can find what is missing", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("maker", userSubject(p.user()), rolesAndBindings(), policyRule("get", "", "configmaps", "x")),
				escalates(p.user(), p.createRole("a", policyRule("get,list", "", "secrets")), "roles", "a", `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`),
				escalates(p.user(), p.createRole("a", policyRule("get,list", "", "configmaps", "x")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["x"], Verbs:["list"]}`),
				escalates(p.user(), p.createRole("a", policyRule("get", "", "configmaps", "x", "y")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["y"], Verbs:["get"]}`),
				escalates(p.user(), p.createRole("a", policyRule("list,watch", "", "configmaps", "y")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], ResourceNames:["y"], Verbs:["list" "watch"]}`),
				escalates(p.user(), p.createRole("a", policyRule("get", "", "configmaps")), "roles", "a", `{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}`))
		}),
		must("RB-64", "permissions in other namespaces or at a narrower scope are not held", "the owner of a namespace owns no other", func(ctx context.Context, p *access) error {
			_, other, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			elsewhere := "/apis/" + rbacVersion + "/namespaces/" + other
			if err := p.change(ctx, post(elsewhere+"/roles", p.role("r", secrets)), post(elsewhere+"/rolebindings", p.bind("r", "Role", "r", userSubject(p.user())))); err != nil {
				return err
			}
			clusterRole := p.clusterRole("c", configMaps)
			held := append(p.grant("maker", userSubject(p.user()), rolesAndBindings(), configMaps), p.grantCluster("maker", userSubject(p.user()), policyRule("create", rbacGroup, "clusterroles"), policyRule("get", "", "pods"))...)
			return p.check(ctx, held,
				escalates(p.user(), p.createRole("a", secrets), "roles", "a", getSecrets),
				escalates(p.user(), post(p.pathOf(clusterRole), clusterRole), "clusterroles", p.name("c"), `{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}`),
				allowed(p.user(), p.createRole("a", policyRule("get", "", "pods"))))
		}),
		must("RB-65", "the verb escalate allows to write roles with any permissions", "a controller writes roles for others", func(ctx context.Context, p *access) error {
			may := policyRule("create,patch,escalate", rbacGroup, "roles")
			clusterRole := p.clusterRole("c", secrets)
			return p.check(ctx, append(append(p.grant("a", userSubject(p.user()), may), p.grant("b", userSubject(p.other()), policyRule("*", rbacGroup, "roles"))...), p.role("r")),
				allowed(p.user(), p.createRole("x", policyRule("*", "*", "*"))),
				allowed(p.user(), mergePatch(p.in(rbacVersion, "roles/r"), object{"rules": []object{secrets}})),
				allowed(p.other(), p.createRole("y", secrets)),
				deniedInCluster(p.user(), post(p.pathOf(clusterRole), clusterRole), "create clusterroles."+rbacGroup))
		}),
		binding("RB-66", "a user cannot bind a role whose permissions the user does not hold", "users would give themselves permissions", func(ctx context.Context, p *access) error {
			big := []object{p.role("big", secrets), p.clusterRole("big", secrets), p.role("small", configMaps)}
			return p.check(ctx, append(big, p.grant("maker", userSubject(p.user()), rolesAndBindings(), configMaps)...),
				escalates(p.user(), p.createBinding("b", "Role", "big"), "rolebindings", "b", getSecrets),
				escalates(p.user(), p.createBinding("b", "ClusterRole", p.name("big")), "rolebindings", "b", getSecrets),
				escalates(p.user(), p.createBinding("b", "ClusterRole", "cluster-admin"), "rolebindings", "b", everyResource, everyPath),
				escalates(p.user(), apply(p.in(rbacVersion, "rolebindings/b"), p.bind("b", "Role", "big", userSubject(p.user()))), "rolebindings", "b", getSecrets),
				send(get(p.in(rbacVersion, "rolebindings/b")), code(http.StatusNotFound)),
				allowed(p.user(), p.createBinding("c", "Role", "small")))
		}),
		binding("RB-67", "the verb bind allows to bind a role without holding its permissions", "an administrator delegates certain roles", checkBindVerb),
		binding("RB-68", "any update of a binding is checked, except for finalizers; a deletion is not", "subjects are added by updates", func(ctx context.Context, p *access) error {
			b := p.bind("b", "Role", "big", userSubject(p.other()))
			if err := p.check(ctx, append(p.grant("maker", userSubject(p.user()), rolesAndBindings()), p.role("big", secrets), b),
				escalates(p.user(), mergePatch(p.itemOf(b), object{"subjects": []object{userSubject(p.user())}}), "rolebindings", "b", getSecrets),
				escalates(p.user(), mergePatch(p.itemOf(b), object{"metadata": object{"labels": object{"a": "b"}}}), "rolebindings", "b", getSecrets),
				allowed(p.user(), mergePatch(p.itemOf(b), object{"metadata": object{"finalizers": []string{finalizer}}})),
				allowed(p.user(), mergePatch(p.itemOf(b), object{"metadata": object{"finalizers": nil}}))); err != nil {
				return err
			}
			return p.s.expectAll(ctx, allowed(p.user(), del(p.itemOf(b))), allowed(p.user(), del(p.in(rbacVersion, "roles/big"))))
		}),
		must("RB-69", "an aggregationRule requires all permissions", "the rules of the role come from others", func(ctx context.Context, p *access) error {
			sum := p.clusterRole("sum").with("aggregationRule", object{"clusterRoleSelectors": []object{{"matchLabels": object{"conformance.example.com/aggregate": p.namespace}}}})
			refused := func(c call) exchange {
				message := fmt.Sprintf("clusterroles.%s %q is forbidden: must have cluster-admin privileges to use the aggregationRule", rbacGroup, p.name("sum"))
				return send(c.as(p.user()), failure{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, message: message}.check)
			}
			objects := append(p.grantCluster("maker", userSubject(p.user()), policyRule("get,create,update,patch", rbacGroup, "clusterroles")), p.bindCluster("b", "cluster-admin", userSubject(p.other())))
			return p.check(ctx, objects,
				refused(post(p.pathOf(sum), sum)),
				allowed(p.other(), post(p.pathOf(sum), sum)),
				refused(mergePatch(p.itemOf(sum), object{"metadata": object{"labels": object{"a": "b"}}})),
				refused(mergePatch(p.itemOf(sum), object{"aggregationRule": nil})))
		}),
		must("RB-70", "a user with cluster-admin can grant everything, by a RoleBinding in its namespace only", "an administrator delegates permissions", func(ctx context.Context, p *access) error {
			all := p.clusterRole("all", policyRule("*", "*", "*"), pathRule("*", "*"))
			b := p.bindCluster("all", p.name("all"), userSubject(p.identity("further")))
			return p.check(ctx, []object{p.bindCluster("b", "cluster-admin", userSubject(p.user())), p.bind("b", "ClusterRole", "cluster-admin", userSubject(p.other()))},
				allowed(p.user(), post(p.pathOf(all), all)), allowed(p.user(), post(p.pathOf(b), b)), allowed(p.user(), p.createBinding("c", "ClusterRole", "cluster-admin")),
				allowed(p.other(), p.createRole("r", policyRule("*", "*", "*"))), allowed(p.other(), p.createBinding("d", "ClusterRole", "cluster-admin")),
				deniedInCluster(p.other(), post(p.pathOf(b), p.bindCluster("e", "cluster-admin", userSubject(p.other()))), "create clusterrolebindings."+rbacGroup))
		}),
		should("RB-71", "the message about missing permissions names roles of the user that do not exist", "the user can find what is missing", func(ctx context.Context, p *access) error {
			return p.check(ctx, append(p.grant("maker", userSubject(p.user()), rolesAndBindings()), p.bind("gone", "Role", "gone", userSubject(p.user()))),
				escalates(p.user(), p.createRole("a", secrets), "roles", "a", getSecrets+`; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]`),
				allowed(p.user(), p.createRole("b")))
		}),
	}
}

func checkEscalationByUpdate(ctx context.Context, p *access) error {
	secrets, configMaps := policyRule("get", "", "secrets"), policyRule("get", "", "configmaps")
	small, fresh := p.role("small", configMaps), p.role("new", configMaps)
	return p.check(ctx, append(p.grant("maker", userSubject(p.user()), rolesAndBindings(), configMaps), small),
		escalates(p.user(), put(p.itemOf(small), p.role("small", configMaps, secrets)), "roles", "small", getSecrets),
		escalates(p.user(), mergePatch(p.itemOf(small), object{"rules": []object{secrets}}), "roles", "small", getSecrets),
		escalates(p.user(), apply(p.itemOf(small), p.role("small", secrets)).withQuery("force=true"), "roles", "small", getSecrets),
		escalates(p.user(), apply(p.itemOf(fresh), p.role("new", secrets)), "roles", "new", getSecrets),
		escalates(p.user(), put(p.itemOf(fresh), p.role("new", secrets)), "roles", "new", getSecrets),
		send(get(p.itemOf(small)), value(listOf([]object{configMaps}), "rules")),
		send(get(p.itemOf(fresh)), code(http.StatusNotFound)),
		send(put(p.itemOf(fresh), fresh).as(p.user()), code(http.StatusCreated)),
		allowed(p.user(), put(p.itemOf(small), p.role("small"))))
}

func checkBindVerb(ctx context.Context, p *access) error {
	secrets := policyRule("get", "", "secrets")
	may := []object{rolesAndBindings(), policyRule("bind", rbacGroup, "roles", "big", "gone"), policyRule("bind", rbacGroup, "clusterroles")}
	cluster := p.bindCluster("x", p.name("big"), userSubject(p.other()))
	objects := append(p.grant("maker", userSubject(p.user()), may...), p.grantCluster("maker", userSubject(p.user()), policyRule("create", rbacGroup, "clusterrolebindings"))...)
	return p.check(ctx, append(objects, p.role("big", secrets), p.role("also", secrets), p.clusterRole("big", secrets)),
		allowed(p.user(), p.createBinding("a", "Role", "big")),
		allowed(p.user(), p.createBinding("b", "ClusterRole", p.name("big"))),
		allowed(p.user(), p.createBinding("c", "Role", "gone")),
		escalates(p.user(), p.createBinding("d", "Role", "also"), "rolebindings", "d", getSecrets),
		escalates(p.user(), post(p.pathOf(cluster), cluster), "clusterrolebindings", p.name("x"), getSecrets))
}
