package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	"gopkg.in/go-jose/go-jose.v2"
	"k8s.io/client-go/util/keyutil"

	"example.com/fakeapi/fake/internal/ids"
)

// DefaultIssuer is the issuer of tokens, unless another one is configured. It is the name that most
// clusters use.
const DefaultIssuer = "https://kubernetes.default.svc.cluster.local"

// Keys are the keys, the issuers and the audiences of tokens. They are immutable.
type Keys struct {
	// Issuers are accepted. The first one is that of new tokens.
	Issuers []string
	// Audiences are those of the API server, and of requests that have none.
	Audiences []string
	// MaxExpiration is the longest lifetime of new tokens, 0 for no limit.
	MaxExpiration time.Duration
	// ExactExpiration is whether no token is valid for longer than its request says.
	ExactExpiration bool
	// JWKSURI is the URL of the keys in the discovery document, "" for that of the server.
	JWKSURI string

	// load returns the keys. They are derived at the first call.
	load func() (*keySet, error)
}

// keySet has the keys of a Keys.
type keySet struct {
	signer jose.Signer
	// verifying has the accepted keys.
	verifying jose.JSONWebKeySet
}

// NewKeys returns the keys of texts in PEM: a private key, and files of public keys, which are
// accepted instead of that of signing. Without signing, the key is derived from the seed of g, and
// accepted, too. The caller sets the fields of the result that are not those of DefaultIssuer.
func NewKeys(g *ids.Generator, signing []byte, verifying [][]byte) (*Keys, error) {
	k := &Keys{Issuers: []string{DefaultIssuer}, Audiences: []string{DefaultIssuer}}
	var accepted []jose.JSONWebKey
	for i, text := range verifying {
		keys, err := keyutil.ParsePublicKeysPEM(text)
		if err != nil {
			return nil, fmt.Errorf("verifying key %d of %d: %w", i+1, len(verifying), err)
		}
		for _, key := range keys {
			public, err := newPublicKey(key)
			if err != nil {
				return nil, fmt.Errorf("verifying key %d of %d: %w", i+1, len(verifying), err)
			}
			accepted = append(accepted, public)
		}
	}
	if len(signing) == 0 {
		k.load = sync.OnceValues(func() (*keySet, error) { return deriveKeySet(g, accepted) })
		return k, nil
	}
	private, err := keyutil.ParsePrivateKeyPEM(signing)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, ok := private.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("signing key: unsupported private key type %T", private)
	}
	signer, public, err := newSigner(key)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if len(accepted) == 0 {
		accepted = []jose.JSONWebKey{public}
	}
	keys := &keySet{signer, jose.JSONWebKeySet{Keys: accepted}}
	k.load = func() (*keySet, error) { return keys, nil }
	return k, nil
}

// deriveKeySet returns the key of a seed. One in 2^32 seeds has none.
func deriveKeySet(g *ids.Generator, accepted []jose.JSONWebKey) (*keySet, error) {
	seed := g.Derive("service account tokens")
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		return nil, err
	}
	signer, public, err := newSigner(key)
	if err != nil {
		return nil, err
	}
	return &keySet{signer, jose.JSONWebKeySet{Keys: append([]jose.JSONWebKey{public}, accepted...)}}, nil
}

// newPublicKey returns a key with its algorithm and its id, the hash of its DER form.
func newPublicKey(key crypto.PublicKey) (jose.JSONWebKey, error) {
	algorithm, err := algorithmOf(key)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	hash := sha256.Sum256(der)
	id := base64.RawURLEncoding.EncodeToString(hash[:])
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(algorithm), Use: "sig"}, nil
}

func algorithmOf(key crypto.PublicKey) (jose.SignatureAlgorithm, error) {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return jose.RS256, nil
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return jose.ES256, nil
		case elliptic.P384():
			return jose.ES384, nil
		case elliptic.P521():
			return jose.ES512, nil
		}
		return "", errors.New("unknown private key curve, must be 256, 384, or 521")
	}
	return "", fmt.Errorf("unknown public key type %T, must be *rsa.PublicKey or *ecdsa.PublicKey", key)
}
