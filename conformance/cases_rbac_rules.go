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
		named("RB-09", "resourceNames limit a rule to objects with these names", "a client may use one Secret of many", func(ctx context.Context, p *access) error {
			a, b := object{"data": object{"k": "1"}}, p.item("b")
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("get,update,patch,delete", "", "configmaps", "a", "absent")), p.object("a"), p.object("b")),
				allowed(p.user(), get(p.item("a"))),
				allowed(p.user(), put(p.item("a"), p.object("a"))),
				allowed(p.user(), mergePatch(p.item("a"), a)),
				send(get(p.item("absent")).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(b), "get configmaps b"),
				p.denied(p.user(), put(b, p.object("b")), "update configmaps b"),
				p.denied(p.user(), mergePatch(b, a), "patch configmaps b"),
				p.denied(p.user(), del(b), "delete configmaps b"),
				allowed(p.user(), del(p.item("a"))))
		}),
		named("RB-09/all", "a rule without resourceNames is about all names", "most rules are", func(ctx context.Context, p *access) error {
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("get", "", "configmaps")), p.object("a"), p.object("b")),
				allowed(p.user(), get(p.item("a"))), allowed(p.user(), get(p.item("b"))),
				send(get(p.item("c")).as(p.user()), code(http.StatusNotFound), hasReason("NotFound")))
		}),
		named("RB-10", "a rule with resourceNames allows list and watch with a field selector for one of the names", "a client watches its own object", func(ctx context.Context, p *access) error {
			by := func(selector string) call { return get(p.path() + "?fieldSelector=metadata.name" + selector) }
			watch := func(selector string) call { return by(selector).withQuery("watch=1&timeoutSeconds=1") }
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("list,watch", "", "configmaps", "a")), p.object("a"), p.object("b")),
				allowed(p.user(), by("%3Da")), allowed(p.user(), by("=a")), allowed(p.user(), watch("%3Da")),
				p.denied(p.user(), get(p.path()), "list configmaps"),
				p.denied(p.user(), by("%3Db"), "list configmaps b"),
				p.denied(p.user(), by("%21%3Db"), "list configmaps"),
				p.denied(p.user(), watch("%3Db"), "watch configmaps b"),
				p.denied(p.user(), get(p.path()+"?watch=1&timeoutSeconds=1"), "watch configmaps"),
				p.denied(p.user(), get(p.path()+"?labelSelector=metadata.name%3Da"), "list configmaps"))
		}),
		named("RB-11", "a rule with resourceNames allows no create and no deletecollection", "these requests have no name", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("create,deletecollection", "", "configmaps", "a")),
				p.denied(p.user(), post(p.path(), p.object("a")), "create configmaps"),
				p.denied(p.user(), del(p.path()), "deletecollection configmaps"),
				send(get(p.item("a")), code(http.StatusNotFound)))
		}),
		named("RB-12", "the creation of a subresource has a name", "a client requests tokens of one ServiceAccount", func(ctx context.Context, p *access) error {
			if err := p.s.skipUnlessServed(ctx, "v1", "serviceaccounts/token"); err != nil {
				return err
			}
			token := func(name string) call {
				return post("/api/v1/namespaces/"+p.namespace+"/serviceaccounts/"+name+"/token", newObject(authenticationV1, "TokenRequest", "").with("spec", object{}))
			}
			account := newObject("v1", "ServiceAccount", "a")
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("create", "", "serviceaccounts/token", "a")), account),
				send(token("a").as(p.user()), code(http.StatusCreated)),
				p.denied(p.user(), token("b"), "create serviceaccounts/token b"))
		}),
		named("RB-12/write", "an apply or a PUT that creates has a name", "the URL has the name", func(ctx context.Context, p *access) error {
			const group = "coordination.k8s.io"
			lease := newObject(group+"/v1", "Lease", "a")
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("patch,create", "", "configmaps", "a"), policyRule("update,create", group, "leases", "a")),
				send(apply(p.item("a"), p.object("a")).as(p.user()), code(http.StatusCreated)),
				p.denied(p.user(), apply(p.item("b"), p.object("b")), "patch configmaps b"),
				send(put(p.itemOf(lease), lease).as(p.user()), code(http.StatusCreated)))
		}),
		must("RB-13", "a rule allows its verbs for its own resources and names only", "rules are read one by one", func(ctx context.Context, p *access) error {
			rules := []object{policyRule("get", "", "configmaps", "a"), policyRule("delete", "", "configmaps", "b"), policyRule("list", "", "secrets")}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), rules...), p.object("a"), p.object("b")),
				allowed(p.user(), get(p.item("a"))),
				p.denied(p.user(), del(p.item("a")), "delete configmaps a"),
				p.denied(p.user(), get(p.item("b")), "get configmaps b"),
				p.denied(p.user(), get(p.path()), "list configmaps"),
				allowed(p.user(), del(p.item("b"))))
		}),
		must("RB-14", "the permissions of all roles of a user add up", "there are no rules that deny", func(ctx context.Context, p *access) error {
			user := userSubject(p.user())
			return p.check(ctx, append(append(append(p.grant("a", user, policyRule("get", "", "configmaps")), p.grant("b", user, policyRule("list", "", "configmaps"))...),
				p.grantCluster("c", user, policyRule("list", "", "secrets"))...), p.object("a"), p.role("d"), p.bind("d", "Role", "d", user)),
				allowed(p.user(), get(p.item("a"))), allowed(p.user(), get(p.path())),
				allowed(p.user(), get("/api/v1/namespaces/"+p.namespace+"/secrets")),
				p.denied(p.user(), del(p.item("a")), "delete configmaps a"))
		}),
		must("RB-15", "a rule is about the resources of its API groups only; \"\" is the core group", "the same name is a resource of several groups", func(ctx context.Context, p *access) error {
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("list", "events.k8s.io", "events,deployments")), p.grant("o", userSubject(p.other()), policyRule("list", "", "events"))...),
				allowed(p.user(), get(p.in("events.k8s.io/v1", "events"))),
				p.denied(p.user(), get("/api/v1/namespaces/"+p.namespace+"/events"), "list events"),
				p.denied(p.user(), get(p.in("apps/v1", "deployments")), "list deployments.apps"),
				allowed(p.other(), get("/api/v1/namespaces/"+p.namespace+"/events")),
				p.denied(p.other(), get(p.in("events.k8s.io/v1", "events")), "list events.events.k8s.io"))
		}),
		must("RB-16", "the API group * includes all groups", "administrators need one rule", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("list", "*", "deployments,configmaps")),
				allowed(p.user(), get(p.path())), allowed(p.user(), get(p.in("apps/v1", "deployments"))),
				p.denied(p.user(), get(p.in("apps/v1", "statefulsets")), "list statefulsets.apps"))
		}),
		must("RB-17", "verbs, groups, resources and names of rules are compared exactly, without patterns", "a typing error must not grant more", func(ctx context.Context, p *access) error {
			rules := []object{
				policyRule("*", "", "config*,ConfigMaps,configmap,v1/configmaps"), policyRule("g*,GET,all", "", "configmaps"), policyRule("get", "", "configmaps", "a*", "*"),
				{"verbs": []string{"*"}, "apiGroups": []string{"app*", "*.k8s.io", "core", "v1", "apps/v1"}, "resources": []string{"*"}},
			}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), rules...), p.object("a")),
				p.denied(p.user(), get(p.item("a")), "get configmaps a"),
				p.denied(p.user(), get(p.path()), "list configmaps"),
				p.denied(p.user(), get(p.in("apps/v1", "deployments")), "list deployments.apps"),
				p.denied(p.user(), get(p.in("networking.k8s.io/v1", "ingresses")), "list ingresses.networking.k8s.io"))
		}),
		must("RB-18", "a rule is about all versions of a resource", "clients use different versions", func(ctx context.Context, p *access) error {
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("list", "autoscaling", "horizontalpodautoscalers")), p.grant("o", userSubject(p.other()), policyRule("get", "autoscaling", "horizontalpodautoscalers"))...),
				allowed(p.user(), get(p.in("autoscaling/v1", "horizontalpodautoscalers"))),
				allowed(p.user(), get(p.in("autoscaling/v2", "horizontalpodautoscalers"))),
				p.denied(p.other(), get(p.in("autoscaling/v2", "horizontalpodautoscalers")), "list horizontalpodautoscalers.autoscaling"))
		}),
		must("RB-19", "the resource * includes all resources and subresources of a group", "administrators of a group need one rule", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("get,list", "apps", "*")),
				allowed(p.user(), get(p.in("apps/v1", "deployments"))),
				send(get(p.in("apps/v1", "deployments/a")).as(p.user()), code(http.StatusNotFound)),
				send(get(p.in("apps/v1", "deployments/a/scale")).as(p.user()), code(http.StatusNotFound)),
				send(get(p.in("apps/v1", "statefulsets/a/status")).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(p.path()), "list configmaps"))
		}),
		must("RB-20", "a rule about a subresource does not include its resource", "a scaler must not change a Deployment", func(ctx context.Context, p *access) error {
			scale := p.in("apps/v1", "deployments/a/scale")
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("get,patch", "apps", "deployments/scale")),
				send(get(scale).as(p.user()), code(http.StatusNotFound)),
				send(mergePatch(scale, object{"spec": object{"replicas": 1}}).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(p.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				p.denied(p.user(), get(p.in("apps/v1", "deployments/a/status")), "get deployments.apps/status a"))
		}),
		must("RB-20/resource", "a rule about a resource does not include its subresources", "exec, logs and evictions are granted on their own", checkDeniedSubresources),
		must("RB-21", "the resource */SUBRESOURCE includes this subresource of all resources of a group", "a scaler scales all kinds", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("get", "apps", "*/scale")),
				send(get(p.in("apps/v1", "deployments/a/scale")).as(p.user()), code(http.StatusNotFound)),
				send(get(p.in("apps/v1", "statefulsets/a/scale")).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(p.in("apps/v1", "deployments/a/status")), "get deployments.apps/status a"),
				p.denied(p.user(), get(p.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				p.denied(p.user(), get("/api/v1/namespaces/"+p.namespace+"/replicationcontrollers/a/scale"), "get replicationcontrollers/scale a"))
		}),
		must("RB-22", "rules may name resources that are not served: allowed requests get 404, others 403", "roles are created before CRDs", func(ctx context.Context, p *access) error {
			const group = "nothing.example.com"
			path := p.in(group+"/v1", "things")
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("list", group, "things")),
				send(get(path).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(path+"/a"), "get things."+group+" a"),
				p.denied(p.other(), get(path), "list things."+group))
		}),
	}
}

func checkDeniedSubresources(ctx context.Context, p *access) error {
	pod := "/api/v1/namespaces/" + p.namespace + "/pods/a/"
	eviction := newObject("policy/v1", "Eviction", "a")
	binding := newObject("v1", "Binding", "a").with("target", object{"kind": "Node", "name": noNode})
	return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("*", "", "pods")),
		send(get(pod[:len(pod)-1]).as(p.user()), code(http.StatusNotFound)),
		p.denied(p.user(), get(pod+"log"), "get pods/log a"),
		p.denied(p.user(), post(pod+"exec?command=id", nil), "create pods/exec a"),
		p.denied(p.user(), post(pod+"eviction", eviction), "create pods/eviction a"),
		p.denied(p.user(), post(pod+"binding", binding), "create pods/binding a"),
		p.denied(p.user(), get(pod+"proxy/b/c"), "get pods/proxy a"),
		p.denied(p.user(), mergePatch(pod+"ephemeralcontainers", object{"spec": object{}}), "patch pods/ephemeralcontainers a"))
}
