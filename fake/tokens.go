package fakeapi

import (
	"context"
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

// WithTokens authenticates requests by bearer tokens, and adds these. It includes WithTLS, because
// clients do not send the token of a kubeconfig without TLS.
//
// A request without a valid token gets 401 Unauthorized (AU-01) on all paths except those that are
// public on a cluster: /healthz, /livez, /readyz and /version; see also WithAnonymousAuth. An
// expired token is not valid, but watches that were started with it continue. Tokens that the
// server issues for service accounts (serviceaccounts/token) are valid, too, as on all servers.
// Users may do everything without WithRBAC or WithAuthorizer.
//
// RESTConfig, Kubeconfig and Client use the first token, even if it has expired.
// RESTConfigWithToken uses another one. AddToken and ExpireToken change the valid tokens. A Fork
// has only the tokens of its own options.
func WithTokens(tokens ...Token) Option {
	return func(o *options) error {
		if len(tokens) == 0 {
			return errors.New("fakeapi: WithTokens needs at least one token")
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

// errAuthenticationDisabled is returned if the server does not authenticate: by AddToken, and by
// ExpireToken for a token that was not issued for a service account.
var errAuthenticationDisabled = errors.New("fakeapi: the server does not authenticate; create it with WithTokens, WithClientCA or WithRBAC")

// AddToken adds a token to the server and its replicas. It replaces one with the same value, so
// that an expired token can be made valid again.
func (s *Server) AddToken(t Token) error {
	if !s.opts.authenticationEnabled() {
		return errAuthenticationDisabled
	}
	if err := t.validate(); err != nil {
		return err
	}
	s.note("AddToken of user %s", t.User)
	s.tokens.Add(t.Value, t.authnToken())
	return nil
}

// ExpireToken makes a token of WithTokens, of AddToken or of a service account invalid for the
// server and its replicas. Watches that were started with it continue. An unknown token is an
// error. The tokens of service accounts can be expired on all servers.
func (s *Server) ExpireToken(value string) error {
	token, ok := s.tokens.Find(value)
	user := token.User.Username
	if !ok {
		var account authenticationv1.UserInfo
		account, ok = s.api.ServiceAccountUser(context.Background(), value)
		user = account.Username
	}
	switch {
	case !ok && !s.opts.authenticationEnabled():
		return errAuthenticationDisabled
	case !ok:
		return fmt.Errorf("fakeapi: token %q is not known", value)
	}
	s.note("ExpireToken of user %s", user)
	token.Expires = time.Now()
	s.tokens.Add(value, token)
	return nil
}
