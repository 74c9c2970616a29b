package fakeapi

import (
	"errors"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/transport"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/internal/requestinfo"
)

// authOptions is what the options say of users and of what they may do.
type authOptions struct {
	tokens []Token
	// clientCertificates tells that client certificates are taken: those of clientCAs, which
	// are in PEM form, and those of the server itself.
	clientCertificates bool
	clientCAs          [][]byte
	anonymousAuth      bool
	authorizer         authz.Authorizer // nil if everything is allowed
}

// isSet reports whether anything was said.
func (a *authOptions) isSet() bool {
	return a.authenticationEnabled() || a.anonymousAuth || a.authorizer != nil
}

// authenticationEnabled reports whether anybody looks at credentials.
func (a *authOptions) authenticationEnabled() bool { return len(a.tokens) > 0 || a.clientCertificates }

// validate finds options that do not go together.
func (a *authOptions) validate() error {
	switch {
	case a.anonymousAuth && !a.authenticationEnabled():
		return errors.New("fakeapi: WithAnonymousAuth is for a server with WithTokens or WithClientCA; without them everybody is system:admin")
	case a.anonymousAuth && a.authorizer == nil:
		return errors.New("fakeapi: WithAnonymousAuth needs WithAuthorizer: where everybody may do everything, a server lets nobody in without credentials")
	}
	return nil
}

// WithAnonymousAuth lets requests without credentials in, as those of the user system:anonymous
// in the group system:unauthenticated, as a cluster does by default (--anonymous-auth). What
// they may do is the authorizer's to say. Wrong credentials are still answered 401. It goes with
// WithAuthorizer, and with WithTokens or WithClientCA.
func WithAnonymousAuth() Option {
	return func(o *options) error {
		o.anonymousAuth = true
		return nil
	}
}

// withAuthentication adds the user to the context of the request, or responds with a 401 (AU-01). A
// server without authentication skips it.
func (s *Server) withAuthentication(next http.Handler) http.Handler {
	if s.authenticator == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, result := s.authenticateRequest(w, r)
		switch {
		case result == authn.Anonymous && (s.opts.anonymousAuth || slices.Contains(authz.PublicPaths(), r.URL.Path)):
			user = authn.AnonymousUser()
		case result != authn.Authenticated:
			handlers.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
			return
		}
		next.ServeHTTP(w, withUser(r, user))
	})
}

// withUser returns a copy of r with the user in its context.
func withUser(r *http.Request, user authenticationv1.UserInfo) *http.Request {
	requestinfo.SetUserName(r.Context(), user.Username)
	return r.WithContext(authn.WithUser(r.Context(), user))
}

// authenticateRequest looks at the credentials of a request.
func (s *Server) authenticateRequest(w http.ResponseWriter, r *http.Request) (authenticationv1.UserInfo, authn.Result) {
	user, result := s.authenticator.AuthenticateRequest(r)
	if result == authn.Authenticated {
		return user, result
	}
	if warning := authn.AuthorizationHeaderWarning(r); warning != "" {
		w.Header().Add("Warning", warning)
	}
	if r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close")
	}
	return user, result
}

// authenticateControl reports whether the control API may serve a request; if not, it has been answered.
func (s *Server) authenticateControl(w http.ResponseWriter, r *http.Request) bool {
	if s.authenticator == nil {
		return true
	}
	if _, result := s.authenticateRequest(w, r); result == authn.Authenticated {
		return true
	}
	handlers.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
	return false
}

// defaultToken is what the server's own clients send, "" if there is none.
func (s *Server) defaultToken() string {
	if len(s.opts.tokens) == 0 {
		return ""
	}
	return s.opts.tokens[0].Value
}

// withBearerToken sends the first token with the requests that have none.
func (s *Server) withBearerToken(next http.RoundTripper) http.RoundTripper {
	if token := s.defaultToken(); token != "" {
		return transport.NewBearerAuthRoundTripper(token, next)
	}
	return next
}
