package serviceaccount

import (
	"encoding/json"
	"fmt"
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
	for _, key := range keys.verifying.Keys {
		c.SigningAlgs = append(c.SigningAlgs, key.Algorithm)
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

// JWKS returns the document at JWKSPath in JSON: the keys whose tokens are accepted.
func (k *Keys) JWKS() ([]byte, error) {
	keys, err := k.load()
	if err != nil {
		return nil, err
	}
	return json.Marshal(keys.verifying)
}
