package fakeapi

import (
	"errors"
	"fmt"
	"net/http"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/handlers"
)

// Attributes are what an authorizer is told of an action.
type Attributes = authz.Attributes

// Decision is what an authorizer says: one of Allow, Deny and NoOpinion.
type Decision = authz.Decision

// Allow lets the user act. The reason is told by access reviews; "" is for none.
func Allow(reason string) Decision { return authz.Allow(reason) }

// Deny keeps the user from acting: 403 with the reason, unless that is "" (AU-02).
func Deny(reason string) Decision { return authz.Deny(reason) }

// NoOpinion does not allow it either. Access reviews tell it apart from Deny, and it is what
// RBAC says where no rule applies.
func NoOpinion(reason string) Decision { return authz.NoOpinion(reason) }

// WithAuthorizer asks a function whether a user may do something: of every request once it is
// known whose it is, before anybody looks whether there is what it is about (AU-03); of those
// who want to impersonate somebody (AU-08); and for the access reviews. It is called from many
// goroutines. Without it everybody may do everything.
//
//	fakeapi.WithAuthorizer(func(a fakeapi.Attributes) fakeapi.Decision {
//		if a.Resource == "secrets" && a.Verb != "get" {
//			return fakeapi.Deny("secrets are read one by one")
//		}
//		return fakeapi.Allow("")
//	})
//
// Whoever is in the group system:masters may do everything without being asked for, and
// everybody may read /healthz, /livez, /readyz and /version. Without WithTokens and
// WithClientCA everybody is system:admin, in system:masters, and only those whom they impersonate are
// asked for. Clients need discovery: paths such as /api and /apis, for which Path is set and
// NonResource. The control API asks nobody.
func WithAuthorizer(decide func(Attributes) Decision) Option {
	return func(o *options) error {
		if decide == nil {
			return errors.New("fakeapi: WithAuthorizer needs a function")
		}
		o.authorizer = authz.FromFunc(decide)
		return nil
	}
}

// withAuthorization responds with a 403 to requests that the authorizer does not allow.
func (s *Server) withAuthorization(next http.Handler) http.Handler {
	if s.opts.authorizer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := authz.AttributesOf(authn.UserFrom(r.Context()), r)
		d := s.opts.authorizer.Authorize(a)
		switch {
		case d.Allowed():
			next.ServeHTTP(w, r)
		case d.Err() != nil: // AU-05
			text := fmt.Sprintf("Internal Server Error: %q: %v", r.RequestURI, d.Err())
			http.Error(w, authz.EscapeMessage(text), http.StatusInternalServerError)
		default:
			writeErrorNoSniff(w, r, authz.Forbidden(a, d.Reason()))
		}
	})
}

// withImpersonation replaces the user of the request by the one that its headers name, if the
// authorizer allows it (AU-08).
func (s *Server) withImpersonation(next http.Handler) http.Handler {
	authorizer := s.opts.authorizer
	if authorizer == nil {
		authorizer = authz.AlwaysAllow()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, ok, err := authz.RequestedImpersonation(r.Header)
		if err == nil && !ok {
			next.ServeHTTP(w, r)
			return
		}
		if err == nil {
			target, err = authz.Impersonate(authorizer, authz.AttributesOf(authn.UserFrom(r.Context()), r), target)
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
