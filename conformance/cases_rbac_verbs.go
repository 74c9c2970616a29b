package conformance

import (
	"context"
	"fmt"
	"net/http"
)

const (
	docRBAC            = "kubernetes.io, Using RBAC Authorization"
	docRequestVerbs    = "kubernetes.io, Authorization, Determine the request verb; apiserver request/requestinfo.go"
	docRuleEvaluation  = "kubernetes.io, Using RBAC Authorization; k/k pkg/apis/rbac/v1/evaluation_helpers.go"
	docCreationByWrite = "kubernetes.io, Authorization; apiserver handlers/update.go, handlers/patch.go"
)

// verbRequest is a request with a verb, and the action that its denial names.
type verbRequest struct {
	verb, action string
	call         call
}

// verbRequests returns a request for each verb about the ConfigMap a. None of them changes
// anything.
func (a *access) verbRequests() []verbRequest {
	return []verbRequest{
		{"get", "get configmaps a", get(a.item("a"))},
		{"list", "list configmaps", get(a.path())},
		{"watch", "watch configmaps", get(a.path() + "?watch=1&timeoutSeconds=1")},
		{"create", "create configmaps", a.dryRunCreate(a.object("new"))},
		{"update", "update configmaps a", put(a.item("a"), a.object("a")).withQuery("dryRun=All")},
		{"patch", "patch configmaps a", mergePatch(a.item("a"), object{"data": object{"k": "1"}}).withQuery("dryRun=All")},
		{"delete", "delete configmaps a", del(a.item("a")).withQuery("dryRun=All")},
		{"deletecollection", "deletecollection configmaps", del(a.path()).withQuery("dryRun=All")},
	}
}

// accessVerbCases returns the cases about the verbs of requests (RB-01 to RB-08).
func accessVerbCases() []Case {
	must := accessRules(Must, docRequestVerbs)
	creation := accessRules(Must, docCreationByWrite)
	cases := []Case{
		accessRules(Must, docRBAC)("RB-02", "a user without roles may do nothing", "permissions are granted, and nothing is by default", func(ctx context.Context, a *access) error {
			var requests []exchange
			for _, one := range a.verbRequests() {
				requests = append(requests, a.denied(a.user(), one.call, one.action))
			}
			return a.check(ctx, []object{a.object("a")}, requests...)
		}),
		must("RB-03", "patches of all types have the verb patch", "the type of a patch is a choice of the client", func(ctx context.Context, a *access) error {
			data := object{"data": object{"k": "1"}}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("patch", "", "configmaps")), a.object("a")),
				allowed(a.user(), mergePatch(a.item("a"), data)),
				allowed(a.user(), strategicPatch(a.item("a"), data)),
				allowed(a.user(), jsonPatch(a.item("a"), setOp("/data/k", "1"))),
				allowed(a.user(), apply(a.item("a"), a.object("a").withData("k", "1")).withQuery("force=true")),
				a.denied(a.user(), get(a.item("a")), "get configmaps a"))
		}),
		must("RB-04", "the parameter watch decides between the verbs list and watch", "a watch may be forbidden to users that list", func(ctx context.Context, a *access) error {
			watch := func(query string) exchange {
				return a.denied(a.user(), get(a.path()+"?timeoutSeconds=1&watch"+query), "watch configmaps")
			}
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("get,list", "", "configmaps")),
				allowed(a.user(), get(a.path()+"?watch=false")),
				allowed(a.user(), get(a.path()+"?watch=0")),
				watch("=true"), watch("=1"), watch(""), watch("=maybe"))
		}),
		must("RB-04/paths", "paths that begin with watch have the verb watch", "a watch may be forbidden to users that list", func(ctx context.Context, a *access) error {
			old := "/api/v1/watch/namespaces/" + a.namespace + "/configmaps"
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("get,list", "", "configmaps")), a.grant("o", userSubject(a.other()), policyRule("watch", "", "configmaps"))...),
				a.denied(a.user(), get(old), "watch configmaps"),
				a.denied(a.user(), get(old+"/a"), "watch configmaps a"),
				deniedInCluster(a.user(), get("/api/v1/watch/configmaps"), "watch configmaps"),
				allowed(a.other(), get(old+"?timeoutSeconds=1")))
		}),
		must("RB-05", "the verb * includes all verbs, also those that no request has", "administrators of a resource need one rule", func(ctx context.Context, a *access) error {
			var requests []exchange
			for _, one := range a.verbRequests() {
				requests = append(requests, allowed(a.user(), one.call))
			}
			requests = append(requests, a.review(a.user(), true, "use configmaps a"), a.review(a.user(), false, "use secrets a"))
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule("*", "", "configmaps")), a.object("a")), requests...)
		}),
		must("RB-06", "HEAD has the verb get for an object and list for a collection", "HEAD reveals whether an object exists", func(ctx context.Context, a *access) error {
			return a.check(ctx, append(append(a.grant("g", userSubject(a.user()), policyRule("get", "", "configmaps")), a.grant("l", userSubject(a.other()), policyRule("list", "", "configmaps"))...), a.object("a")),
				send(head(a.item("a")).as(a.user()), code(http.StatusOK, http.StatusMethodNotAllowed)),
				send(head(a.path()).as(a.user()), code(http.StatusForbidden)),
				send(head(a.item("a")).as(a.other()), code(http.StatusForbidden)),
				send(head(a.path()).as(a.other()), code(http.StatusOK, http.StatusMethodNotAllowed)))
		}),
		creation("RB-07", "an apply that creates requires create and patch", "apply would otherwise create without permission", checkCreationByApply),
		creation("RB-08", "a PUT that creates requires create and update", "PUT would otherwise create without permission", checkCreationByPut),
		creation("RB-08/absent", "a PUT of an absent object of a type without creation by PUT gets 404 with the verb update", "nothing would be created", func(ctx context.Context, a *access) error {
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("update", "", "configmaps")),
				send(put(a.item("new"), a.object("new")).as(a.user()), code(http.StatusNotFound)),
				a.denied(a.user(), get(a.item("new")), "get configmaps new"))
		}),
	}
	for i, one := range (&access{}).verbRequests() {
		title := fmt.Sprintf("the verb %s allows nothing but %s", one.verb, one.verb)
		cases = append(cases, must("RB-01/"+one.verb, title, "each verb is granted on its own", func(ctx context.Context, a *access) error {
			var requests []exchange
			for j, other := range a.verbRequests() {
				if i == j {
					requests = append(requests, allowed(a.user(), other.call))
				} else {
					requests = append(requests, a.denied(a.user(), other.call, other.action))
				}
			}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), policyRule(one.verb, "", "configmaps")), a.object("a")), requests...)
		}))
	}
	return cases
}

