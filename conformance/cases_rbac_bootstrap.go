package conformance

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
)

const (
	docDefaultRoles  = "kubernetes.io, Using RBAC Authorization, Default roles and role bindings; k/k plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	docAggregation   = "kubernetes.io, Using RBAC Authorization, Aggregated ClusterRoles; k/k pkg/controller/clusterroleaggregation"
	aggregationDelay = 10 * time.Second // for the controller to fill an aggregated ClusterRole
)

// review sends a SelfSubjectAccessReview as a user about an action in the case's namespace, and
// expects whether it is allowed.
func (a *access) review(u identity, want bool, action string) exchange {
	return reviewOf(u, want, a.attributes(action))
}

func reviewOf(u identity, want bool, attributes object) exchange {
	return send(selfAccessReview.create(object{"resourceAttributes": attributes}).as(u), selfAccessReview.isCreated, value(want, "status", "allowed"))
}

// attributes returns the resourceAttributes of a review of an action in the case's namespace, which
// is "VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAME]".
func (a *access) attributes(action string) object {
	return attributesOf(action).with("namespace", a.namespace)
}

// attributesOf returns the resourceAttributes of a review of an action at the cluster scope.
func attributesOf(action string) object {
	parts := append(strings.Fields(action), "")
	resource, sub, _ := strings.Cut(parts[1], "/")
	plural, group, _ := strings.Cut(resource, ".")
	return object{"verb": parts[0], "group": group, "resource": plural, "subresource": sub, "name": parts[2]}
}

// itemsInclude expects a list at a path of field names that has these items, among others.
func itemsInclude(items []object, path ...string) expectation {
	return func(r *response) error {
		found, err := r.valueAt(path...)
		if err != nil {
			return err
		}
		list, _ := found.([]any)
		for _, item := range items {
			want := jsonRoundTrip(item)
			if !containsValue(list, want) {
				return fmt.Errorf("expected %s to include %v, got %v", strings.Join(path, "."), want, list)
			}
		}
		return nil
	}
}

func containsValue(list []any, want any) bool {
	for _, one := range list {
		if reflect.DeepEqual(one, want) {
			return true
		}
	}
	return false
}

