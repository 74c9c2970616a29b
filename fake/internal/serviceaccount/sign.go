package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Claims is the content of a token (RFC 7519, KEP-1205).
type Claims struct {
	Audiences []string      `json:"aud"`
	Expires   int64         `json:"exp"`
	Issued    int64         `json:"iat"`
	Issuer    string        `json:"iss"`
	ID        types.UID     `json:"jti"`
	Private   privateClaims `json:"kubernetes.io"`
	NotBefore int64         `json:"nbf"`
	Subject   string        `json:"sub"`
}

type privateClaims struct {
	Namespace      string     `json:"namespace"`
	Node           *objectRef `json:"node,omitempty"`
	Pod            *objectRef `json:"pod,omitempty"`
	Secret         *objectRef `json:"secret,omitempty"`
	ServiceAccount objectRef  `json:"serviceaccount"`
}

type objectRef struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

// sign returns the token of c (ES256, RFC 7518). The same claims have the same token.
func (t *Tokens) sign(c Claims) (string, error) {
	key, err := t.key()
	if err != nil {
		return "", err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	keyID := sha256.Sum256(point)
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": base64.RawURLEncoding.EncodeToString(keyID[:])})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	digest := sha256.Sum256([]byte(text))
	der, err := key.Sign(nil, digest[:], crypto.SHA256) // deterministic (RFC 6979)
	if err != nil {
		return "", err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	pair.R.FillBytes(signature[:32])
	pair.S.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// parse returns the claims of a token that sign returned, and whether it is one. The claims are
// shared and must not be changed.
func (t *Tokens) parse(token string) (Claims, bool) {
	if c, ok := t.parsed.Get(token); ok {
		return c.(Claims), true
	}
	c, ok := t.verify(token)
	if ok && len(token) <= maxParsedSize {
		t.parsed.Add(token, c)
	}
	return c, ok
}

// verify is parse without the cache.
func (t *Tokens) verify(token string) (c Claims, ok bool) {
	parts := strings.SplitN(token, ".", 4)
	if len(parts) != 3 {
		return c, false
	}
	rs, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(rs) != 64 {
		return c, false
	}
	key, err := t.key()
	if err != nil {
		return c, false
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&key.PublicKey, digest[:], new(big.Int).SetBytes(rs[:32]), new(big.Int).SetBytes(rs[32:])) {
		return c, false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(decoded, &c) == nil
}
