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
func (a *access) inOtherNamespace(ctx context.Context) (path, name string, err error) {
	name, err = a.s.namespace(ctx)
	return "/api/v1/namespaces/" + name + "/configmaps", name, err
}

// accessScopeCases returns the cases about namespaces, the cluster scope and paths that are not
// resources (RB-23 to RB-34).
func accessScopeCases() []Case {
	must := accessRules(Must, docAccessScope)
	paths := accessRules(Must, docAccessPaths)
	return []Case{
		must("RB-23", "a RoleBinding grants permissions in its namespace only", "namespaces separate users", func(ctx context.Context, a *access) error {
			elsewhere, namespace, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("*", "*", "*")), a.clusterRole("c", policyRule("*", "*", "*")), a.bind("c", "ClusterRole", a.name("c"), userSubject(a.other()))),
				allowed(a.user(), get(a.path())), allowed(a.other(), get(a.path())),
				deniedAt(`in the namespace "`+namespace+`"`, a.user(), get(elsewhere), "list configmaps"),
				deniedAt(`in the namespace "`+namespace+`"`, a.other(), get(elsewhere), "list configmaps"))
		}),
		must("RB-24", "a request across namespaces requires permission at the cluster scope", "it would return objects of all namespaces", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("*", "", "configmaps")),
				allowed(a.user(), get(a.path())),
				deniedInCluster(a.user(), get("/api/v1/configmaps"), "list configmaps"),
				deniedInCluster(a.user(), get("/api/v1/configmaps?watch=1&timeoutSeconds=1"), "watch configmaps"),
				deniedInCluster(a.user(), get("/api/v1/configmaps?fieldSelector=metadata.namespace%3D"+a.namespace), "list configmaps"))
		}),
		accessRules(Must, docRequestInfo)("RB-25", "requests for a Namespace by name are in that namespace, others at the cluster scope", "a user manages an own namespace", checkNamespaceAccess),
		must("RB-26", "a RoleBinding to a ClusterRole grants its permissions in the namespace", "a role is defined once for all namespaces", func(ctx context.Context, a *access) error {
			return a.check(ctx, []object{a.clusterRole("c", policyRule("list", "", "configmaps")), a.bind("b", "ClusterRole", a.name("c"), userSubject(a.user()))},
				allowed(a.user(), get(a.path())),
				deniedInCluster(a.user(), get("/api/v1/configmaps"), "list configmaps"))
		}),
		must("RB-27", "a ClusterRoleBinding grants permissions in all namespaces and at the cluster scope", "administrators and controllers work in all namespaces", func(ctx context.Context, a *access) error {
			elsewhere, _, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), policyRule("list", "", "configmaps")),
				allowed(a.user(), get(a.path())), allowed(a.user(), get(elsewhere)), allowed(a.user(), get("/api/v1/configmaps?limit=1")),
				deniedInCluster(a.user(), get("/api/v1/secrets"), "list secrets"),
				deniedInCluster(a.other(), get("/api/v1/configmaps"), "list configmaps"))
		}),
		must("RB-28", "cluster-scoped resources require a ClusterRoleBinding", "they are in no namespace", func(ctx context.Context, a *access) error {
			rule := policyRule("get,list", "", "nodes")
			return a.check(ctx, append(append(a.grant("r", userSubject(a.user()), rule), a.bind("b", "ClusterRole", a.name("c"), userSubject(a.user()))), a.grantCluster("c", userSubject(a.other()), rule)...),
				deniedInCluster(a.user(), get("/api/v1/nodes"), "list nodes"),
				deniedInCluster(a.user(), get("/api/v1/nodes/"+a.name("absent")), "get nodes "+a.name("absent")),
				allowed(a.other(), get("/api/v1/nodes?limit=1")),
				send(get("/api/v1/nodes/"+a.name("absent")).as(a.other()), code(http.StatusNotFound)))
		}),
		paths("RB-29", "nonResourceURLs name paths exactly", "a path below may reveal more", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), pathRule("get", path)),
				send(get(path).as(a.user()), code(http.StatusNotFound)),
				deniedPath(a.user(), get(path+"/")), deniedPath(a.user(), get(path+"/a")), deniedPath(a.user(), get(path+"s")),
				deniedPath(a.other(), get(path)))
		}),
		paths("RB-30", "a * at the end of a path matches any suffix; elsewhere it is a character", "a rule is about a tree of paths", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), pathRule("get", path+"/*", path+"-*-a")),
				send(get(path+"/").as(a.user()), code(http.StatusNotFound)),
				send(get(path+"/a/b").as(a.user()), code(http.StatusNotFound)),
				deniedPath(a.user(), get(path)),
				deniedPath(a.user(), get(path+"-b-a")))
		}),
		paths("RB-31", "the path * alone matches all paths, and no resources", "monitoring reads all paths", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), pathRule("get", "*")),
				send(get("/"+a.name("path")+"/a").as(a.user()), code(http.StatusNotFound)),
				allowed(a.user(), get("/")),
				a.denied(a.user(), get(a.path()), "list configmaps"))
		}),
		accessRules(Must, docRequestVerbs)("RB-32", "the verb of a path that is not a resource is the HTTP method", "such paths have no other verbs", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			return a.check(ctx, append(a.grantCluster("c", userSubject(a.user()), pathRule("get,list,create,update,delete", path)), a.grantCluster("d", userSubject(a.other()), pathRule("post", path))...),
				send(get(path).as(a.user()), code(http.StatusNotFound)),
				deniedPath(a.user(), post(path, object{})), deniedPath(a.user(), put(path, object{})), deniedPath(a.user(), mergePatch(path, object{})),
				send(head(path).as(a.user()), code(http.StatusForbidden)),
				deniedPath(a.other(), get(path)),
				send(post(path, object{}).as(a.other()), code(http.StatusNotFound, http.StatusMethodNotAllowed)))
		}),
		paths("RB-33", "a RoleBinding grants no paths", "paths are in no namespace", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			return a.check(ctx, []object{a.clusterRole("c", pathRule("get", path), policyRule("list", "", "configmaps")), a.bind("b", "ClusterRole", a.name("c"), userSubject(a.user()))},
				allowed(a.user(), get(a.path())),
				deniedPath(a.user(), get(path)))
		}),
		paths("RB-34", "rules about all resources grant no paths", "resources and paths are granted on their own", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), policyRule("*", "*", "*")),
				allowed(a.user(), get("/api/v1/nodes?limit=1")),
				deniedPath(a.user(), get("/"+a.name("path"))),
				deniedPath(a.user(), get("/logs/"+a.name("path"))))
		}),
	}
}

func checkNamespaceAccess(ctx context.Context, a *access) error {
	_, other, err := a.inOtherNamespace(ctx)
	if err != nil {
		return err
	}
	own := namespacePath(a.namespace)
	_, further := a.s.nameNewNamespace()
	return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("get,list,create", "", "namespaces")),
		allowed(a.user(), get(own)),
		a.denied(a.user(), mergePatch(own, object{"metadata": object{"labels": object{"a": "b"}}}), "patch namespaces "+a.namespace),
		a.denied(a.user(), put(own+"/finalize", newObject("v1", "Namespace", a.namespace)), "update namespaces/finalize "+a.namespace),
		deniedAt(`in the namespace "`+other+`"`, a.user(), get(namespacePath(other)), "get namespaces "+other),
		deniedInCluster(a.user(), get("/api/v1/namespaces"), "list namespaces"),
		deniedInCluster(a.user(), post("/api/v1/namespaces", further), "create namespaces"))
}