// accessBootstrapCases returns the cases about the roles that every cluster has (RB-50 to RB-57).
func accessBootstrapCases() []Case {
	must := accessRules(Must, docDefaultRoles)
	should := accessRules(Should, docDefaultRoles)
	roles := "/apis/" + rbacVersion + "/clusterroles/"
	bindings := "/apis/" + rbacVersion + "/clusterrolebindings/"
	isDefault := func(r *response) error {
		return r.expect(value("rbac-defaults", "metadata", "labels", "kubernetes.io/bootstrapping"), hasField("metadata", "annotations", "rbac.authorization.kubernetes.io/autoupdate"))
	}
	return []Case{
		must("RB-50", "the ClusterRole cluster-admin allows everything, and is bound to system:masters", "administrators bind it", func(ctx context.Context, a *access) error {
			all := []object{policyRule("*", "*", "*"), pathRule("*", "*")}
			return a.s.expectAll(ctx,
				send(get(roles+"cluster-admin"), code(http.StatusOK), isDefault, itemsInclude(all, "rules")),
				send(get(bindings+"cluster-admin"), code(http.StatusOK), isDefault, value(roleRef("ClusterRole", "cluster-admin"), "roleRef"),
					itemsInclude([]object{groupSubject("system:masters")}, "subjects")))
		}),
		must("RB-50/bound", "a binding to cluster-admin allows everything", "administrators bind it", func(ctx context.Context, a *access) error {
			return a.check(ctx, []object{a.bindCluster("b", "cluster-admin", userSubject(a.user()))},
				allowed(a.user(), get("/api/v1/nodes?limit=1")), allowed(a.user(), get("/api/v1/secrets?limit=1")), allowed(a.user(), get("/")),
				allowed(a.user(), post(a.path(), a.object("a"))), allowed(a.user(), del(a.item("a"))),
				reviewOf(a.user(), true, attributesOf("use things.nothing.example.com/any a")))
		}),
		must("RB-51", "all authenticated users may read the discovery and the version of the API", "clients need discovery", func(ctx context.Context, a *access) error {
			var requests []exchange
			for _, path := range []string{"/api", "/apis", "/api/v1", "/apis/" + rbacVersion, "/version", "/healthz"} {
				requests = append(requests, allowed(a.user(), get(path)), allowed(a.serviceAccount("robot"), get(path)))
			}
			return a.s.expectAll(ctx, append(requests, deniedPath(a.user(), get("/"+a.name("path"))))...)
		}),
		must("RB-51/roles", "system:discovery is bound to system:authenticated", "administrators change the binding to hide the API", func(ctx context.Context, a *access) error {
			paths := pathRule("get", "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/")
			return a.s.expectAll(ctx,
				send(get(roles+"system:discovery"), code(http.StatusOK), isDefault, itemsInclude([]object{paths}, "rules")),
				send(get(bindings+"system:discovery"), code(http.StatusOK), isDefault, itemsInclude([]object{groupSubject("system:authenticated")}, "subjects")))
		}),
		must("RB-52", "unauthenticated users may read the version and the health of the server, and nothing else", "load balancers check servers without credentials", func(ctx context.Context, a *access) error {
			anonymous := identity{user: "system:anonymous"}
			var requests []exchange
			for _, path := range []string{"/version", "/healthz", "/livez", "/readyz"} {
				requests = append(requests, allowed(anonymous, get(path)))
			}
			for _, path := range []string{"/", "/api", "/apis", "/apis/" + rbacVersion, "/openapi/v3", "/metrics", "/healthz/ping"} {
				requests = append(requests, deniedPath(anonymous, get(path)))
			}
			return a.s.expectAll(ctx, append(requests, a.denied(anonymous, get(a.path()), "list configmaps"))...)
		}),
		must("RB-53", "all authenticated users may review their own permissions, and no others", "kubectl auth can-i needs no permission", func(ctx context.Context, a *access) error {
			about := object{"user": a.other().user, "resourceAttributes": a.attributes("list configmaps")}
			return a.s.expectAll(ctx,
				a.review(a.user(), false, "list configmaps"),
				allowed(a.user(), selfRulesReview.create(object{"namespace": a.namespace})),
				allowed(a.user(), selfSubjectReview.create(nil), value(a.user().user, "status", "userInfo", "username")),
				deniedInCluster(a.user(), accessReview.create(about), "create subjectaccessreviews.authorization.k8s.io"),
				deniedInCluster(a.user(), tokenReview.create(object{"token": "conformance-no-such-token"}), "create tokenreviews.authentication.k8s.io"))
		}),
		must("RB-54", "a RoleBinding to cluster-admin allows everything in the namespace, and nothing at the cluster scope", "the owner of a namespace is not an administrator", func(ctx context.Context, a *access) error {
			return a.check(ctx, []object{a.bind("b", "ClusterRole", "cluster-admin", userSubject(a.user()))},
				allowed(a.user(), post(a.path(), a.object("a"))), allowed(a.user(), get(a.in(rbacVersion, "roles"))), allowed(a.user(), get(namespacePath(a.namespace))),
				deniedInCluster(a.user(), get("/api/v1/nodes"), "list nodes"),
				deniedInCluster(a.user(), get("/api/v1/configmaps"), "list configmaps"),
				deniedPath(a.user(), get("/"+a.name("path"))))
		}),
		must("RB-55", "ServiceAccounts have no permissions but those of all authenticated users", "a pod must not read Secrets", func(ctx context.Context, a *access) error {
			robot := a.serviceAccount("default")
			return a.s.expectAll(ctx,
				a.denied(robot, get(a.path()), "list configmaps"),
				a.denied(robot, get("/api/v1/namespaces/"+a.namespace+"/secrets"), "list secrets"),
				a.denied(robot, get("/api/v1/namespaces/"+a.namespace+"/pods/a"), "get pods a"),
				a.denied(robot, get(namespacePath(a.namespace)), "get namespaces "+a.namespace),
				allowed(robot, get("/api")))
		}),
		userFacingRole("view", "get configmaps a,list pods,watch services,get pods/log a,list deployments.apps,get namespaces",
			"list secrets,get pods/exec a,create configmaps,delete pods a,update deployments.apps a,list roles.rbac.authorization.k8s.io,create serviceaccounts/token a"),
		userFacingRole("edit", "get configmaps a,get secrets a,create deployments.apps,delete pods a,create pods/exec a,deletecollection jobs.batch,patch deployments.apps/scale a",
			"list roles.rbac.authorization.k8s.io,create rolebindings.rbac.authorization.k8s.io,create resourcequotas,delete namespaces a,escalate roles.rbac.authorization.k8s.io"),
		userFacingRole("admin", "get secrets a,create deployments.apps,create roles.rbac.authorization.k8s.io,delete rolebindings.rbac.authorization.k8s.io a,create localsubjectaccessreviews.authorization.k8s.io",
			"create resourcequotas,update namespaces a,escalate roles.rbac.authorization.k8s.io,bind roles.rbac.authorization.k8s.io,list things.nothing.example.com"),
		should("RB-57", "the ServiceAccounts of controllers in kube-system have the permissions of their controllers", "a controller runs without further roles", func(ctx context.Context, a *access) error {
			of := func(name string) identity { return identity{user: "system:serviceaccount:kube-system:" + name} }
			return a.s.expectAll(ctx,
				a.review(of("deployment-controller"), true, "create replicasets.apps"),
				reviewOf(of("deployment-controller"), false, attributesOf("delete nodes a")),
				a.review(a.serviceAccount("deployment-controller"), false, "create replicasets.apps"),
				a.review(of("generic-garbage-collector"), true, "delete things.nothing.example.com a"),
				a.review(of("namespace-controller"), true, "deletecollection things.nothing.example.com"))
		}),
	}
}

