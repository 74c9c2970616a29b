package fakeapi_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// keyPEM returns a private key and its public key in PEM.
func keyPEM(t *testing.T, key crypto.Signer) (private, public []byte) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	private = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func newRSAKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return key
}

// partsOf returns the header and the claims of a token.
func partsOf(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, into))
	}
	return header, claims
}

const robotAccount = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot, uid: robot-uid}\n"

// The tokens of a server with a key are valid on another one that verifies with its public key, and
// those of a key that was used before are valid, too.
func TestServiceAccountKeys(t *testing.T) {
	ec := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		require.NoError(t, err)
		return key
	}
	for algorithm, key := range map[string]crypto.Signer{
		"RS256": newRSAKey(t), "ES256": ec(elliptic.P256()), "ES384": ec(elliptic.P384()), "ES512": ec(elliptic.P521()),
	} {
		t.Run(algorithm, func(t *testing.T) {
			private, public := keyPEM(t, key)
			issuers := []string{"https://new.example.com", "https://old.example.com"}
			signer := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC(),
				fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{Issuers: issuers[1:], SigningKey: private, Audiences: issuers}))
			robot, err := signer.RESTConfigForServiceAccount("default", "robot")
			require.NoError(t, err)
			user, err := whoami(t, robot)
			require.NoError(t, err)
			require.Equal(t, "system:serviceaccount:default:robot", user.Username)
			header, claims := partsOf(t, robot.BearerToken)
			require.Equal(t, algorithm, header["alg"])
			require.Equal(t, "https://old.example.com", claims["iss"])
			require.Equal(t, []any{issuers[0], issuers[1]}, claims["aud"])

			next, _ := keyPEM(t, newRSAKey(t))
			second := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC(),
				fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{Issuers: issuers, SigningKey: next, VerifyingKeys: [][]byte{next, public}}))
			_, err = whoami(t, second.RESTConfigWithToken(robot.BearerToken))
			require.NoError(t, err)
			own, err := second.RESTConfigForServiceAccount("default", "robot")
			require.NoError(t, err)
			_, claims = partsOf(t, own.BearerToken)
			require.Equal(t, issuers[0], claims["iss"])
			_, err = whoami(t, signer.RESTConfigWithToken(own.BearerToken))
			require.True(t, apierrors.IsUnauthorized(err), "%v", err)
		})
	}
}

// A token whose payload, signature or algorithm is not that of the key is refused.
func TestServiceAccountTokenForged(t *testing.T) {
	private, _ := keyPEM(t, newRSAKey(t))
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC(),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	parts := strings.Split(robot.BearerToken, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	for name, token := range map[string]string{
		"payload":   parts[0] + "." + encode([]byte(strings.Replace(string(payload), "robot-uid", "other-uid", 1))) + "." + parts[2],
		"signature": parts[0] + "." + parts[1] + "." + encode([]byte("signature")),
		"none":      encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"algorithm": encode([]byte(`{"alg":"HS256"}`)) + "." + parts[1] + "." + parts[2],
	} {
		_, err := whoami(t, srv.RESTConfigWithToken(token))
		require.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
	}
}

// A fork and a server on the same storage accept the tokens of their original, also without the
// option.
func TestServiceAccountKeysOfForks(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC())
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	second := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC(), fakeapi.WithStorageOf(srv))
	for _, other := range []*fakeapi.Server{fork, second} {
		user, err := whoami(t, other.RESTConfigWithToken(robot.BearerToken))
		require.NoError(t, err)
		require.Equal(t, "system:serviceaccount:default:robot", user.Username)
	}
}

// A longer lifetime than the maximum is shortened, with a warning.
func TestServiceAccountMaxTokenExpiration(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{MaxTokenExpiration: 2 * time.Hour}))
	warnings := &warningTexts{}
	config := srv.RESTConfig()
	config.WarningHandler = warnings
	seconds := int64(10000)
	issued, err := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(7200), *issued.Spec.ExpirationSeconds)
	require.Equal(t, []string{"requested expiration of 10000 seconds shortened to 7200 seconds"}, warnings.texts)
}

// getDocument returns a document, its content type and its Cache-Control.
func getDocument(t *testing.T, srv *fakeapi.Server, path string) (doc map[string]any, contentType, cacheControl string) {
	t.Helper()
	response, err := srv.Client().Get(srv.URL() + path)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &doc))
	return doc, response.Header.Get("Content-Type"), response.Header.Get("Cache-Control")
}

