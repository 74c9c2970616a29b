package faults

import (
	"context"
	"net/http"

	"example.com/fakeapi/internal/requestinfo"
)

// Forbid denies the request as the authorizer of a server does that does not allow it. The request
// is not handled; it gets the 403 of RBAC with the name of the authenticated user, for instance
//
//	pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope
//
// Requests without valid credentials get their 401, and a user who is impersonated is the one who
// is denied. It does not matter what the stored roles allow, nor whether the server authorizes at
// all, so that Forbid takes permissions even from system:masters. Access reviews are not affected;
// for a permission that is really lost, delete a binding on a server with fakeapi.WithRBAC.
//
// A server checks the permission of a watch when it starts. One that runs continues, as with RBAC;
// [RevokeFor] ends it.
//
// A [Handler] that is not the server's own, such as a [Proxy], does not authenticate: it responds
// as Reply(Forbidden()) does, with the user system:anonymous.
func Forbid() Effect { return forbid{} }

type forbid struct{}

func (forbid) String() string                { return "forbid" }
func (forbid) isFinal() bool                 { return true }
func (forbid) check() error                  { return nil }
func (forbid) applyBefore(*exchange) outcome { return forbidden }

// forbiddenKey is the key of a context value that marks a request that a rule denies.
type forbiddenKey struct{}

// IsForbidden reports whether a rule with [Forbid] denies the request with the context ctx. The
// authorization filter of a server behind [ServerHandler] calls it.
func IsForbidden(ctx context.Context) bool { return ctx.Value(forbiddenKey{}) != nil }

// forbid makes the server deny the request, or responds if next is not a server that does. It
// reports whether the request is complete.
func (m *middleware) forbid(x *exchange) bool {
	if m.authorizes {
		x.r = x.r.WithContext(context.WithValue(x.r.Context(), forbiddenKey{}, true))
		return false
	}
	op := x.op
	op.Verb = requestinfo.FromRequest(x.r).Verb // also of a request for a path
	writeStatus(x.w, x.r, completeStatus(Forbidden(), op))
	return true
}

// ServerHandler is [Handler] for an API server that authenticates and authorizes requests itself.
// next responds with a 403 to a request for which [IsForbidden] is true.
func ServerHandler(set *Set, next http.Handler) http.Handler {
	return &middleware{set: set, next: next, authorizes: true}
}
