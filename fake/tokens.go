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

// Token is a bearer token.
type Token struct {
	// Value is what clients send. It consists of visible ASCII characters.
	Value string
	// User is the name of the user. Groups are the groups of the user, to which
	// system:authenticated is added.
	User   string
	Groups []string
	// ExpiresAt is when the token expires, and ExpiresIn is how long it is valid after it was given
	// to a server. At most one of them is set. Without them the token does not expire.
	ExpiresAt time.Time
	ExpiresIn time.Duration
}

func (t Token) validate() error {
	switch {
	case t.Value == "" || strings.ContainsFunc(t.Value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("fakeapi: %q cannot be sent as a bearer token", t.Value)
	case t.User == "":
		return fmt.Errorf("fakeapi: token %q has no user name", t.Value)
	case t.ExpiresIn < 0:
		return fmt.Errorf("fakeapi: token %q expires in %v, which is not positive", t.Value, t.ExpiresIn)
	case t.ExpiresIn > 0 && !t.ExpiresAt.IsZero():
		return fmt.Errorf("fakeapi: token %q has both ExpiresAt and ExpiresIn", t.Value)
	}
	return nil
}

// authnToken returns the token of a server that receives it now.
func (t Token) authnToken() authn.Token {
	token := authn.Token{
		User:    authenticationv1.UserInfo{Username: t.User, Groups: slices.Clone(t.Groups)},
		Expires: t.ExpiresAt,
	}
	if t.ExpiresIn > 0 {
		token.Expires = time.Now().Add(t.ExpiresIn)
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
		tokens.Add(t.Value, t.authnToken())
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
	s.tokens.Add(t.Value, t.authnToken())
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
