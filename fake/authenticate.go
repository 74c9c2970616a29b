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

// access is what the options say of users and of what they may do.
type access struct {
	bearers []Token
	// certificates tells that client certificates are taken: those of clientCAs, which
	// are in PEM form, and those of the server itself.
	certificates bool
	clientCAs    [][]byte
	anonymous    bool
	authorizer   authz.Authorizer // nil if everything is allowed
}

// given reports whether anything was said.
func (a *access) given() bool {
	return a.authenticates() || a.anonymous || a.authorizer != nil
}

// authenticates reports whether anybody looks at credentials.
func (a *access) authenticates() bool { return len(a.bearers) > 0 || a.certificates }

// check finds options that do not go together.
func (a *access) check() error {
	switch {
	case a.anonymous && !a.authenticates():
		return errors.New("fakeapi: WithAnonymousAuth is for a server with WithTokens or WithClientCA; without them everybody is system:admin")
	case a.anonymous && a.authorizer == nil:
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
		o.anonymous = true
		return nil
	}
}

// authenticate is the station that finds out whose request it is (AU-01). An answer to who
// is not known ends the connection if it is one of HTTP/2, which is
// expensive (CVE-2023-44487); requests that are being served on it end in peace.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request, t requestinfo.RequestInfo) (*http.Request, bool) {
	user, answer := s.identify(w, r)
	switch {
	case answer == authn.Anonymous && (s.opts.anonymous || slices.Contains(authz.PublicPaths(), t.Path)):
		user = authn.AnonymousUser()
	case answer != authn.Authenticated:
		handlers.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
		return r, false
	}
	return r.WithContext(authn.WithUser(r.Context(), user)), true
}

// identify looks at the credentials of a request.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (authenticationv1.UserInfo, authn.Result) {
	user, answer := s.way.AuthenticateRequest(r)
	if answer == authn.Authenticated {
		return user, answer
	}
	if warning := authn.AuthorizationHeaderWarning(r); warning != "" {
		w.Header().Add("Warning", warning)
	}
	if r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close")
	}
	return user, answer
}

// known reports whether the control API may serve a request; if not, it has been answered.
func (s *Server) known(w http.ResponseWriter, r *http.Request) bool {
	if s.way == nil {
		return true
	}
	if _, answer := s.identify(w, r); answer == authn.Authenticated {
		return true
	}
	handlers.WriteError(w, r, apierrors.NewUnauthorized("Unauthorized"))
	return false
}

// firstToken is what the server's own clients send, "" if there is none.
func (s *Server) firstToken() string {
	if len(s.opts.bearers) == 0 {
		return ""
	}
	return s.opts.bearers[0].value
}

// bearing sends the first token with the requests that have none.
func (s *Server) bearing(next http.RoundTripper) http.RoundTripper {
	if token := s.firstToken(); token != "" {
		return transport.NewBearerAuthRoundTripper(token, next)
	}
	return next
}
