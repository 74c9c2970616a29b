// Package authn authenticates requests by the headers of a proxy, client certificates and bearer
// tokens.
package authn

import (
	"context"
	"crypto/x509"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Token is the user and the expiry of a bearer token.
type Token struct {
	User authenticationv1.UserInfo
	// Expires is when the token expires, or zero if it does not.
	Expires time.Time
}

func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens are the bearer tokens of a server and its replicas.
type Tokens struct {
	mu      sync.RWMutex // guards byValue
	byValue map[string]Token
}

// NewTokens returns an empty set.
func NewTokens() *Tokens { return &Tokens{byValue: map[string]Token{}} }

// Add adds a token. It replaces one of the same value.
func (t *Tokens) Add(value string, token Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byValue[value] = token
}

// Find returns a token, which may have expired.
func (t *Tokens) Find(value string) (Token, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	token, ok := t.byValue[value]
	return token, ok
}

// ServiceAccountTokens returns the user of a valid token that the server issued for a service
// account, or false.
type ServiceAccountTokens func(ctx context.Context, token string) (authenticationv1.UserInfo, bool)

// Result is the result of authentication.
type Result uint8

const (
	// Rejected is a request with an invalid token or certificate. It gets 401 also on public paths.
	Rejected Result = iota
	// Anonymous is a request without credentials.
	Anonymous
	// Authenticated is a request with valid credentials.
	Authenticated
)

// Authenticator authenticates requests by the headers of a proxy, client certificate or bearer
// token.
type Authenticator struct {
	tokens          *Tokens
	serviceAccounts ServiceAccountTokens
	certificates    *certificateVerifier  // nil if certificates are ignored
	headers         authenticator.Request // nil without WithRequestHeaders
	webSockets      authenticator.Request // of tokens in subprotocols
	methods         []method              // in the order of kube-apiserver
}

// method authenticates a request in one way.
type method func(r *http.Request) (authenticationv1.UserInfo, Result)

// New returns an Authenticator. clientCAs are the authorities of client certificates. With nil,
// certificates are ignored.
func New(tokens *Tokens, serviceAccounts ServiceAccountTokens, clientCAs *x509.CertPool) *Authenticator {
	a := &Authenticator{tokens: tokens, serviceAccounts: serviceAccounts}
	if clientCAs != nil {
		a.certificates = newCertificateVerifier(clientCAs)
	}
	a.webSockets = websocket.NewProtocolAuthenticator(authenticator.TokenFunc(a.authenticatedByToken))
	a.methods = []method{a.authenticateHeaders, a.authenticateCertificate, a.authenticateBearerToken, a.authenticateWebSocket}
	return a
}

// WithRequestHeaders adds an authenticator of requests of a proxy to a, which is tried first. It
// may be nil.
func (a *Authenticator) WithRequestHeaders(headers authenticator.Request) *Authenticator {
	a.headers = headers
	return a
}

// AuthenticateRequest authenticates a request as kube-apiserver does: by the first method that
// knows the user. Without one the request is rejected if it has credentials that are not valid. A
// certificate without a common name, and an Authorization header without a bearer token, are no
// credentials.
func (a *Authenticator) AuthenticateRequest(r *http.Request) (authenticationv1.UserInfo, Result) {
	rest := Anonymous
	for _, authenticate := range a.methods {
		switch user, result := authenticate(r); result {
		case Authenticated:
			return user, Authenticated
		case Rejected:
			rest = Rejected
		}
	}
	return authenticationv1.UserInfo{}, rest
}

// authenticateHeaders authenticates a request of a proxy. The certificate of a client that is none
// is rejected, but the next method may accept it.
func (a *Authenticator) authenticateHeaders(r *http.Request) (authenticationv1.UserInfo, Result) {
	if a.headers == nil {
		return authenticationv1.UserInfo{}, Anonymous
	}
	return authenticateBy(a.headers, r)
}

// authenticateWebSocket authenticates the token in a subprotocol of a WebSocket, as browsers send
// it.
func (a *Authenticator) authenticateWebSocket(r *http.Request) (authenticationv1.UserInfo, Result) {
	return authenticateBy(a.webSockets, r)
}

// authenticateBy authenticates a request by an authenticator of the library.
func authenticateBy(library authenticator.Request, r *http.Request) (authenticationv1.UserInfo, Result) {
	return resultOf(library.AuthenticateRequest(r))
}

// resultOf returns the user and the result of an authenticator of the library.
func resultOf(response *authenticator.Response, ok bool, err error) (authenticationv1.UserInfo, Result) {
	switch {
	case err != nil:
		return authenticationv1.UserInfo{}, Rejected
	case !ok:
		return authenticationv1.UserInfo{}, Anonymous
	}
	u := authenticationv1.UserInfo{Username: response.User.GetName(), UID: response.User.GetUID(), Groups: response.User.GetGroups()}
	for key, values := range response.User.GetExtra() {
		if u.Extra == nil {
			u.Extra = map[string]authenticationv1.ExtraValue{}
		}
		u.Extra[key] = values
	}
	return withAuthenticatedGroup(u), Authenticated
}

// authenticatedByToken is AuthenticateToken for an authenticator of the library.
func (a *Authenticator) authenticatedByToken(ctx context.Context, value string) (*authenticator.Response, bool, error) {
	u, ok := a.AuthenticateToken(ctx, value)
	return &authenticator.Response{User: NewInfo(u)}, ok, nil
}

// authenticateBearerToken authenticates the token of the Authorization header.
func (a *Authenticator) authenticateBearerToken(r *http.Request) (authenticationv1.UserInfo, Result) {
	value := BearerToken(r)
	if value == "" {
		return authenticationv1.UserInfo{}, Anonymous
	}
	if user, ok := a.AuthenticateToken(r.Context(), value); ok {
		return user, Authenticated
	}
	return authenticationv1.UserInfo{}, Rejected
}

// AuthenticateToken returns the user of a valid bearer token.
func (a *Authenticator) AuthenticateToken(ctx context.Context, value string) (authenticationv1.UserInfo, bool) {
	if token, ok := a.tokens.Find(value); ok {
		if token.expired(time.Now()) {
			return authenticationv1.UserInfo{}, false
		}
		return withAuthenticatedGroup(token.User), true
	}
	if user, ok := a.serviceAccounts(ctx, value); ok {
		return withAuthenticatedGroup(user), true
	}
	return authenticationv1.UserInfo{}, false
}

// BearerToken returns the token of the Authorization header of a request, or "". There is none
// after two spaces, and text after the token is ignored.
func BearerToken(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// AuthorizationHeaderWarning returns the Warning header for an Authorization header with two spaces
// before the token, or "".
func AuthorizationHeaderWarning(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") || !strings.HasPrefix(rest, " ") {
		return ""
	}
	header, err := utilnet.NewWarningHeader(299, "-", "the provided Authorization header contains extra space before the bearer token, and is ignored")
	if err != nil { // the text is a constant
		return ""
	}
	return header
}

// withAuthenticatedGroup adds the group system:authenticated to a user without it. A proxy may name
// the user system:anonymous.
func withAuthenticatedGroup(u authenticationv1.UserInfo) authenticationv1.UserInfo {
	if u.Username == user.Anonymous || slices.Contains(u.Groups, user.AllAuthenticated) || slices.Contains(u.Groups, user.AllUnauthenticated) {
		return u
	}
	u.Groups = append(slices.Clone(u.Groups), user.AllAuthenticated)
	return u
}
