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

// verbRequests returns a request for each verb about the ConfigMap a. None of them changes anything.
func (p *access) verbRequests() []verbRequest {
	a := p.object("a")
	return []verbRequest{
		{"get", "get configmaps a", get(p.item("a"))},
		{"list", "list configmaps", get(p.path())},
		{"watch", "watch configmaps", get(p.path() + "?watch=1&timeoutSeconds=1")},
		{"create", "create configmaps", p.dryRunCreate(p.object("new"))},
		{"update", "update configmaps a", put(p.item("a"), a).withQuery("dryRun=All")},
		{"patch", "patch configmaps a", mergePatch(p.item("a"), object{"data": object{"k": "1"}}).withQuery("dryRun=All")},
		{"delete", "delete configmaps a", del(p.item("a")).withQuery("dryRun=All")},
		{"deletecollection", "deletecollection configmaps", del(p.path()).withQuery("dryRun=All")},
	}
}

// accessVerbCases returns the cases about the verbs of requests (RB-01 to RB-08).
func accessVerbCases() []Case {
	must := accessRules(Must, docRequestVerbs)
	creation := accessRules(Must, docCreationByWrite)
	cases := []Case{
		accessRules(Must, docRBAC)("RB-02", "a user without roles may do nothing", "permissions are granted, and nothing is by default", func(ctx context.Context, p *access) error {
			var requests []exchange
			for _, one := range p.verbRequests() {
				requests = append(requests, p.denied(p.user(), one.call, one.action))
			}
			return p.check(ctx, []object{p.object("a")}, requests...)
		}),
		must("RB-03", "patches of all types have the verb patch", "the type of a patch is a choice of the client", func(ctx context.Context, p *access) error {
			data := object{"data": object{"k": "1"}}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("patch", "", "configmaps")), p.object("a")),
				allowed(p.user(), mergePatch(p.item("a"), data)),
				allowed(p.user(), strategicPatch(p.item("a"), data)),
				allowed(p.user(), jsonPatch(p.item("a"), setOp("/data/k", "1"))),
				allowed(p.user(), apply(p.item("a"), p.object("a").withData("k", "1")).withQuery("force=true")),
				p.denied(p.user(), get(p.item("a")), "get configmaps a"))
		}),
		must("RB-04", "the parameter watch decides between the verbs list and watch", "a watch may be forbidden to users that list", func(ctx context.Context, p *access) error {
			watch := func(query string) exchange {
				return p.denied(p.user(), get(p.path()+"?timeoutSeconds=1&watch"+query), "watch configmaps")
			}
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("get,list", "", "configmaps")),
				allowed(p.user(), get(p.path()+"?watch=false")),
				allowed(p.user(), get(p.path()+"?watch=0")),
				watch("=true"), watch("=1"), watch(""), watch("=maybe"))
		}),
		must("RB-04/paths", "paths that begin with watch have the verb watch", "a watch may be forbidden to users that list", func(ctx context.Context, p *access) error {
			old := "/api/v1/watch/namespaces/" + p.namespace + "/configmaps"
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("get,list", "", "configmaps")), p.grant("o", userSubject(p.other()), policyRule("watch", "", "configmaps"))...),
				p.denied(p.user(), get(old), "watch configmaps"),
				p.denied(p.user(), get(old+"/a"), "watch configmaps a"),
				deniedInCluster(p.user(), get("/api/v1/watch/configmaps"), "watch configmaps"),
				allowed(p.other(), get(old+"?timeoutSeconds=1")))
		}),
		must("RB-05", "the verb * includes all verbs, also those that no request has", "administrators of a resource need one rule", func(ctx context.Context, p *access) error {
			var requests []exchange
			for _, one := range p.verbRequests() {
				requests = append(requests, allowed(p.user(), one.call))
			}
			requests = append(requests, p.review(p.user(), true, "use configmaps a"), p.review(p.user(), false, "use secrets a"))
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule("*", "", "configmaps")), p.object("a")), requests...)
		}),
		must("RB-06", "HEAD has the verb get for an object and list for a collection", "HEAD reveals whether an object exists", func(ctx context.Context, p *access) error {
			return p.check(ctx, append(append(p.grant("g", userSubject(p.user()), policyRule("get", "", "configmaps")), p.grant("l", userSubject(p.other()), policyRule("list", "", "configmaps"))...), p.object("a")),
				send(head(p.item("a")).as(p.user()), code(http.StatusOK, http.StatusMethodNotAllowed)),
				send(head(p.path()).as(p.user()), code(http.StatusForbidden)),
				send(head(p.item("a")).as(p.other()), code(http.StatusForbidden)),
				send(head(p.path()).as(p.other()), code(http.StatusOK, http.StatusMethodNotAllowed)))
		}),
		creation("RB-07", "an apply that creates requires create and patch", "apply would otherwise create without permission", checkCreationByApply),
		creation("RB-08", "a PUT that creates requires create and update", "PUT would otherwise create without permission", checkCreationByPut),
		creation("RB-08/absent", "a PUT of an absent object of a type without creation by PUT gets 404 with the verb update", "nothing would be created", func(ctx context.Context, p *access) error {
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("update", "", "configmaps")),
				send(put(p.item("new"), p.object("new")).as(p.user()), code(http.StatusNotFound)),
				p.denied(p.user(), get(p.item("new")), "get configmaps new"))
		}),
	}
	for i, one := range (&access{}).verbRequests() {
		title := fmt.Sprintf("the verb %s allows nothing but %s", one.verb, one.verb)
		cases = append(cases, must("RB-01/"+one.verb, title, "each verb is granted on its own", func(ctx context.Context, p *access) error {
			var requests []exchange
			for j, other := range p.verbRequests() {
				if i == j {
					requests = append(requests, allowed(p.user(), other.call))
				} else {
					requests = append(requests, p.denied(p.user(), other.call, other.action))
				}
			}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), policyRule(one.verb, "", "configmaps")), p.object("a")), requests...)
		}))
	}
	return cases
}

