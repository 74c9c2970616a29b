package fakeapi_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// signRSA returns the token with a header and claims, signed by key with the algorithm of the
// header. One that is not of RSA is signed as by RS256.
func signRSA(t *testing.T, key *rsa.PrivateKey, header, claims map[string]any) string {
	t.Helper()
	encode := func(part map[string]any) string {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := encode(header) + "." + encode(claims)
	algorithm, hash := fmt.Sprint(header["alg"]), crypto.SHA256
	switch algorithm {
	case "RS384", "PS384":
		hash = crypto.SHA384
	case "RS512", "PS512":
		hash = crypto.SHA512
	}
	var opts crypto.SignerOpts = hash
	if strings.HasPrefix(algorithm, "PS") {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	digest := hash.New()
	digest.Write([]byte(text))
	signature, err := key.Sign(rand.Reader, digest.Sum(nil), opts)
	require.NoError(t, err)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Tokens that others sign with the key of a server may lack claims that those of a server have.
func TestServiceAccountTokenClaims(t *testing.T) {
	key := newRSAKey(t)
	private, _ := keyPEM(t, key)
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithYAML(robotAccount+
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, uid: secret-uid}\n"), fakeapi.WithRBAC(),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	header, claims := partsOf(t, robot.BearerToken)
	const (
		noError        = ""
		wrongSignature = "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"
		noAudience     = "[invalid bearer token, go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience]"
	)
	now, jti := float64(time.Now().Unix()), "JTI="+claims["jti"].(string)
	ref := map[string]any{"name": "s", "uid": "secret-uid"}
	bound := func(to map[string]any) map[string]any {
		c := map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "robot", "uid": "robot-uid"}}
		maps.Copy(c, to)
		return c
	}
	for name, c := range map[string]struct {
		header, claims map[string]any // null removes one
		wantError      string
		wantID         string
	}{
		"as issued":            {nil, nil, noError, jti},
		"no id of a key":       {map[string]any{"kid": nil}, nil, noError, jti},
		"unknown key":          {map[string]any{"kid": "other"}, nil, "[invalid bearer token, invalid signature, no keys found]", ""},
		"no audiences":         {nil, map[string]any{"aud": nil}, noError, jti},
		"no times":             {nil, map[string]any{"exp": nil, "nbf": nil, "iat": nil}, noError, jti},
		"fractions of seconds": {nil, map[string]any{"exp": now + 60.5, "nbf": now - 60.5}, noError, jti},
		"expired":              {nil, map[string]any{"exp": now - 3600}, "[invalid bearer token, service account token has expired]", ""},
		"expired in 1970":      {nil, map[string]any{"exp": 0}, "[invalid bearer token, service account token has expired]", ""},
		"not valid yet":        {nil, map[string]any{"nbf": now + 3600}, "[invalid bearer token, service account token is not valid yet]", ""},
		"issued in the future": {nil, map[string]any{"iat": now + 3600}, "[invalid bearer token, service account token is issued in the future]", ""},
		"another subject":      {nil, map[string]any{"sub": "system:serviceaccount:kube-system:admin"}, noError, jti},
		"no id":                {nil, map[string]any{"jti": nil}, noError, ""},
		"secret":               {nil, map[string]any{"kubernetes.io": bound(map[string]any{"secret": ref})}, noError, jti},
		"RS384":                {map[string]any{"alg": "RS384"}, nil, noError, jti},
		"RS512":                {map[string]any{"alg": "RS512"}, nil, noError, jti},
		"PS256":                {map[string]any{"alg": "PS256"}, nil, noError, jti},
		"PS384":                {map[string]any{"alg": "PS384"}, nil, noError, jti},
		"PS512":                {map[string]any{"alg": "PS512"}, nil, noError, jti},
		"no algorithm":         {map[string]any{"alg": nil}, nil, wrongSignature, ""},
		"another algorithm":    {map[string]any{"alg": "ES256"}, nil, wrongSignature, ""},
		"critical extension":   {map[string]any{"crit": []string{"example.com/x"}}, nil, wrongSignature, ""},
		"id of a key, no text": {map[string]any{"kid": 5}, nil, "invalid bearer token", ""},
		"audience, no text":    {nil, map[string]any{"aud": []any{claims["iss"], 5}}, noAudience, ""},
		"audiences are null":   {nil, map[string]any{"aud": json.RawMessage("null")}, noAudience, ""},
		"time is text":         {nil, map[string]any{"exp": "5"}, "[invalid bearer token, go-jose/go-jose/jwt: expected number value to unmarshal NumericDate]", ""},
		"subject is a number":  {nil, map[string]any{"sub": 5}, "[invalid bearer token, json: cannot unmarshal number into Go value of type string]", ""},
		"claims are text":      {nil, map[string]any{"kubernetes.io": "x"}, "[invalid bearer token, json: cannot unmarshal string into Go value of type serviceaccount.kubernetes]", ""},
		"pod is text":          {nil, map[string]any{"kubernetes.io": bound(map[string]any{"pod": "p"})}, "[invalid bearer token, json: cannot unmarshal string into Go value of type serviceaccount.ref]", ""},
		"issuer in capitals":   {nil, map[string]any{"iss": nil, "ISS": claims["iss"]}, `[invalid bearer token, token issuer "" is invalid]`, ""},
		"times in capitals":    {nil, map[string]any{"EXP": 0}, noError, jti},
		"secret and no pod":    {nil, map[string]any{"kubernetes.io": bound(map[string]any{"secret": ref, "pod": ref})}, "[invalid bearer token, service account token has been invalidated]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, cl := maps.Clone(header), maps.Clone(claims)
			maps.Copy(h, c.header)
			maps.Copy(cl, c.claims)
			isNull := func(_ string, value any) bool { return value == nil }
			maps.DeleteFunc(h, isNull)
			maps.DeleteFunc(cl, isNull)
			review, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AuthenticationV1().TokenReviews().Create(t.Context(),
				&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: signRSA(t, key, h, cl)}}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Equal(t, c.wantError, review.Status.Error)
			if c.wantError != noError {
				require.False(t, review.Status.Authenticated)
				return
			}
			require.Equal(t, []string{claims["iss"].(string)}, review.Status.Audiences)
			require.Equal(t, "system:serviceaccount:default:robot", review.Status.User.Username)
			var ids authenticationv1.ExtraValue
			if c.wantID != "" {
				ids = authenticationv1.ExtraValue{c.wantID}
			}
			require.Equal(t, ids, review.Status.User.Extra["authentication.kubernetes.io/credential-id"])
		})
	}
}

// The audit log tells of requests with a token that is for no audience, if it is valid.
func TestServiceAccountTokenWithoutAudiences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newRSAKey(t)
		private, _ := keyPEM(t, key)
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithYAML(robotAccount),
			fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
		robot, err := srv.RESTConfigForServiceAccount("default", "robot")
		require.NoError(t, err)
		for want, change := range map[string]func(claims map[string]any){
			"":                                    func(map[string]any) {},
			"system:serviceaccount:default:robot": func(claims map[string]any) { delete(claims, "aud") },
		} {
			header, claims := partsOf(t, robot.BearerToken)
			change(claims)
			_, err := whoami(t, srv.RESTConfigWithToken(signRSA(t, key, header, claims)))
			require.NoError(t, err)
			require.Equal(t, want, log.takeLast().Annotations["authentication.k8s.io/legacy-token"])
		}
		header, claims := partsOf(t, robot.BearerToken)
		delete(claims, "aud")
		claims["exp"] = 0
		_, err = whoami(t, srv.RESTConfigWithToken(signRSA(t, key, header, claims)))
		require.True(t, apierrors.IsUnauthorized(err), "%v", err)
		require.Empty(t, log.takeLast().Annotations)
	})
}
