package access

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Report has what was requested from a server, by user and user agent.
type Report struct {
	// Accesses are sorted by user, user agent, API group, resource, subresource, namespace, verb and
	// path.
	Accesses []Access `json:"accesses"`
	// Dropped counts the requests that are not in the report, because it has a limit.
	Dropped uint64 `json:"dropped,omitempty"`
}

// Access has the requests for one action: those of a user and a user agent that differ only in the
// name of the object.
type Access struct {
	// User is the name of the user, and Groups are those of the first request. A user that is
	// impersonated is the user.
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
	// UserAgent is the header User-Agent.
	UserAgent string `json:"userAgent,omitempty"`
	// Verb is the verb of the API, or of a request for a Path the HTTP method in lower case.
	Verb string `json:"verb"`
	// APIGroup, Resource, Subresource and Namespace are those of the request. Namespace is "" for all
	// namespaces and for objects that have none.
	APIGroup    string `json:"apiGroup,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	// Path is the path of a request that is not for a resource, or "".
	Path string `json:"path,omitempty"`
	// Names has the sorted names of the objects, at most MaxNames. A request without a name, such as
	// a list, has the name "". MoreNames reports whether there were more.
	Names     []string `json:"names,omitempty"`
	MoreNames bool     `json:"moreNames,omitempty"`
	// Allowed and Denied count the requests by the decision of the authorizer. Those for the verbs
	// escalate and bind are allowed also if the user has all permissions of Grants.
	Allowed uint64 `json:"allowed,omitempty"`
	Denied  uint64 `json:"denied,omitempty"`
	// First and FirstDenied are the Seq of the first request, and of the first that was denied, in
	// the timeline of the server; 0 if there is none or if the server records no timeline.
	First       uint64 `json:"first,omitempty"`
	FirstDenied uint64 `json:"firstDenied,omitempty"`
	// Reason is that of the latest decision, such as the binding and the role that allowed it.
	Reason string `json:"reason,omitempty"`
	// Grants has the rules of the role or the binding that the request creates or changes, for the
	// verbs escalate and bind. A user needs this permission, or all permissions of Grants.
	Grants []rbacv1.PolicyRule `json:"grants,omitempty"`
}

// MaxNames is the maximum number of names of an Access.
const MaxNames = 32

// Of returns the accesses of a client. These are the ones whose user is named client, whose user is
// the service account client (NAME, or NAMESPACE/NAME), or whose user agent is client or begins
// with it, followed by a slash or a space: "manager" selects the user agent "manager/v1.2
// (linux/amd64)". The client "" selects all. Dropped is that of r.
func (r Report) Of(client string) Report {
	of := Report{Accesses: []Access{}, Dropped: r.Dropped}
	for _, a := range r.Accesses {
		if client == "" || a.isOf(client) {
			of.Accesses = append(of.Accesses, a)
		}
	}
	return of
}

// isOf reports whether an access is one of a client.
func (a *Access) isOf(client string) bool {
	if a.User == client {
		return true
	}
	if account, ok := strings.CutPrefix(a.User, "system:serviceaccount:"); ok {
		namespace, name, _ := strings.Cut(account, ":")
		if client == name || client == namespace+"/"+name {
			return true
		}
	}
	rest, ok := strings.CutPrefix(a.UserAgent, client)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == ' ')
}
