package conformance

import (
	"context"
	"net/http"
)

const (
	docAccessScope = "kubernetes.io, Using RBAC Authorization, API objects; k/k pkg/registry/rbac/validation/rule.go"
	docAccessPaths = "kubernetes.io, Using RBAC Authorization, API objects; k/k pkg/apis/rbac/v1/evaluation_helpers.go"
)

// inOtherNamespace creates another namespace, and returns the path of its ConfigMaps and its name.
func (p *access) inOtherNamespace(ctx context.Context) (path, name string, err error) {
	name, err = p.s.namespace(ctx)
	return "/api/v1/namespaces/" + name + "/configmaps", name, err
}

// accessScopeCases returns the cases about namespaces, the cluster scope and paths that are not
// resources (RB-23 to RB-34).
func accessScopeCases() []Case {
	must := accessRules(Must, docAccessScope)
	paths := accessRules(Must, docAccessPaths)
	return []Case{
		must("RB-23", "a RoleBinding grants permissions in its namespace only", "namespaces separate users", func(ctx context.Context, p *access) error {
			elsewhere, namespace, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("*", "*", "*")), p.clusterRole("c", policyRule("*", "*", "*")), p.bind("c", "ClusterRole", p.name("c"), userSubject(p.other()))),
				allowed(p.user(), get(p.path())), allowed(p.other(), get(p.path())),
				deniedAt(`in the namespace "`+namespace+`"`, p.user(), get(elsewhere), "list configmaps"),
				deniedAt(`in the namespace "`+namespace+`"`, p.other(), get(elsewhere), "list configmaps"))
		}),
		must("RB-24", "a request across namespaces requires permission at the cluster scope", "it would return objects of all namespaces", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("*", "", "configmaps")),
				allowed(p.user(), get(p.path())),
				deniedInCluster(p.user(), get("/api/v1/configmaps"), "list configmaps"),
				deniedInCluster(p.user(), get("/api/v1/configmaps?watch=1&timeoutSeconds=1"), "watch configmaps"),
				deniedInCluster(p.user(), get("/api/v1/configmaps?fieldSelector=metadata.namespace%3D"+p.namespace), "list configmaps"))
		}),
		accessRules(Must, docRequestInfo)("RB-25", "requests for a Namespace by name are in that namespace, others at the cluster scope", "a user manages an own namespace", checkNamespaceAccess),
		must("RB-26", "a RoleBinding to a ClusterRole grants its permissions in the namespace", "a role is defined once for all namespaces", func(ctx context.Context, p *access) error {
			return p.check(ctx, []object{p.clusterRole("c", policyRule("list", "", "configmaps")), p.bind("b", "ClusterRole", p.name("c"), userSubject(p.user()))},
				allowed(p.user(), get(p.path())),
				deniedInCluster(p.user(), get("/api/v1/configmaps"), "list configmaps"))
		}),
		must("RB-27", "a ClusterRoleBinding grants permissions in all namespaces and at the cluster scope", "administrators and controllers work in all namespaces", func(ctx context.Context, p *access) error {
			elsewhere, _, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), policyRule("list", "", "configmaps")),
				allowed(p.user(), get(p.path())), allowed(p.user(), get(elsewhere)), allowed(p.user(), get("/api/v1/configmaps?limit=1")),
				deniedInCluster(p.user(), get("/api/v1/secrets"), "list secrets"),
				deniedInCluster(p.other(), get("/api/v1/configmaps"), "list configmaps"))
		}),
		must("RB-28", "cluster-scoped resources require a ClusterRoleBinding", "they are in no namespace", func(ctx context.Context, p *access) error {
			rule := policyRule("get,list", "", "nodes")
			return p.check(ctx, append(append(p.grant("r", userSubject(p.user()), rule), p.bind("b", "ClusterRole", p.name("c"), userSubject(p.user()))), p.grantCluster("c", userSubject(p.other()), rule)...),
				deniedInCluster(p.user(), get("/api/v1/nodes"), "list nodes"),
				deniedInCluster(p.user(), get("/api/v1/nodes/"+p.name("absent")), "get nodes "+p.name("absent")),
				allowed(p.other(), get("/api/v1/nodes?limit=1")),
				send(get("/api/v1/nodes/"+p.name("absent")).as(p.other()), code(http.StatusNotFound)))
		}),
		paths("RB-29", "nonResourceURLs name paths exactly", "a path below may reveal more", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), pathRule("get", path)),
				send(get(path).as(p.user()), code(http.StatusNotFound)),
				deniedPath(p.user(), get(path+"/")), deniedPath(p.user(), get(path+"/a")), deniedPath(p.user(), get(path+"s")),
				deniedPath(p.other(), get(path)))
		}),
		paths("RB-30", "a * at the end of a path matches any suffix; elsewhere it is a character", "a rule is about a tree of paths", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), pathRule("get", path+"/*", path+"-*-a")),
				send(get(path+"/").as(p.user()), code(http.StatusNotFound)),
				send(get(path+"/a/b").as(p.user()), code(http.StatusNotFound)),
				deniedPath(p.user(), get(path)),
				deniedPath(p.user(), get(path+"-b-a")))
		}),
		paths("RB-31", "the path * alone matches all paths, and no resources", "monitoring reads all paths", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), pathRule("get", "*")),
				send(get("/"+p.name("path")+"/a").as(p.user()), code(http.StatusNotFound)),
				allowed(p.user(), get("/")),
				p.denied(p.user(), get(p.path()), "list configmaps"))
		}),
		accessRules(Must, docRequestVerbs)("RB-32", "the verb of a path that is not a resource is the HTTP method", "such paths have no other verbs", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			return p.check(ctx, append(p.grantCluster("c", userSubject(p.user()), pathRule("get,list,create,update,delete", path)), p.grantCluster("d", userSubject(p.other()), pathRule("post", path))...),
				send(get(path).as(p.user()), code(http.StatusNotFound)),
				deniedPath(p.user(), post(path, object{})), deniedPath(p.user(), put(path, object{})), deniedPath(p.user(), mergePatch(path, object{})),
				send(head(path).as(p.user()), code(http.StatusForbidden)),
				deniedPath(p.other(), get(path)),
				send(post(path, object{}).as(p.other()), code(http.StatusNotFound, http.StatusMethodNotAllowed)))
		}),
		paths("RB-33", "a RoleBinding grants no paths", "paths are in no namespace", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			return p.check(ctx, []object{p.clusterRole("c", pathRule("get", path), policyRule("list", "", "configmaps")), p.bind("b", "ClusterRole", p.name("c"), userSubject(p.user()))},
				allowed(p.user(), get(p.path())),
				deniedPath(p.user(), get(path)))
		}),
		paths("RB-34", "rules about all resources grant no paths", "resources and paths are granted on their own", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), policyRule("*", "*", "*")),
				allowed(p.user(), get("/api/v1/nodes?limit=1")),
				deniedPath(p.user(), get("/"+p.name("path"))),
				deniedPath(p.user(), get("/logs/"+p.name("path"))))
		}),
	}
}

func checkNamespaceAccess(ctx context.Context, p *access) error {
	_, other, err := p.inOtherNamespace(ctx)
	if err != nil {
		return err
	}
	own := namespacePath(p.namespace)
	_, further := p.s.nameNewNamespace()
	return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("get,list,create", "", "namespaces")),
		allowed(p.user(), get(own)),
		p.denied(p.user(), mergePatch(own, object{"metadata": object{"labels": object{"a": "b"}}}), "patch namespaces "+p.namespace),
		p.denied(p.user(), put(own+"/finalize", newObject("v1", "Namespace", p.namespace)), "update namespaces/finalize "+p.namespace),
		deniedAt(`in the namespace "`+other+`"`, p.user(), get(namespacePath(other)), "get namespaces "+other),
		deniedInCluster(p.user(), get("/api/v1/namespaces"), "list namespaces"),
		deniedInCluster(p.user(), post("/api/v1/namespaces", further), "create namespaces"))
}
