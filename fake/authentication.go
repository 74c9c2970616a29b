package fakeapi

import (
	"errors"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/transport"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/handlers"
	"example.com/fakeapi/internal/requestinfo"
)

// authOptions are the options about users and their permissions.
type authOptions struct {
	tokens []Token
	// clientCertificates is true if client certificates are accepted: those of clientCAs, which are
	// in PEM form, and those that the server issued.
	clientCertificates bool
	clientCAs          [][]byte
	requestHeaders     *RequestHeaderAuthentication // nil without WithRequestHeaderAuthentication
	anonymousAuth      bool
	// anonymousRefused is true for WithoutAnonymousAuth.
	anonymousRefused bool
	authorization    authz.Config
}

// isSet reports whether any option is set.
func (a *authOptions) isSet() bool {
	return a.authenticationEnabled() || a.anonymousAuth || a.anonymousRefused || a.authorization.Custom != nil || len(a.authorization.Modes) > 0
}

// authenticationEnabled reports whether all requests need credentials. If not, a request without a
// token of a service account is one of the administrator.
func (a *authOptions) authenticationEnabled() bool { return len(a.tokens) > 0 || a.clientCertificates }

// complete sets what the authorization modes include; see WithAuthorizationModes.
func (o *options) complete() {
	if o.authorization.NeedsUsers() {
		o.tls, o.clientCertificates = true, true
		o.anonymousAuth = o.anonymousAuth || !o.authorization.HasMode(authz.ModeAlwaysAllow)
	}
	if o.anonymousRefused {
		o.anonymousAuth = false
	}
}

// validate returns an error for options that cannot be combined.
func (a *authOptions) validate() error {
	switch {
	case a.anonymousAuth && !a.authenticationEnabled():
		return errors.New("fakeapi: WithAnonymousAuth needs WithTokens or WithClientCA; without them all users are system:admin")
	case a.anonymousAuth && a.authorization.IsAlwaysAllow():
		return errors.New("fakeapi: WithAnonymousAuth needs WithAuthorizer or WithRBAC; without them anonymous users could do everything")
	}
	return nil
}

// WithAnonymousAuth accepts requests without credentials as those of the user system:anonymous in
// the group system:unauthenticated, as a cluster does by default (--anonymous-auth). The authorizer
// decides what they may do. Invalid credentials still get 401. It requires WithAuthorizer, and
// WithTokens or WithClientCA. WithRBAC includes it.
func WithAnonymousAuth() Option {
	return func(o *options) error {
		o.anonymousAuth = true
		return nil
	}
}

// WithoutAnonymousAuth refuses requests without credentials with 401, also on the public paths, as
// --anonymous-auth=false of kube-apiserver does. It counts more than WithAnonymousAuth and
// WithRBAC.
func WithoutAnonymousAuth() Option {
	return func(o *options) error {
		o.anonymousRefused = true
		return nil
	}
}

// acceptsAnonymous reports whether requests for path need no credentials.
func (a *authOptions) acceptsAnonymous(path string) bool {
	return a.anonymousAuth || !a.anonymousRefused && slices.Contains(authz.PublicPaths(), path)
}

// withAuthentication adds the user to the context of the request, or responds with a 401 (AU-01).
// On a server without authentication, requests without a token of a service account get no user,
// which is the administrator.
func (s *Server) withAuthentication(next http.Handler) http.Handler {
	required, keys := s.opts.authenticationEnabled(), s.api.ServiceAccountKeys()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLoopback(r.Context()) {
			next.ServeHTTP(w, withUser(r, authn.ServerUser()))
			return
		}
		if !required && !keys.HasIssuer(authn.BearerToken(r)) {
			next.ServeHTTP(w, r)
			return
		}
		user, result := s.authenticateRequest(w, r)
		switch {
		case result == authn.Anonymous && s.opts.acceptsAnonymous(r.URL.Path):
			user = authn.AnonymousUser()
		case result != authn.Authenticated:
			s.refuse(w, r, apierrors.NewUnauthorized("Unauthorized"))
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

// authenticateRequest authenticates a request. If it fails, the response to an HTTP/2 request also
// closes the connection, to limit rapid-reset attacks (CVE-2023-44487). Requests that are in flight
// on it finish.
func (s *Server) authenticateRequest(w http.ResponseWriter, r *http.Request) (authenticationv1.UserInfo, authn.Result) {
	user, result := s.authenticator.AuthenticateRequest(r.WithContext(warning.WithWarningRecorder(r.Context(), headerWarnings(w.Header()))))
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

// headerWarnings adds the warnings of an authenticator to the headers of a response.
type headerWarnings http.Header

// AddWarning implements warning.Recorder.
func (h headerWarnings) AddWarning(_, text string) {
	if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
		http.Header(h).Add("Warning", header)
	}
}

// authenticateControl reports whether a request of the control API is authenticated. If not, it
// writes the response.
func (s *Server) authenticateControl(w http.ResponseWriter, r *http.Request) bool {
	if !s.opts.authenticationEnabled() {
		return true
	}
	if _, result := s.authenticateRequest(w, r); result == authn.Authenticated {
		return true
	}
	handlers.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
	return false
}

// defaultToken returns the token of the server's own clients, or "".
func (s *Server) defaultToken() string {
	if len(s.opts.tokens) == 0 {
		return ""
	}
	return s.opts.tokens[0].Value
}

// withBearerToken adds the default token to requests without one.
func (s *Server) withBearerToken(next http.RoundTripper) http.RoundTripper {
	if token := s.defaultToken(); token != "" {
		return transport.NewBearerAuthRoundTripper(token, next)
	}
	return next
}
