package fakeapi

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/faults"
)

// WithAuthorizer authorizes requests with an authorizer of k8s.io/apiserver. A function becomes one
// with authorizer.AuthorizerFunc:
//
//	fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(
//		func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
//			if a.GetResource() == "secrets" && a.GetVerb() == "list" {
//				return authorizer.DecisionDeny, "secrets are read one by one", nil
//			}
//			return authorizer.DecisionAllow, "", nil
//		}))
//
// It is asked about each request after authentication and before the resource is looked up (AU-03),
// about impersonation (AU-08), and by access reviews. It is called from many goroutines. A request
// that is not allowed gets 403 with the reason (AU-02), or 500 if there is an error (AU-05). An
// authorizer that is also an authorizer.RuleResolver answers SelfSubjectRulesReviews. The default
// is to allow everything. With WithAuthorizationModes or WithRBAC, it is asked before them, and may
// leave the decision to them by DecisionNoOpinion.
//
// It is not asked about users in the group system:masters, who may do everything, nor, without
// authorization modes, about reading /healthz, /livez, /readyz and /version. Without authentication
// (WithTokens, WithClientCA, WithRBAC), a request is one of system:admin in the group
// system:masters, and it is asked only about those that impersonate another user or have a token of
// a service account. Clients need discovery: paths such as /api and /apis, which are not resource
// requests. The control API is not authorized.
func WithAuthorizer(a authorizer.UnconditionalAuthorizer) Option {
	return func(o *options) error {
		if f, ok := a.(authorizer.AuthorizerFunc); a == nil || ok && f == nil {
			return errors.New("fakeapi: WithAuthorizer needs an authorizer")
		}
		o.authorization.Custom = a
		return nil
	}
}

// withAuthorization responds with a 403 to requests that the authorizer does not allow.
func (s *Server) withAuthorization(next http.Handler) http.Handler {
	by := s.api.Authorizer()
	if by == nil {
		return s.withAccessRecord(s.withAllowedAudit(next))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := authz.AttributesOf(authn.UserFrom(r.Context()), r)
		decision, reason, err := by.Authorize(r.Context(), a)
		switch {
		case decision == authorizer.DecisionAllow:
			auditDecision(r, "allow", reason)
			next.ServeHTTP(w, r)
		case err != nil: // AU-05
			audit.AddAuditAnnotation(r.Context(), "authorization.k8s.io/reason", "internal error")
			text := fmt.Sprintf("Internal Server Error: %q: %v", r.RequestURI, err)
			http.Error(w, authz.EscapeMessage(text), http.StatusInternalServerError)
		default:
			auditDecision(r, "forbid", reason)
			writeErrorNoSniff(w, r, authz.Forbidden(a, reason))
		}
	})
}

// withForbiddenByRules responds with a 403 to requests that a rule of package faults forbids.
func withForbiddenByRules(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if faults.IsForbidden(r.Context()) {
			writeErrorNoSniff(w, r, authz.Forbidden(authz.AttributesOf(authn.UserFrom(r.Context()), r), ""))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// withImpersonation replaces the user of the request by the one that its headers name, if the
// authorizer allows it (AU-08).
func (s *Server) withImpersonation(next http.Handler) http.Handler {
	by := s.api.Authorizer()
	if by == nil {
		by = authz.AlwaysAllow()
	}
	impersonation := authz.NewImpersonation(by)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, ok, err := authz.RequestedImpersonation(r.Header)
		if err == nil && !ok {
			next.ServeHTTP(w, r)
			return
		}
		if err == nil {
			target, err = impersonation.Impersonate(r.Context(), authz.AttributesOf(authn.UserFrom(r.Context()), r), target)
		}
		if err != nil {
			writeErrorNoSniff(w, r, err)
			return
		}
		next.ServeHTTP(w, withUser(r, target))
	})
}

// writeErrorNoSniff writes an error whose message repeats parts of the request.
func writeErrorNoSniff(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	handlers.WriteError(w, r, err)
}
