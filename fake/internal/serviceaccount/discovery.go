package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
)

// The paths of the documents for clients that verify tokens (KEP-1393).
const (
	OpenIDConfigurationPath = "/.well-known/openid-configuration"
	JWKSPath                = "/openid/v1/jwks"
)

// openIDConfiguration is the document at OpenIDConfigurationPath.
type openIDConfiguration struct {
	Issuer        string   `json:"issuer"`
	JWKSURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	SigningAlgs   []string `json:"id_token_signing_alg_values_supported"`
}

// OpenIDConfiguration returns the document at OpenIDConfigurationPath in JSON. server is the
// address of the server, for the URL of the keys. An issuer that is no URL of https has no
// document.
func (k *Keys) OpenIDConfiguration(server string) ([]byte, error) {
	if err := requireHTTPS(k.Issuers[0], "issuer"); err != nil {
		return nil, err
	}
	uri := k.JWKSURI
	if uri == "" {
		uri = (&url.URL{Scheme: "https", Host: server, Path: JWKSPath}).String()
	}
	if err := requireHTTPS(uri, "jwksURI"); err != nil {
		return nil, err
	}
	keys, err := k.load()
	if err != nil {
		return nil, err
	}
	c := openIDConfiguration{Issuer: k.Issuers[0], JWKSURI: uri, ResponseTypes: []string{"id_token"}, SubjectTypes: []string{"public"}}
	for _, key := range keys.verifying {
		c.SigningAlgs = append(c.SigningAlgs, key.algorithm)
	}
	slices.Sort(c.SigningAlgs)
	c.SigningAlgs = slices.Compact(c.SigningAlgs)
	return json.Marshal(c)
}

func requireHTTPS(text, what string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" {
		return fmt.Errorf("%s must use https scheme, got: %s", what, text)
	}
	return nil
}

// jsonWebKey is a public key (RFC 7517), without the members of the other type.
type jsonWebKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	KeyID     string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
}

// JWKS returns the document at JWKSPath in JSON: the keys whose tokens are accepted.
func (k *Keys) JWKS() ([]byte, error) {
	keys, err := k.load()
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []jsonWebKey `json:"keys"`
	}
	for _, key := range keys.verifying {
		j, err := key.jsonWebKey()
		if err != nil {
			return nil, err
		}
		set.Keys = append(set.Keys, j)
	}
	return json.Marshal(set)
}

func (k publicKey) jsonWebKey() (jsonWebKey, error) {
	j := jsonWebKey{Use: "sig", KeyID: k.id, Algorithm: k.algorithm}
	encode := base64.RawURLEncoding.EncodeToString
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		j.Type, j.N, j.E = "RSA", encode(key.N.Bytes()), encode(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // 4, X and Y
		if err != nil {
			return j, err
		}
		size := len(point) / 2
		j.Type, j.Curve, j.X, j.Y = "EC", key.Curve.Params().Name, encode(point[1:1+size]), encode(point[1+size:])
	default:
		return j, errors.New("the key has no JSON form")
	}
	return j, nil
}
