// Package authn finds out who sends a request, by the client certificate or the bearer
// token that comes with it.
package authn

import (
	"crypto/x509"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Token is what is known of a bearer token.
type Token struct {
	User authenticationv1.UserInfo
	// Expires is the moment from which it is not accepted any more; zero for none.
	Expires time.Time
}

func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens are the bearer tokens that a server and its replicas know.
type Tokens struct {
	mu      sync.RWMutex // guards known
	byValue map[string]Token
}

// NewTokens makes an empty set.
func NewTokens() *Tokens { return &Tokens{byValue: map[string]Token{}} }

// Add makes a token known, in the place of what was known of the same value.
func (t *Tokens) Add(value string, token Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byValue[value] = token
}

// Find gives what is known of a token, which may have expired.
func (t *Tokens) Find(value string) (Token, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	token, ok := t.byValue[value]
	return token, ok
}

// ServiceAccountTokens tells which service account a token is for that the server has issued, and
// false if it has not or if the token is not valid any more.
type ServiceAccountTokens func(token string) (authenticationv1.UserInfo, bool)

// Result is what comes of looking at a request.
type Result uint8

const (
	// Rejected is a request with a token or certificate that is not valid: even what is open
	// to everybody is closed to it.
	Rejected Result = iota
	// Anonymous is a request without any.
	Anonymous
	// Authenticated is a request of a user.
	Authenticated
)

// Authenticator is how users are found out.
type Authenticator struct {
	Tokens          *Tokens
	ServiceAccounts ServiceAccountTokens
	// ClientCAs are the authorities whose client certificates are taken; nil for none are.
	ClientCAs *x509.CertPool
}

// AuthenticateRequest looks at a request as the API server does. A certificate counts before a
// token. One of the two may be wrong if the other is good. A certificate of nobody and a
// header that is no bearer token count for nothing.
func (a *Authenticator) AuthenticateRequest(r *http.Request) (authenticationv1.UserInfo, Result) {
	user, result := a.authenticateCertificate(r.TLS)
	if result == Authenticated {
		return user, Authenticated
	}
	value := bearerToken(r.Header.Get("Authorization"))
	if value == "" {
		return authenticationv1.UserInfo{}, result
	}
	if user, ok := a.AuthenticateToken(value); ok {
		return user, Authenticated
	}
	return authenticationv1.UserInfo{}, Rejected
}

// AuthenticateToken tells whose a bearer token is that is valid now.
func (a *Authenticator) AuthenticateToken(value string) (authenticationv1.UserInfo, bool) {
	if token, ok := a.Tokens.Find(value); ok {
		if token.expired(time.Now()) {
			return authenticationv1.UserInfo{}, false
		}
		return withAuthenticatedGroup(token.User), true
	}
	if user, ok := a.ServiceAccounts(value); ok {
		return withAuthenticatedGroup(user), true
	}
	return authenticationv1.UserInfo{}, false
}

// bearerToken takes the token out of an Authorization header. Behind two blanks there is none,
// and what stands behind the token does not matter.
func bearerToken(header string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// AuthorizationHeaderWarning is what is said of an Authorization header with a blank too many, as the value
// of a Warning header; "" if there is nothing to say.
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

// withAuthenticatedGroup adds the group system:authenticated to a user without it.
func withAuthenticatedGroup(u authenticationv1.UserInfo) authenticationv1.UserInfo {
	if slices.Contains(u.Groups, user.AllAuthenticated) || slices.Contains(u.Groups, user.AllUnauthenticated) {
		return u
	}
	u.Groups = append(slices.Clone(u.Groups), user.AllAuthenticated)
	return u
}