// userFacingRole returns a case about a ClusterRole that is bound in a namespace, with actions that
// it allows and actions that it does not.
func userFacingRole(name, can, cannot string) Case {
	title := fmt.Sprintf("the ClusterRole %s allows in a namespace what it is documented to allow", name)
	return accessRules(Must, "kubernetes.io, Using RBAC Authorization, User-facing roles")("RB-56/"+name, title, "namespaces are delegated with it", func(ctx context.Context, a *access) error {
		if err := a.skipWithoutAggregation(ctx); err != nil {
			return err
		}
		requests := []exchange{reviewOf(a.user(), false, attributesOf("list nodes")), reviewOf(a.user(), false, attributesOf("list configmaps"))}
		for action := range strings.SplitSeq(can, ",") {
			requests = append(requests, a.review(a.user(), true, action))
		}
		for action := range strings.SplitSeq(cannot, ",") {
			requests = append(requests, a.review(a.user(), false, action))
		}
		return a.check(ctx, []object{a.bind("b", "ClusterRole", name, userSubject(a.user()))}, requests...)
	})
}

// skipWithoutAggregation skips the case unless a controller fills aggregated ClusterRoles, such as
// view.
func (a *access) skipWithoutAggregation(ctx context.Context) error {
	view := get("/apis/" + rbacVersion + "/clusterroles/view")
	waiting, cancel := context.WithTimeout(withSetup(ctx), aggregationDelay)
	defer cancel()
	if a.s.waitFor(waiting, view, code(http.StatusOK), hasRules) == nil {
		return nil
	}
	r, err := a.s.do(ctx, view, code(http.StatusOK))
	if err != nil {
		return err
	}
	if err := hasRules(r); err != nil {
		return a.s.skipf("no controller fills the ClusterRole view: %v", err)
	}
	return nil
}

