package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the algorithms
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

var (
	// errNotIssued is the error of a token that no API server of the cluster has issued.
	errNotIssued = errors.New("invalid bearer token")
	errNoKeys    = errors.New("invalid signature, no keys found")
	errSignature = errors.New("go-jose/go-jose: error in cryptographic primitive")
)

// joseHeader is the header of a token.
type joseHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid,omitempty"`
	// Critical are the extensions without which the token is not valid. None is known.
	Critical []string `json:"crit,omitempty"`
}

// HasIssuer reports whether a token claims to have been issued by an API server for a service
// account of its cluster. The token may be invalid.
func (k *Keys) HasIssuer(token string) bool {
	_, rest, found := strings.Cut(token, ".")
	if !found {
		return false
	}
	text, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	return json.Unmarshal(payload, &claims) == nil && k.accepts(claims.Issuer)
}

// accepts reports whether tokens of an issuer are accepted.
func (k *Keys) accepts(issuer string) bool {
	return issuer == legacyIssuer || slices.Contains(k.Issuers, issuer)
}

// parse returns the claims of a token with a valid signature, or an error. The claims are shared
// and must not be changed.
func (t *Tokens) parse(token string) (Claims, error) {
	if c, ok := t.parsed.Get(token); ok {
		return c.(Claims), nil
	}
	c, err := t.keys.verify(token)
	if err == nil && len(token) <= maxParsedSize {
		t.parsed.Add(token, c)
	}
	return c, err
}

// verify is parse without the cache.
func (k *Keys) verify(token string) (Claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || !k.HasIssuer(token) {
		return Claims{}, errNotIssued
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return Claims{}, errNotIssued
		}
	}
	var header joseHeader
	if decodeJOSE(decoded[0], &header) != nil {
		return Claims{}, errNotIssued
	}
	keys, err := k.load()
	if err != nil {
		return Claims{}, err
	}
	candidates := keys.candidates(header.KeyID)
	if len(candidates) == 0 {
		return Claims{}, errNoKeys
	}
	text := encodeParts(decoded[0], decoded[1])
	var errs []error
	for _, key := range candidates {
		if len(header.Critical) > 0 || !key.verify(header.Algorithm, text, decoded[2]) {
			errs = append(errs, errSignature)
			continue
		}
		var c Claims
		switch err := decodeJOSE(decoded[1], &c); {
		case err != nil:
			errs = append(errs, err)
		case !k.accepts(c.Issuer): // HasIssuer knows it by another name of the claim
			return Claims{}, fmt.Errorf("token issuer %q is invalid", c.Issuer)
		default:
			return c, nil
		}
	}
	return Claims{}, utilerrors.NewAggregate(errs)
}

// encodeParts returns the text that the signature of a token is for.
func encodeParts(header, payload []byte) string {
	return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
}

// candidates returns the accepted keys with an id, or all of them if a token has no id of a key.
func (s *keySet) candidates(id string) []publicKey {
	if id == "" {
		return s.verifying
	}
	for _, key := range s.verifying {
		if key.id == id {
			return []publicKey{key}
		}
	}
	return nil
}

// verify reports whether a text has a signature by the key. The algorithm is one of RFC 7518 that
// the key can have.
func (k publicKey) verify(algorithm, text string, signature []byte) bool {
	hash, ok := hashOf(algorithm)
	if !ok {
		return false
	}
	digest, kind := digestOf(hash, text), algorithm[:2]
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		switch kind {
		case "RS":
			return rsa.VerifyPKCS1v15(key, hash, digest, signature) == nil
		case "PS":
			return rsa.VerifyPSS(key, hash, digest, signature, nil) == nil
		}
	case *ecdsa.PublicKey:
		size := hash.Size()
		if hash == crypto.SHA512 { // for P-521
			size = 66
		}
		return kind == "ES" && len(signature) == 2*size &&
			ecdsa.Verify(key, digest, new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:]))
	}
	return false
}

// hashOf returns the hash function of a signature algorithm such as RS256, and whether it has one.
func hashOf(algorithm string) (hash crypto.Hash, ok bool) {
	switch algorithm {
	case "RS256", "PS256", "ES256":
		return crypto.SHA256, true
	case "RS384", "PS384", "ES384":
		return crypto.SHA384, true
	case "RS512", "PS512", "ES512":
		return crypto.SHA512, true
	}
	return 0, false
}

func digestOf(hash crypto.Hash, text string) []byte {
	h := hash.New()
	h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}
