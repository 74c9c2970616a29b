package conformance

import (
	"context"
	"net/http"
)

// accessRuleCases returns the cases about the fields of rules (RB-09 to RB-22).
func accessRuleCases() []Case {
	must := accessRules(Must, docRuleEvaluation)
	named := accessRules(Must, "kubernetes.io, Using RBAC Authorization, Referring to resources; apiserver request/requestinfo.go")
	return []Case{
		named("RB-09", "resourceNames limit a rule to objects with these names", "a client may use one Secret of many", func(ctx context.Context, a *access) error {
			data, b := object{"data": object{"k": "1"}}, a.item("b")
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("get,update,patch,delete", "", "configmaps", "a", "absent")), a.object("a"), a.object("b")),
				allowed(a.user(), get(a.item("a"))),
				allowed(a.user(), put(a.item("a"), a.object("a"))),
				allowed(a.user(), mergePatch(a.item("a"), data)),
				send(get(a.item("absent")).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(b), "get configmaps b"),
				a.denied(a.user(), put(b, a.object("b")), "update configmaps b"),
				a.denied(a.user(), mergePatch(b, data), "patch configmaps b"),
				a.denied(a.user(), del(b), "delete configmaps b"),
				allowed(a.user(), del(a.item("a"))))
		}),
		named("RB-09/all", "a rule without resourceNames is about all names", "most rules are", func(ctx context.Context, a *access) error {
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("get", "", "configmaps")), a.object("a"), a.object("b")),
				allowed(a.user(), get(a.item("a"))), allowed(a.user(), get(a.item("b"))),
				send(get(a.item("c")).as(a.user()), code(http.StatusNotFound), hasReason("NotFound")))
		}),
		named("RB-10", "a rule with resourceNames allows list and watch with a field selector for one of the names", "a client watches its own object", func(ctx context.Context, a *access) error {
			by := func(selector string) call { return get(a.path() + "?fieldSelector=metadata.name" + selector) }
			watch := func(selector string) call { return by(selector).withQuery("watch=1&timeoutSeconds=1") }
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("list,watch", "", "configmaps", "a")), a.object("a"), a.object("b")),
				allowed(a.user(), by("%3Da")), allowed(a.user(), by("=a")), allowed(a.user(), watch("%3Da")),
				a.denied(a.user(), get(a.path()), "list configmaps"),
				a.denied(a.user(), by("%3Db"), "list configmaps b"),
				a.denied(a.user(), by("%21%3Db"), "list configmaps"),
				a.denied(a.user(), watch("%3Db"), "watch configmaps b"),
				a.denied(a.user(), get(a.path()+"?watch=1&timeoutSeconds=1"), "watch configmaps"),
				a.denied(a.user(), get(a.path()+"?labelSelector=metadata.name%3Da"), "list configmaps"))
		}),
		named("RB-11", "a rule with resourceNames allows no create and no deletecollection", "these requests have no name", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("create,deletecollection", "", "configmaps", "a")),
				a.denied(a.user(), post(a.path(), a.object("a")), "create configmaps"),
				a.denied(a.user(), del(a.path()), "deletecollection configmaps"),
				send(get(a.item("a")), code(http.StatusNotFound)))
		}),
		named("RB-12", "the creation of a subresource has a name", "a client requests tokens of one ServiceAccount", func(ctx context.Context, a *access) error {
			if err := a.s.skipUnlessServed(ctx, "v1", "serviceaccounts/token"); err != nil {
				return err
			}
			token := func(name string) call {
				return post("/api/v1/namespaces/"+a.namespace+"/serviceaccounts/"+name+"/token", newObject(authenticationV1, "TokenRequest", "").with("spec", object{}))
			}
			account := newObject("v1", "ServiceAccount", "a")
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("create", "", "serviceaccounts/token", "a")), account),
				send(token("a").as(a.user()), code(http.StatusCreated)),
				a.denied(a.user(), token("b"), "create serviceaccounts/token b"))
		}),
		named("RB-12/write", "an apply or a PUT that creates has a name", "the URL has the name", func(ctx context.Context, a *access) error {
			const group = "coordination.k8s.io"
			lease := newObject(group+"/v1", "Lease", "a")
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("patch,create", "", "configmaps", "a"), policyRule("update,create", group, "leases", "a")),
				send(apply(a.item("a"), a.object("a")).as(a.user()), code(http.StatusCreated)),
				a.denied(a.user(), apply(a.item("b"), a.object("b")), "patch configmaps b"),
				send(put(a.itemOf(lease), lease).as(a.user()), code(http.StatusCreated)))
		}),
		must("RB-13", "a rule allows its verbs for its own resources and names only", "rules are read one by one", func(ctx context.Context, a *access) error {
			rules := []object{policyRule("get", "", "configmaps", "a"), policyRule("delete", "", "configmaps", "b"), policyRule("list", "", "secrets")}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), rules...), a.object("a"), a.object("b")),
				allowed(a.user(), get(a.item("a"))),
				a.denied(a.user(), del(a.item("a")), "delete configmaps a"),
				a.denied(a.user(), get(a.item("b")), "get configmaps b"),
				a.denied(a.user(), get(a.path()), "list configmaps"),
				allowed(a.user(), del(a.item("b"))))
		}),
		must("RB-14", "the permissions of all roles of a user add up", "there are no rules that deny", func(ctx context.Context, a *access) error {
			user := userSubject(a.user())
			return a.check(ctx, append(append(append(a.grant("a", user, policyRule("get", "", "configmaps")), a.grant("b", user, policyRule("list", "", "configmaps"))...),
				a.grantCluster("c", user, policyRule("list", "", "secrets"))...), a.object("a"), a.role("d"), a.bind("d", "Role", "d", user)),
				allowed(a.user(), get(a.item("a"))), allowed(a.user(), get(a.path())),
				allowed(a.user(), get("/api/v1/namespaces/"+a.namespace+"/secrets")),
				a.denied(a.user(), del(a.item("a")), "delete configmaps a"))
		}),
		must("RB-15", "a rule is about the resources of its API groups only; \"\" is the core group", "the same name is a resource of several groups", func(ctx context.Context, a *access) error {
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("list", "events.k8s.io", "events,deployments")), a.grant("o", userSubject(a.other()), policyRule("list", "", "events"))...),
				allowed(a.user(), get(a.in("events.k8s.io/v1", "events"))),
				a.denied(a.user(), get("/api/v1/namespaces/"+a.namespace+"/events"), "list events"),
				a.denied(a.user(), get(a.in("apps/v1", "deployments")), "list deployments.apps"),
				allowed(a.other(), get("/api/v1/namespaces/"+a.namespace+"/events")),
				a.denied(a.other(), get(a.in("events.k8s.io/v1", "events")), "list events.events.k8s.io"))
		}),
		must("RB-16", "the API group * includes all groups", "administrators need one rule", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("list", "*", "deployments,configmaps")),
				allowed(a.user(), get(a.path())), allowed(a.user(), get(a.in("apps/v1", "deployments"))),
				a.denied(a.user(), get(a.in("apps/v1", "statefulsets")), "list statefulsets.apps"))
		}),
		must("RB-17", "verbs, groups, resources and names of rules are compared exactly, without patterns", "a typing error must not grant more", func(ctx context.Context, a *access) error {
			rules := []object{
				policyRule("*", "", "config*,ConfigMaps,configmap,v1/configmaps"), policyRule("g*,GET,all", "", "configmaps"), policyRule("get", "", "configmaps", "a*", "*"),
				{"verbs": []string{"*"}, "apiGroups": []string{"app*", "*.k8s.io", "core", "v1", "apps/v1"}, "resources": []string{"*"}},
			}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), rules...), a.object("a")),
				a.denied(a.user(), get(a.item("a")), "get configmaps a"),
				a.denied(a.user(), get(a.path()), "list configmaps"),
				a.denied(a.user(), get(a.in("apps/v1", "deployments")), "list deployments.apps"),
				a.denied(a.user(), get(a.in("networking.k8s.io/v1", "ingresses")), "list ingresses.networking.k8s.io"))
		}),
		must("RB-18", "a rule is about all versions of a resource", "clients use different versions", func(ctx context.Context, a *access) error {
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("list", "autoscaling", "horizontalpodautoscalers")), a.grant("o", userSubject(a.other()), policyRule("get", "autoscaling", "horizontalpodautoscalers"))...),
				allowed(a.user(), get(a.in("autoscaling/v1", "horizontalpodautoscalers"))),
				allowed(a.user(), get(a.in("autoscaling/v2", "horizontalpodautoscalers"))),
				a.denied(a.other(), get(a.in("autoscaling/v2", "horizontalpodautoscalers")), "list horizontalpodautoscalers.autoscaling"))
		}),
		must("RB-19", "the resource * includes all resources and subresources of a group", "administrators of a group need one rule", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("get,list", "apps", "*")),
				allowed(a.user(), get(a.in("apps/v1", "deployments"))),
				send(get(a.in("apps/v1", "deployments/a")).as(a.user()), code(http.StatusNotFound)),
				send(get(a.in("apps/v1", "deployments/a/scale")).as(a.user()), code(http.StatusNotFound)),
				send(get(a.in("apps/v1", "statefulsets/a/status")).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(a.path()), "list configmaps"))
		}),
		must("RB-20", "a rule about a subresource does not include its resource", "a scaler must not change a Deployment", func(ctx context.Context, a *access) error {
			scale := a.in("apps/v1", "deployments/a/scale")
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("get,patch", "apps", "deployments/scale")),
				send(get(scale).as(a.user()), code(http.StatusNotFound)),
				send(mergePatch(scale, object{"spec": object{"replicas": 1}}).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(a.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				a.denied(a.user(), get(a.in("apps/v1", "deployments/a/status")), "get deployments.apps/status a"))
		}),
		must("RB-20/resource", "a rule about a resource does not include its subresources", "exec, logs and evictions are granted on their own", checkDeniedSubresources),
		must("RB-21", "the resource */SUBRESOURCE includes this subresource of all resources of a group", "a scaler scales all kinds", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("get", "apps", "*/scale")),
				send(get(a.in("apps/v1", "deployments/a/scale")).as(a.user()), code(http.StatusNotFound)),
				send(get(a.in("apps/v1", "statefulsets/a/scale")).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(a.in("apps/v1", "deployments/a/status")), "get deployments.apps/status a"),
				a.denied(a.user(), get(a.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				a.denied(a.user(), get("/api/v1/namespaces/"+a.namespace+"/replicationcontrollers/a/scale"), "get replicationcontrollers/scale a"))
		}),
		must("RB-22", "rules may name resources that are not served: allowed requests get 404, others 403", "roles are created before CRDs", func(ctx context.Context, a *access) error {
			const group = "nothing.example.com"
			path := a.in(group+"/v1", "things")
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("list", group, "things")),
				send(get(path).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(path+"/a"), "get things."+group+" a"),
				a.denied(a.other(), get(path), "list things."+group))
		}),
	}
}

func checkDeniedSubresources(ctx context.Context, a *access) error {
	pod := "/api/v1/namespaces/" + a.namespace + "/pods/a/"
	eviction := newObject("policy/v1", "Eviction", "a")
	binding := newObject("v1", "Binding", "a").with("target", object{"kind": "Node", "name": noNode})
	return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("*", "", "pods")),
		send(get(pod[:len(pod)-1]).as(a.user()), code(http.StatusNotFound)),
		a.denied(a.user(), get(pod+"log"), "get pods/log a"),
		a.denied(a.user(), post(pod+"exec?command=id", nil), "create pods/exec a"),
		a.denied(a.user(), post(pod+"eviction", eviction), "create pods/eviction a"),
		a.denied(a.user(), post(pod+"binding", binding), "create pods/binding a"),
		a.denied(a.user(), get(pod+"proxy/b/c"), "get pods/proxy a"),
		a.denied(a.user(), mergePatch(pod+"ephemeralcontainers", object{"spec": object{}}), "patch pods/ephemeralcontainers a"))
}