func hasRules(r *response) error {
	rules, err := r.valueAt("rules")
	if list, _ := rules.([]any); err == nil && len(list) == 0 {
		err = fmt.Errorf("expected rules, got none")
	}
	return err
}

// accessAggregationCases returns the cases about aggregated ClusterRoles (RB-58 and RB-59).
func accessAggregationCases() []Case {
	must := accessRules(Must, docAggregation)
	return []Case{
		must("RB-58", "an aggregated ClusterRole has the rules of the ClusterRoles that it selects", "parts of a role are added by others", checkAggregation),
		must("RB-59", "a ClusterRole with the label aggregate-to-view adds its rules to view, edit and admin", "a CRD brings its permissions for users", func(ctx context.Context, a *access) error {
			if err := a.skipWithoutAggregation(ctx); err != nil {
				return err
			}
			group := a.s.run.id + ".conformance.example.com"
			part := a.clusterRole("part", policyRule("get,list", group, "things")).withLabel(rbacGroup+"/aggregate-to-view", "true")
			if err := a.install(ctx, part, a.bind("v", "ClusterRole", "view", userSubject(a.identity("view"))),
				a.bind("e", "ClusterRole", "edit", userSubject(a.identity("edit"))), a.bind("a", "ClusterRole", "admin", userSubject(a.identity("admin")))); err != nil {
				return err
			}
			for _, name := range []string{"view", "edit", "admin"} {
				can := a.review(a.identity(name), true, "list things."+group)
				if err := a.s.waitFor(ctx, can.call, can.expect...); err != nil {
					return err
				}
			}
			return a.s.expectAll(ctx, a.review(a.identity("view"), false, "delete things."+group+" a"), a.review(a.user(), false, "list things."+group))
		}),
	}
}

func checkAggregation(ctx context.Context, a *access) error {
	if err := a.skipWithoutAggregation(ctx); err != nil {
		return err
	}
	const label = "conformance.example.com/aggregate"
	configMaps, secrets := policyRule("list", "", "configmaps"), policyRule("list", "", "secrets")
	sum := a.clusterRole("sum").with("aggregationRule", object{"clusterRoleSelectors": []object{{"matchLabels": object{label: a.namespace}}}})
	one := a.clusterRole("one", configMaps).withLabel(label, a.namespace)
	two := a.clusterRole("two", secrets).withLabel(label, "other")
	if err := a.install(ctx, sum, one, two, a.bind("b", "ClusterRole", a.name("sum"), userSubject(a.user()))); err != nil {
		return err
	}
	rulesAre := func(rules ...object) exchange { return send(get(a.itemOf(sum)), value(listOf(rules), "rules")) }
	wait := func(of exchange) error { return a.s.waitFor(ctx, of.call, of.expect...) }
	ofSecrets := "/api/v1/namespaces/" + a.namespace + "/secrets"
	if err := wait(rulesAre(configMaps)); err != nil {
		return err
	}
	if err := wait(allowed(a.user(), get(a.path()))); err != nil {
		return err
	}
	if err := a.s.expect(ctx, mergePatch(a.itemOf(two), object{"metadata": object{"labels": object{label: a.namespace}}}), code(http.StatusOK)); err != nil {
		return err
	}
	if err := wait(rulesAre(configMaps, secrets)); err != nil {
		return err
	}
	if err := wait(allowed(a.user(), get(ofSecrets))); err != nil {
		return err
	}
	if err := a.s.expect(ctx, mergePatch(a.itemOf(sum), object{"rules": []object{policyRule("*", "*", "*")}}), code(http.StatusOK)); err != nil {
		return err
	}
	if err := wait(rulesAre(configMaps, secrets)); err != nil { // the controller overwrites the rules
		return err
	}
	if err := a.s.expect(ctx, del(a.itemOf(one)), code(http.StatusOK)); err != nil {
		return err
	}
	if err := wait(rulesAre(secrets)); err != nil {
		return err
	}
	return wait(a.denied(a.user(), get(a.path()), "list configmaps"))
}
