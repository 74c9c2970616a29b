package fakeapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/fake/internal/accesslog"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/internal/requestinfo"
)

// Access returns which actions each user and each user agent requested since the start or
// ResetAccess, and whether the authorizer allowed them. It does not need an authorizer: with the
// default, which allows everything, it has the permissions that code needs that runs as the
// administrator. Clients of one process differ by the UserAgent of their rest.Config, or by user,
// as with RESTConfigForServiceAccount. The leader election of client-go has the user agent of the
// process, whatever its rest.Config has.
//
// An action that was allowed is in the report also if the request failed later, or was a dry run. A
// PUT or an apply that created an object is also a create. Writes of roles and bindings are also an
// escalate or a bind, with the rules that they grant. The permissions that admission plugins ask
// for are included. Requests that impersonate are those of the user that they impersonate, and, if
// an authorizer decides about it and the user is not in system:masters, also an impersonate.
//
// Not included are requests without valid credentials, requests that a fault rule answers in place
// of the server, those of the control API, and those whose method has no verb. A report has names
// of objects but no contents of them, and paths without the query. It is limited: at most 16,384
// accesses with 16 MiB of texts and access.MaxNames names each. Texts are cut after 512 bytes.
// Replicas and forks have reports of their own. With WithoutTimeline the report is empty.
func (s *Server) Access() access.Report {
	if s.accesses == nil {
		return access.Report{Accesses: []access.Access{}}
	}
	return s.accesses.Report()
}

// ResetAccess removes all accesses of Access, for example after the preparation of a test.
func (s *Server) ResetAccess() {
	s.note("ResetAccess")
	s.resetAccess()
}

// resetAccess is ResetAccess without a note.
func (s *Server) resetAccess() {
	if s.accesses != nil {
		s.accesses.Reset()
	}
}

// withAccessRecord records each request as allowed, on a server that allows everything.
func (s *Server) withAccessRecord(next http.Handler) http.Handler {
	if s.accesses == nil {
		return next
	}
	admin := authn.AdminUser().Username
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, name := requestinfo.FromRequest(r), ""
		a := accesslog.Action{User: requestinfo.UserName(r.Context()), UserAgent: r.UserAgent(), Verb: info.Verb}
		if a.User == "" {
			a.User = admin
		}
		if info.IsResourceRequest() {
			a.APIGroup, a.Resource, a.Subresource, a.Namespace = info.Group, info.Resource, info.Subresource, info.Namespace
			a.Verb, name = authz.VerbAndName(r, info)
		} else {
			a.Path = info.Path
		}
		if a.Verb != "" {
			s.accesses.Record(r.Context(), a, name, true, "")
		}
		next.ServeHTTP(w, r)
	})
}

// observeAuthorization records a decision about a request.
func (s *Server) observeAuthorization(ctx context.Context, a authorizer.Attributes, decision authorizer.Decision, reason string) {
	if action, ok := actionOf(ctx, a); ok {
		s.accesses.Record(ctx, action, a.GetName(), decision == authorizer.DecisionAllow, reason)
	}
}

// observeGrant records that a request creates or changes a role or a binding.
func (s *Server) observeGrant(ctx context.Context, a authorizer.Attributes, rules []rbacv1.PolicyRule, allowed bool) {
	if action, ok := actionOf(ctx, a); ok {
		s.accesses.RecordGrant(ctx, action, a.GetName(), rules, allowed)
	}
}

// actionOf returns the action of attributes. It returns false if it is not to be recorded: if ctx
// is that of no request, as for the writes of controllers, and for impersonation by an
// administrator.
func actionOf(ctx context.Context, a authorizer.Attributes) (accesslog.Action, bool) {
	r := requestinfo.RequestFromContext(ctx)
	if r == nil || a.GetVerb() == "" {
		return accesslog.Action{}, false
	}
	if strings.HasPrefix(a.GetVerb(), "impersonate") && slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return accesslog.Action{}, false
	}
	action := accesslog.Action{User: a.GetUser().GetName(), UserAgent: r.UserAgent(), Verb: a.GetVerb()}
	if a.IsResourceRequest() {
		action.APIGroup, action.Resource, action.Subresource, action.Namespace = a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace()
	} else {
		action.Path = a.GetPath()
	}
	return action, true
}