// deniedCreation is like denied for the creation by an apply or a PUT, which the handler of the
// request authorizes, so that the response lacks a header.
func (a *access) deniedCreation(c call, action string) exchange {
	e := a.denied(a.user(), c, action)
	e.expect = e.expect[1:] // hasNosniff
	return e
}

func checkCreationByApply(ctx context.Context, a *access) error {
	o := a.role("r", policyRule("patch", "", "configmaps"))
	create := apply(a.item("new"), a.object("new"))
	if err := a.check(ctx, []object{o, a.bind("r", "Role", "r", userSubject(a.user()))},
		a.deniedCreation(create, "create configmaps new"),
		send(get(a.item("new")), code(http.StatusNotFound))); err != nil {
		return err
	}
	more := object{"rules": []object{policyRule("patch,create", "", "configmaps")}}
	if err := a.change(ctx, mergePatch(a.itemOf(o), more)); err != nil {
		return err
	}
	return a.s.expect(ctx, create.as(a.user()), code(http.StatusCreated))
}

func checkCreationByPut(ctx context.Context, a *access) error {
	const group = "coordination.k8s.io"
	lease := newObject(group+"/v1", "Lease", "new")
	o := a.role("r", policyRule("update", group, "leases"))
	create := put(a.itemOf(lease), lease)
	if err := a.check(ctx, []object{o, a.bind("r", "Role", "r", userSubject(a.user()))},
		a.deniedCreation(create, "create leases."+group+" new"),
		send(get(a.itemOf(lease)), code(http.StatusNotFound))); err != nil {
		return err
	}
	more := object{"rules": []object{policyRule("update,create", group, "leases")}}
	if err := a.change(ctx, mergePatch(a.itemOf(o), more)); err != nil {
		return err
	}
	return a.s.expect(ctx, create.as(a.user()), code(http.StatusCreated))
}
