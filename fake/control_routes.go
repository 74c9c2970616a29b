package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// controlRoute is a request of the control API: its documentation, and what serves it.
type controlRoute struct {
	// method and path are those of the request. The path is below controlPrefix, with {name} for a
	// name.
	method, path string
	// doc says what the request does or returns.
	doc        string
	parameters []controlParameter
	// body says what the body has, or is "" if there is none.
	body string
	// example is the path and the query of an example, or "" for that of the path. exampleBody is the
	// body.
	example, exampleBody string
	do                   controlFunc
}

// controlParameter is a parameter of the query.
type controlParameter struct {
	Name string `json:"name"`
	Doc  string `json:"description"`
}

// pattern returns the pattern of the path for a http.ServeMux.
func (route controlRoute) pattern() string {
	if route.path == "" {
		return controlPrefix + "{$}"
	}
	return controlPrefix + route.path
}

// checkParameters returns an error for a parameter that the request does not have, or has twice.
func (route controlRoute) checkParameters(r *http.Request) error {
	for name, values := range r.URL.Query() {
		if !slices.ContainsFunc(route.parameters, func(p controlParameter) bool { return p.Name == name }) {
			names := []string{"none"}
			if len(route.parameters) > 0 {
				names = nil
			}
			for _, p := range route.parameters {
				names = append(names, p.Name)
			}
			return apierrors.NewBadRequest(fmt.Sprintf("unknown parameter %q; known: %s", name, strings.Join(names, ", ")))
		}
		if len(values) > 1 {
			return apierrors.NewBadRequest(fmt.Sprintf("the parameter %s is there %d times", name, len(values)))
		}
	}
	return nil
}

// Parameters of several requests.
var (
	sinceParameter     = controlParameter{"since", "a number: only what happened after it. Each response has the number for the next request, in the header Fakeapi-Next and in JSON as next"}
	waitParameter      = controlParameter{"wait", "a duration, at most 10m: wait so long for an item of the list. The response then also has the header Fakeapi-Met, and met in JSON: true, or false at the end of the wait"}
	countParameter     = controlParameter{"count", "wait for this number of items, not for one"}
	testParameter      = controlParameter{"test", "the name of a test: only the rules that were added with it"}
	expiresInParameter = controlParameter{"expiresIn", "a duration after which the credentials are not valid any more"}
)

// controlRoutes returns all requests of the control API. The index of the control API is made from
// them.
func controlRoutes() []controlRoute {
	return slices.Concat(
		[]controlRoute{{method: http.MethodGet, doc: "this index; also as JSON and as HTML", do: (*controlAPI).getIndex}},
		faultRoutes(), recordRoutes(), stateRoutes(), userRoutes(), forkRoutes(),
	)
}

func faultRoutes() []controlRoute {
	return []controlRoute{
		{method: http.MethodGet, path: "faults", doc: "the active fault rules", do: (*controlAPI).listFaults},
		{
			method: http.MethodPost, path: "faults", doc: "add fault rules, all of them or none, and return them",
			parameters: []controlParameter{{"test", "the name of a test, with which its rules can be removed"}},
			body:       "on each line a rule or a ready-made fault, such as expire410(resource(pods), first(1)), with or without a name and a colon before it",
			example:    "faults", exampleBody: "busy: when verb(list) && first(3) do status(429)", do: (*controlAPI).addFaults,
		},
		{method: http.MethodGet, path: "faults/ready-made", doc: "the ready-made faults, and the rules that they stand for", do: (*controlAPI).listReadyMade},
		{
			method: http.MethodGet, path: "hits", doc: "what the rules did to which requests, the latest 1024, or with wait, when a rule has done it",
			parameters: []controlParameter{{"rule", "the name of a rule: only its hits"}, sinceParameter, waitParameter, countParameter},
			example:    "hits?rule=busy&wait=10s", do: (*controlAPI).listHits,
		},
		{
			method: http.MethodDelete, path: "faults/{name}", doc: "remove the rules with a name", example: "faults/busy",
			do: (*controlAPI).removeFaults,
		},
		{
			method: http.MethodDelete, path: "faults", doc: "remove all rules", parameters: []controlParameter{testParameter},
			do: (*controlAPI).clearFaults,
		},
	}
}

