package fakeapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/serviceaccount"
)

// ServiceAccountKeys are the keys and the issuers of the tokens of service accounts. The flags of
// kube-apiserver that begin with --service-account, and --api-audiences, set the same.
type ServiceAccountKeys struct {
	// Issuers are accepted. The first one is that of new tokens. The default is
	// https://kubernetes.default.svc.cluster.local.
	Issuers []string
	// SigningKey signs new tokens. It is a private key in PEM, of RSA or of ECDSA with the curve
	// P-256, P-384 or P-521. Without it the server has a key of its own.
	SigningKey []byte
	// VerifyingKeys are public keys, certificates or private keys in PEM, one or more in each. Tokens
	// are accepted that one of them has signed. The default is the SigningKey. The server's own key is
	// accepted, too, unless there is a SigningKey.
	VerifyingKeys [][]byte
	// Audiences are those of the server: tokens must have one of them, and tokens without another
	// audience have all of them. The default is the Issuers.
	Audiences []string
	// MaxTokenExpiration is the longest lifetime of new tokens, from one hour to 2^32 seconds.
	// Requests for a longer one get this one, with a warning. The default is no limit.
	MaxTokenExpiration time.Duration
	// ExactTokenExpiration gives all tokens the lifetime that is requested. Otherwise one that is
	// bound to a pod and has no other audiences than those of the server, for which 3607 seconds are
	// requested, as kubelets do, is valid for a year.
	ExactTokenExpiration bool
	// JWKSURI is the URL of the keys in the document /.well-known/openid-configuration. It must be one
	// of https. The default is /openid/v1/jwks of the server.
	JWKSURI string
}

// WithServiceAccountKeys sets the keys and the issuers of the tokens of service accounts, so that
// several servers accept the tokens of each other, or a test signs tokens itself. Without it a
// server has a key of its own, or one from WithSeed. A replica and a server of WithStorageOf have
// those of their server, and so does a fork, so that tokens of the original are valid.
//
// Also valid is a token by the issuer kubernetes/serviceaccount that its Secret has, as those of
// the type kubernetes.io/service-account-token do (KEP-2799).
//
// Clients find the issuer and the public keys at /.well-known/openid-configuration and
// /openid/v1/jwks (KEP-1393).
func WithServiceAccountKeys(k ServiceAccountKeys) Option {
	return func(o *options) error {
		if err := k.validate(); err != nil {
			return fmt.Errorf("fakeapi: service account keys: %w", err)
		}
		o.serviceAccountKeys = &k
		_, err := o.newServiceAccountKeys(ids.New([32]byte{}))
		return err
	}
}

// The bounds of MaxTokenExpiration.
const (
	minMaxTokenExpiration = time.Hour
	maxMaxTokenExpiration = 1 << 32 * time.Second
)

func (k *ServiceAccountKeys) validate() error {
	for _, issuer := range k.Issuers {
		if issuer == "" {
			return errors.New("an issuer should not be an empty string")
		}
		if _, err := url.Parse(issuer); err != nil && strings.Contains(issuer, ":") {
			return fmt.Errorf("the issuer %q contained a ':' but was not a valid URL: %w", issuer, err)
		}
	}
	if d := k.MaxTokenExpiration; d != 0 && (d < minMaxTokenExpiration || d > maxMaxTokenExpiration) {
		return fmt.Errorf("the maximum token expiration %v must be between 1 hour and 2^32 seconds", d)
	}
	return nil
}

// newServiceAccountKeys returns the keys of the options. The seed of g is that of the server's own
// key.
func (o *options) newServiceAccountKeys(g *ids.Generator) (*serviceaccount.Keys, error) {
	k := o.serviceAccountKeys
	if k == nil {
		return serviceaccount.NewKeys(g, nil, nil)
	}
	keys, err := serviceaccount.NewKeys(g, k.SigningKey, k.VerifyingKeys)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: service account keys: %w", err)
	}
	if len(k.Issuers) > 0 {
		keys.Issuers = slices.Clone(k.Issuers)
	}
	keys.Audiences = slices.Clone(k.Audiences)
	if len(keys.Audiences) == 0 {
		keys.Audiences = keys.Issuers
	}
	keys.MaxExpiration, keys.ExactExpiration, keys.JWKSURI = k.MaxTokenExpiration, k.ExactTokenExpiration, k.JWKSURI
	return keys, nil
}
