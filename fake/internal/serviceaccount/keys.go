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
	signer crypto.Signer
	// signing is the public key of signer. verifying has the accepted keys.
	signing   publicKey
	verifying []publicKey
}

// publicKey is a key with its JSON Web Algorithm and its id.
type publicKey struct {
	id, algorithm string
	key           crypto.PublicKey
}

// NewKeys returns the keys of texts in PEM: a private key, and files of public keys, which are
// accepted instead of that of signing. Without signing, the key is derived from the seed of g, and
// accepted, too. The caller sets the fields of the result that are not those of DefaultIssuer.
func NewKeys(g *ids.Generator, signing []byte, verifying [][]byte) (*Keys, error) {
	k := &Keys{Issuers: []string{DefaultIssuer}, Audiences: []string{DefaultIssuer}}
	var accepted []publicKey
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
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("signing key: unsupported private key type %T", private)
	}
	public, err := newPublicKey(signer.Public())
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if len(accepted) == 0 {
		accepted = []publicKey{public}
	}
	k.load = func() (*keySet, error) { return &keySet{signer, public, accepted}, nil }
	return k, nil
}

// deriveKeySet returns the key of a seed. One in 2^32 seeds has none.
func deriveKeySet(g *ids.Generator, accepted []publicKey) (*keySet, error) {
	seed := g.Derive("service account tokens")
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		return nil, err
	}
	public, err := newPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return &keySet{key, public, append([]publicKey{public}, accepted...)}, nil
}

// newPublicKey returns a key with its algorithm and its id, the hash of its DER form.
func newPublicKey(key crypto.PublicKey) (publicKey, error) {
	algorithm, err := algorithmOf(key)
	if err != nil {
		return publicKey{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return publicKey{}, err
	}
	hash := sha256.Sum256(der)
	return publicKey{base64.RawURLEncoding.EncodeToString(hash[:]), algorithm, key}, nil
}

func algorithmOf(key crypto.PublicKey) (string, error) {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return "RS256", nil
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return "ES256", nil
		case elliptic.P384():
			return "ES384", nil
		case elliptic.P521():
			return "ES512", nil
		}
		return "", errors.New("unknown private key curve, must be 256, 384, or 521")
	}
	return "", fmt.Errorf("unknown public key type %T, must be *rsa.PublicKey or *ecdsa.PublicKey", key)
}