func recordRoutes() []controlRoute {
	return []controlRoute{
		{
			method: http.MethodGet, path: "requests", doc: "the latest 1000 requests, and those that are open, or with wait, when a request has a response",
			parameters: slices.Concat([]controlParameter{sinceParameter, waitParameter, countParameter}, requestParameters()),
			example:    "requests?verb=list,watch&resource=pods&wait=10s", do: (*controlAPI).listRequests,
		},
		{
			method: http.MethodGet, path: "timeline", doc: "the requests, responses, watch events, hits and notes, in the order of time; for a browser as a page",
			parameters: []controlParameter{sinceParameter}, do: (*controlAPI).getTimeline,
		},
		{
			method: http.MethodPost, path: "notes", doc: "add a note to the timeline", body: "its text",
			exampleBody: "stop the leader", do: (*controlAPI).addNote,
		},
		{
			method: http.MethodGet, path: "access", doc: "which permissions each user and user agent needed",
			parameters: []controlParameter{{"client", "only those of this user or user agent"}, {"format", "text, json, or yaml for the smallest RBAC manifests"}},
			do:         (*controlAPI).getAccess,
		},
		{method: http.MethodDelete, path: "access", doc: "remove the record of permissions", do: action((*Server).ResetAccess)},
		{
			method: http.MethodPost, path: "reset", doc: "remove all fault rules and all records: hits, requests with the timeline, and access. The numbers of since go on",
			parameters: []controlParameter{
				{"keep", "what is not removed, separated by commas: faults, hits, timeline, access"},
				{"snapshot", "the name of a snapshot: also restore it"},
				{"bump", "with snapshot: how far the revision is raised. The default, 1000, makes running informers list again"},
			},
			do: (*controlAPI).reset,
		},
	}
}

func stateRoutes() []controlRoute {
	return []controlRoute{
		{method: http.MethodPost, path: "compact", doc: "compact the history: exact reads of the past and continue tokens get 410", do: action((*Server).Compact)},
		{method: http.MethodPost, path: "forget-history", doc: "forget the history: also watches from a past resourceVersion get 410", do: action((*Server).ForgetHistory)},
		{method: http.MethodPost, path: "run-controllers", doc: "run the controllers until they have no work left", do: (*controlAPI).runControllers},
		{method: http.MethodGet, path: "dump", doc: "all objects as YAML, for a file that fakeapi serve --load reads", do: (*controlAPI).getDump},
		{method: http.MethodGet, path: "snapshots", doc: "the snapshots", do: (*controlAPI).listSnapshots},
		{
			method: http.MethodPost, path: "snapshots/{name}", doc: "take a snapshot of all objects under a name", example: "snapshots/before",
			do: (*controlAPI).createSnapshot,
		},
		{
			method: http.MethodPost, path: "snapshots/{name}/restore", doc: "restore a snapshot, as from a backup of etcd",
			parameters: []controlParameter{{"bump", "how far the revision is raised, such as 1000, so that running informers list again. Without it, the revision goes back"}},
			example:    "snapshots/before/restore?bump=1000", do: (*controlAPI).restoreSnapshot,
		},
		{method: http.MethodDelete, path: "snapshots/{name}", doc: "remove a snapshot", example: "snapshots/before", do: (*controlAPI).deleteSnapshot},
	}
}

func userRoutes() []controlRoute {
	return []controlRoute{
		{method: http.MethodGet, path: "kubeconfig", doc: "a kubeconfig for the administrator", do: (*controlAPI).getKubeconfig},
		{
			method: http.MethodPost, path: "kubeconfigs", doc: "a kubeconfig with new credentials, on a server with TLS", parameters: []controlParameter{expiresInParameter},
			body: "USER,GROUP,... for a client certificate, or system:serviceaccount:NAMESPACE:NAME for a token", exampleBody: "ann,team-a", do: (*controlAPI).issueKubeconfig,
		},
		{
			method: http.MethodPost, path: "certificates", doc: "a client certificate and its key, in PEM", parameters: []controlParameter{expiresInParameter},
			body: "USER,GROUP,...", exampleBody: "ann,team-a", do: (*controlAPI).issueCertificate,
		},
		{
			method: http.MethodPost, path: "tokens", doc: "add a bearer token", parameters: []controlParameter{expiresInParameter},
			body: "TOKEN,USER,GROUP,...", exampleBody: "s3cret,ann,team-a", do: (*controlAPI).addToken,
		},
		{method: http.MethodPost, path: "tokens/expire", doc: "make a token invalid", body: "the token", exampleBody: "s3cret", do: (*controlAPI).expireToken},
	}
}

func forkRoutes() []controlRoute {
	return []controlRoute{
		{
			method: http.MethodPost, path: "forks/{name}", doc: "start a second server with the objects and options of this one, on a free port, and return its URL; as JSON also its kubeconfig and the URL of its control API",
			example: "forks/second", do: (*controlAPI).addFork,
		},
		{method: http.MethodGet, path: "forks", doc: "the open forks", do: (*controlAPI).listForks},
		{method: http.MethodGet, path: "forks/{name}", doc: "a fork", example: "forks/second", do: (*controlAPI).getFork},
		{method: http.MethodGet, path: "forks/{name}/kubeconfig", doc: "the kubeconfig of a fork", example: "forks/second/kubeconfig", do: (*controlAPI).getForkKubeconfig},
		{method: http.MethodDelete, path: "forks/{name}", doc: "close a fork", example: "forks/second", do: (*controlAPI).closeFork},
	}
}
