package fakeapi_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// signRS256 returns the token with a header and claims, signed by key.
func signRS256(t *testing.T, key *rsa.PrivateKey, header, claims map[string]any) string {
	t.Helper()
	encode := func(part map[string]any) string {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := encode(header) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
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
	const noError = ""
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
				&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: signRS256(t, key, h, cl)}}, metav1.CreateOptions{})
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

// The audit log tells of requests with a token that is for no audience.
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
			_, err := whoami(t, srv.RESTConfigWithToken(signRS256(t, key, header, claims)))
			require.NoError(t, err)
			require.Equal(t, want, log.takeLast().Annotations["authentication.k8s.io/legacy-token"])
		}
	})
}
