package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes of the algorithms
	_ "crypto/sha512"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Claims is the content of a token (RFC 7519, KEP-1205).
type Claims struct {
	Audiences audiences     `json:"aud"`
	Expires   *numericDate  `json:"exp"`
	Issued    *numericDate  `json:"iat"`
	Issuer    string        `json:"iss"`
	ID        types.UID     `json:"jti"`
	Private   privateClaims `json:"kubernetes.io"`
	NotBefore *numericDate  `json:"nbf"`
	Subject   string        `json:"sub"`
}

// audiences is a list that may be encoded as a single string (RFC 7519, section 4.1.3).
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(text []byte) error {
	var single string
	if json.Unmarshal(text, &single) == nil {
		*a = audiences{single}
		return nil
	}
	var list []string
	err := json.Unmarshal(text, &list)
	*a = list
	return err
}

// numericDate is a time in seconds, which may be encoded with a fraction (RFC 7519, section 2).
type numericDate int64

// UnmarshalJSON implements json.Unmarshaler.
func (d *numericDate) UnmarshalJSON(text []byte) error {
	var seconds float64
	err := json.Unmarshal(text, &seconds)
	*d = numericDate(seconds)
	return err
}

func (d numericDate) time() time.Time { return time.Unix(int64(d), 0) }

type privateClaims struct {
	Namespace      string     `json:"namespace"`
	Node           *objectRef `json:"node,omitempty"`
	Pod            *objectRef `json:"pod,omitempty"`
	Secret         *objectRef `json:"secret,omitempty"`
	ServiceAccount objectRef  `json:"serviceaccount"`
	// WarnAfter is the time after which the token is stale, 0 if it is not extended.
	WarnAfter numericDate `json:"warnafter,omitempty"`
}

type objectRef struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

// sign returns the token of c (RFC 7515, RFC 7518). The same claims have the same token.
func (k *Keys) sign(c Claims) (string, error) {
	keys, err := k.load()
	if err != nil {
		return "", err
	}
	header, err := json.Marshal(joseHeader{Algorithm: keys.signing.algorithm, KeyID: keys.signing.id})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	signature, err := keys.signing.sign(keys.signer, text)
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// joseHeader is the header of a token.
type joseHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid,omitempty"`
}

// sign returns the signature of a text by signer, whose public key is k.
func (k publicKey) sign(signer crypto.Signer, text string) ([]byte, error) {
	digest := k.digest(text)
	signature, err := signer.Sign(nil, digest, k.hash()) // deterministic (RFC 6979, RFC 8017)
	public, ok := k.key.(*ecdsa.PublicKey)
	if err != nil || !ok {
		return signature, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &pair); err != nil {
		return nil, err
	}
	size := (public.Curve.Params().BitSize + 7) / 8
	signature = make([]byte, 2*size)
	pair.R.FillBytes(signature[:size])
	pair.S.FillBytes(signature[size:])
	return signature, nil
}

func (k publicKey) digest(text string) []byte {
	h := k.hash().New()
	h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}

// verify reports whether a text has a signature by the key.
func (k publicKey) verify(text string, signature []byte) bool {
	digest := k.digest(text)
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, k.hash(), digest, signature) == nil
	case *ecdsa.PublicKey:
		size := (key.Curve.Params().BitSize + 7) / 8
		return len(signature) == 2*size &&
			ecdsa.Verify(key, digest, new(big.Int).SetBytes(signature[:size]), new(big.Int).SetBytes(signature[size:]))
	}
	return false
}

// errNotIssued is the error of a token that no API server of the cluster has issued.
var errNotIssued = errors.New("invalid bearer token")

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
func (k *Keys) verify(token string) (c Claims, err error) {
	parts := strings.SplitN(token, ".", 4)
	if len(parts) != 3 || !k.HasIssuer(token) {
		return c, errNotIssued
	}
	var header joseHeader
	if !decodePart(parts[0], &header) || !decodePart(parts[1], &c) {
		return c, errNotIssued
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return c, errNotIssued
	}
	keys, err := k.load()
	if err != nil {
		return c, err
	}
	candidates := keys.candidates(header.KeyID)
	if len(candidates) == 0 {
		return c, errors.New("invalid signature, no keys found")
	}
	for _, key := range candidates {
		if key.algorithm == header.Algorithm && key.verify(parts[0]+"."+parts[1], signature) {
			return c, nil
		}
	}
	return c, errors.New("go-jose/go-jose: error in cryptographic primitive")
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

// decodePart decodes the header or the claims of a token.
func decodePart(text string, into any) bool {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(decoded, into) == nil
}
