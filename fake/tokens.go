package fakeapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"example.com/fakeapi/fake/internal/authn"
)

// Token is a bearer token and whose it is. Make one with NewToken.
type Token struct {
	value    string
	user     string
	groups   []string
	expires  time.Time
	relative bool // expires when lifetime is over
	lifetime time.Duration
}

// NewToken is a token that does not expire. value is what clients send: any text of
// visible ASCII characters. The user is in the groups given, and in
// system:authenticated.
func NewToken(value, user string, groups ...string) Token {
	return Token{value: value, user: user, groups: slices.Clone(groups)}
}

// ExpiresAt is the same token, accepted before that moment only. The zero time stands
// for never.
func (t Token) ExpiresAt(at time.Time) Token {
	t.expires, t.relative, t.lifetime = at, false, 0
	return t
}

// ExpiresIn is the same token, accepted for that long after it was given to a server.
func (t Token) ExpiresIn(d time.Duration) Token {
	t.expires, t.relative, t.lifetime = time.Time{}, true, d
	return t
}

func (t Token) validate() error {
	switch {
	case t.value == "" || strings.ContainsFunc(t.value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("fakeapi: %q cannot be sent as a bearer token", t.value)
	case t.user == "":
		return fmt.Errorf("fakeapi: token %q is nobody's: its user has no name", t.value)
	case t.relative && t.lifetime <= 0:
		return fmt.Errorf("fakeapi: token %q expires in %v, which is not positive", t.value, t.lifetime)
	}
	return nil
}

// authnToken is what a server that gets the token now knows of it.
func (t Token) authnToken() authn.Token {
	token := authn.Token{
		User:    authenticationv1.UserInfo{Username: t.user, Groups: t.groups},
		Expires: t.expires,
	}
	if t.relative {
		token.Expires = time.Now().Add(t.lifetime)
	}
	return token
}

// WithTokens makes the server ask for a bearer token, and gives it those that it knows. It
// includes WithTLS, without which clients would keep a token of a kubeconfig to themselves.
//
// A request without a valid token is answered 401 Unauthorized (AU-01), whatever its path,
// but for those that a cluster has open to everybody: /healthz, /livez, /readyz and /version;
// see WithAnonymousAuth. A token that has expired is as good as none; watches that it has begun
// go on. The tokens that the server issues for service accounts (serviceaccounts/token) are
// accepted like those given here. Whoever is known may do everything, unless WithAuthorizer
// says otherwise.
//
// RESTConfig, Kubeconfig and Client use the first token, also when it has expired; RESTConfigWithToken
// takes another one. AddToken and ExpireToken change what the server accepts. A Fork is a
// server of its own, with the tokens that it is given.
func WithTokens(tokens ...Token) Option {
	return func(o *options) error {
		if len(tokens) == 0 {
			return errors.New("fakeapi: WithTokens needs a token, or nobody could reach the server")
		}
		for _, t := range tokens {
			if err := t.validate(); err != nil {
				return err
			}
		}
		o.tls = true
		o.tokens = append(o.tokens, tokens...)
		return nil
	}
}

func newTokens(bearers []Token) *authn.Tokens {
	tokens := authn.NewTokens()
	for _, t := range bearers {
		tokens.Add(t.value, t.authnToken())
	}
	return tokens
}

// errAuthenticationDisabled is the answer to who wants to change what does not count.
var errAuthenticationDisabled = errors.New("fakeapi: the server asks for no tokens; make it with WithTokens or WithClientCA")

// AddToken makes the server and its replicas accept a token from now on. One of the same
// value is replaced, so that an expired token can be made valid again.
func (s *Server) AddToken(t Token) error {
	if s.authenticator == nil {
		return errAuthenticationDisabled
	}
	if err := t.validate(); err != nil {
		return err
	}
	s.tokens.Add(t.value, t.authnToken())
	return nil
}

// ExpireToken makes the server and its replicas refuse a token from now on, one of WithTokens
// and AddToken or one that was issued for a service account. Watches that it has begun go on.
// One that the server does not know is an error.
func (s *Server) ExpireToken(value string) error {
	if s.authenticator == nil {
		return errAuthenticationDisabled
	}
	token, ok := s.tokens.Find(value)
	if !ok {
		if _, ok = s.api.ServiceAccountUser(value); !ok {
			return fmt.Errorf("fakeapi: token %q is not known", value)
		}
	}
	token.Expires = time.Now()
	s.tokens.Add(value, token)
	return nil
}