// deniedCreation is like denied for the creation by an apply or a PUT, which the handler of the
// request authorizes, so that the response lacks a header.
func (p *access) deniedCreation(c call, action string) exchange {
	e := p.denied(p.user(), c, action)
	e.expect = e.expect[1:] // hasNosniff
	return e
}

func checkCreationByApply(ctx context.Context, p *access) error {
	r := p.role("r", policyRule("patch", "", "configmaps"))
	create := apply(p.item("new"), p.object("new"))
	if err := p.check(ctx, []object{r, p.bind("r", "Role", "r", userSubject(p.user()))},
		p.deniedCreation(create, "create configmaps new"),
		send(get(p.item("new")), code(http.StatusNotFound))); err != nil {
		return err
	}
	more := object{"rules": []object{policyRule("patch,create", "", "configmaps")}}
	if err := p.change(ctx, mergePatch(p.itemOf(r), more)); err != nil {
		return err
	}
	return p.s.expect(ctx, create.as(p.user()), code(http.StatusCreated))
}

func checkCreationByPut(ctx context.Context, p *access) error {
	const group = "coordination.k8s.io"
	lease := newObject(group+"/v1", "Lease", "new")
	r := p.role("r", policyRule("update", group, "leases"))
	create := put(p.itemOf(lease), lease)
	if err := p.check(ctx, []object{r, p.bind("r", "Role", "r", userSubject(p.user()))},
		p.deniedCreation(create, "create leases."+group+" new"),
		send(get(p.itemOf(lease)), code(http.StatusNotFound))); err != nil {
		return err
	}
	more := object{"rules": []object{policyRule("update,create", group, "leases")}}
	if err := p.change(ctx, mergePatch(p.itemOf(r), more)); err != nil {
		return err
	}
	return p.s.expect(ctx, create.as(p.user()), code(http.StatusCreated))
}