// A client verifies a token with the published keys only.
func TestServiceAccountIssuerDiscovery(t *testing.T) {
	key := newRSAKey(t)
	private, _ := keyPEM(t, key)
	for name, opts := range map[string][]fakeapi.Option{
		"own key":               nil,
		"RSA":                   {fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{Issuers: []string{"https://issuer.example.com"}, SigningKey: private})},
		"keys at another place": {fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{JWKSURI: "https://keys.example.com/jwks"})},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(opts, fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC())...)
			robot, err := srv.RESTConfigForServiceAccount("default", "robot")
			require.NoError(t, err)
			header, claims := partsOf(t, robot.BearerToken)

			doc, contentType, cache := getDocument(t, srv, "/.well-known/openid-configuration")
			require.Equal(t, "application/json", contentType)
			require.Equal(t, "public, max-age=3600", cache)
			keys := srv.URL() + "/openid/v1/jwks"
			if name == "keys at another place" {
				keys = "https://keys.example.com/jwks"
			}
			require.Equal(t, map[string]any{
				"issuer": claims["iss"], "jwks_uri": keys,
				"response_types_supported": []any{"id_token"}, "subject_types_supported": []any{"public"},
				"id_token_signing_alg_values_supported": []any{header["alg"]},
			}, doc)

			doc, contentType, _ = getDocument(t, srv, "/openid/v1/jwks")
			require.Equal(t, "application/jwk-set+json", contentType)
			require.Len(t, doc["keys"], 1)
			published := doc["keys"].([]any)[0].(map[string]any)
			require.Equal(t, header["kid"], published["kid"])
			require.Equal(t, "sig", published["use"])
			requireSignature(t, published, robot.BearerToken)
		})
	}
}

// requireSignature requires that a token is signed by the key of a JSON Web Key.
func requireSignature(t *testing.T, key map[string]any, token string) {
	t.Helper()
	member := func(name string) *big.Int {
		text, err := base64.RawURLEncoding.DecodeString(key[name].(string))
		require.NoError(t, err)
		return new(big.Int).SetBytes(text)
	}
	at := strings.LastIndex(token, ".")
	digest := sha256.Sum256([]byte(token[:at]))
	signature, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	require.NoError(t, err)
	if key["kty"] == "RSA" {
		require.NoError(t, rsa.VerifyPKCS1v15(&rsa.PublicKey{N: member("n"), E: int(member("e").Int64())}, crypto.SHA256, digest[:], signature))
		return
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, member("x").FillBytes(make([]byte, 32))...), member("y").FillBytes(make([]byte, 32))...))
	require.NoError(t, err)
	require.True(t, ecdsa.Verify(public, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))
}

// The documents about tokens are served at both forms of their paths, in their own media type only.
// The errors are those of other documents.
func TestServiceAccountIssuerDiscoveryRequests(t *testing.T) {
	srv := fakeapi.Start(t)
	for path, media := range map[string]string{"/.well-known/openid-configuration": "application/json", "/openid/v1/jwks": "application/jwk-set+json"} {
		for _, accept := range []string{"", "*/*", "text/plain, " + media + ";q=0.1"} {
			code, header, _ := getWithAccept(t, srv, "GET", path, accept)
			require.Equal(t, http.StatusOK, code, "%s %s", path, accept)
			require.Equal(t, media, header.Get("Content-Type"))
		}
		_, _, body := getWithAccept(t, srv, "GET", path, "")
		_, _, same := getWithAccept(t, srv, "GET", path+"/", "")
		require.Equal(t, body, same)
		code, _, body := getWithAccept(t, srv, "GET", path, "application/yaml")
		require.Equal(t, http.StatusNotAcceptable, code)
		require.Contains(t, body, media)
		require.Contains(t, body, "kind: Status")
		code, _, body = getWithAccept(t, srv, "POST", path, "")
		require.Equal(t, http.StatusMethodNotAllowed, code)
		require.Contains(t, body, `"kind":"Status"`)
	}
}

// With RBAC service accounts may read the documents, and anonymous users may not.
func TestServiceAccountIssuerDiscoveryNeedsRole(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount), fakeapi.WithRBAC())
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	for _, path := range []string{"/.well-known/openid-configuration", "/openid/v1/jwks"} {
		require.Equal(t, http.StatusOK, codeOf(t, robot, path))
		require.Equal(t, http.StatusForbidden, codeOf(t, srv.RESTConfigWithToken(""), path))
	}
	other := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{Issuers: []string{"issuer"}}))
	require.Equal(t, http.StatusNotFound, codeOf(t, other.RESTConfig(), "/openid/v1/jwks"))
}

func TestInvalidServiceAccountKeys(t *testing.T) {
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	require.NoError(t, err)
	p224, _ := keyPEM(t, small)
	_, public := keyPEM(t, newRSAKey(t))
	for want, keys := range map[string]fakeapi.ServiceAccountKeys{
		"fakeapi: service account keys: signing key":                              {SigningKey: []byte("x")},
		"fakeapi: service account keys: signing key: data does not contain":       {SigningKey: public},
		"unknown private key curve, must be 256, 384, or 521":                     {SigningKey: p224},
		"fakeapi: service account keys: verifying key 1 of 1":                     {VerifyingKeys: [][]byte{nil}},
		"should not be an empty string":                                           {Issuers: []string{""}},
		`the issuer "http://[" contained a ':' but was not a valid URL`:           {Issuers: []string{"http://["}},
		"the maximum token expiration 1s must be between 1 hour and 2^32 seconds": {MaxTokenExpiration: time.Second},
		"the maximum token expiration 1193046h28m17s must be between 1 hour":      {MaxTokenExpiration: (1<<32 + 1) * time.Second},
	} {
		_, err := fakeapi.New(fakeapi.WithServiceAccountKeys(keys))
		require.ErrorContains(t, err, want)
	}
}
