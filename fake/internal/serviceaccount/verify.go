package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

var (
	// errNotIssued is the error of a token that no API server of the cluster has issued.
	errNotIssued = errors.New("invalid bearer token")
	errNoKeys    = errors.New("invalid signature, no keys found")
)

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

// verify is parse without the cache. Only the compact form of a token is accepted.
func (k *Keys) verify(token string) (Claims, error) {
	if strings.HasPrefix(strings.TrimSpace(token), "{") || !k.HasIssuer(token) {
		return Claims{}, errNotIssued
	}
	parsed, err := jwt.ParseSigned(token)
	if err != nil {
		return Claims{}, errNotIssued
	}
	keys, err := k.load()
	if err != nil {
		return Claims{}, err
	}
	candidates := keys.verifying.Keys
	if id := parsed.Headers[0].KeyID; id != "" {
		candidates = keys.verifying.Key(id)
	}
	if len(candidates) == 0 {
		return Claims{}, errNoKeys
	}
	var errs []error
	for _, key := range candidates {
		var c Claims
		if err := parsed.Claims(key, &c.Claims, &c.privateClaims, &c.legacyPrivateClaims); err != nil {
			errs = append(errs, err)
			continue
		}
		if !k.accepts(c.Issuer) { // HasIssuer knows it by another name of the claim
			return Claims{}, fmt.Errorf("token issuer %q is invalid", c.Issuer)
		}
		return c, nil
	}
	return Claims{}, utilerrors.NewAggregate(errs)
}
