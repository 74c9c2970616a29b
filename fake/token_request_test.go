package fakeapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

func newServiceAccount(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: "account-uid"}}
}

// claimsOf returns the claims of a token that is signed by a key with the curve P-256.
func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	header, claims := partsOf(t, token)
	require.Equal(t, "ES256", header["alg"])
	require.NotEmpty(t, header["kid"])
	signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndex(token, ".")+1:])
	require.NoError(t, err)
	require.Len(t, signature, 64)
	return claims
}

// The claims of a token are its service account, audiences, expiration and bound object.
func TestTokenRequest(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(newServiceAccount("sa"),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node-uid"}},
		newPod("p", makeRunning, func(p *corev1.Pod) { p.Spec.ServiceAccountName, p.UID = "sa", "pod-uid" })))
	ctx := t.Context()
	before := srv.ResourceVersion()
	accounts := client.CoreV1().ServiceAccounts("default")

	response, err := accounts.CreateToken(ctx, "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "sa", response.Name)
	require.Equal(t, "default", response.Namespace)
	require.EqualValues(t, 3600, *response.Spec.ExpirationSeconds)
	require.Equal(t, []string{"https://kubernetes.default.svc.cluster.local"}, response.Spec.Audiences)
	require.WithinDuration(t, time.Now().Add(time.Hour), response.Status.ExpirationTimestamp.Time, time.Minute)
	claims := claimsOf(t, response.Status.Token)
	require.Equal(t, "https://kubernetes.default.svc.cluster.local", claims["iss"])
	require.Equal(t, "system:serviceaccount:default:sa", claims["sub"])
	require.Equal(t, claims["iat"], claims["nbf"])
	require.InDelta(t, claims["iat"].(float64)+3600, claims["exp"], 0)
	require.NotEmpty(t, claims["jti"])
	require.Equal(t, map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "sa", "uid": "account-uid"}}, claims["kubernetes.io"])

	seconds := int64(600)
	response, err = accounts.CreateToken(ctx, "sa", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{"vault"}, ExpirationSeconds: &seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p", UID: "pod-uid"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	claims = claimsOf(t, response.Status.Token)
	require.Equal(t, []any{"vault"}, claims["aud"])
	require.Equal(t, map[string]any{"name": "p", "uid": "pod-uid"}, claims["kubernetes.io"].(map[string]any)["pod"])
	require.Equal(t, map[string]any{"name": "n", "uid": "node-uid"}, claims["kubernetes.io"].(map[string]any)["node"])
	require.Equal(t, before, srv.ResourceVersion(), "the token is not stored")
}

// A token of a pod for 3607 seconds and for this server alone is valid for a year. Its response and
// a claim have the requested time.
func TestTokenRequestOfVolume(t *testing.T) {
	audience := "https://kubernetes.default.svc.cluster.local"
	toPod := &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"}
	accounts := fakeapi.WithObjects(newServiceAccount("sa"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}},
		newPod("p", makeRunning, func(p *corev1.Pod) { p.Spec.ServiceAccountName = "sa" }))
	for name, c := range map[string]struct {
		keys     fakeapi.ServiceAccountKeys
		seconds  int64
		request  authenticationv1.TokenRequestSpec
		lifetime float64
	}{
		"of a pod":                  {seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod}, lifetime: 365 * 24 * 3600},
		"with the server's own":     {seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod, Audiences: []string{audience}}, lifetime: 365 * 24 * 3600},
		"with another audience":     {seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod, Audiences: []string{audience, "vault"}}, lifetime: 3607},
		"for another time":          {seconds: 3608, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod}, lifetime: 3608},
		"of a secret":               {seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: "s"}}, lifetime: 3607},
		"of no object":              {seconds: 3607, lifetime: 3607},
		"with a longer maximum":     {keys: fakeapi.ServiceAccountKeys{MaxTokenExpiration: 2 * time.Hour}, seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod}, lifetime: 365 * 24 * 3600},
		"with a shorter maximum":    {keys: fakeapi.ServiceAccountKeys{MaxTokenExpiration: time.Hour}, seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod}, lifetime: 3600},
		"with the exact expiration": {keys: fakeapi.ServiceAccountKeys{ExactTokenExpiration: true}, seconds: 3607, request: authenticationv1.TokenRequestSpec{BoundObjectRef: toPod}, lifetime: 3607},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := startClient(t, accounts, fakeapi.WithServiceAccountKeys(c.keys))
			c.request.ExpirationSeconds = &c.seconds
			response, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{Spec: c.request}, metav1.CreateOptions{})
			require.NoError(t, err)
			claims := claimsOf(t, response.Status.Token)
			issued := claims["iat"].(float64)
			require.InDelta(t, issued+c.lifetime, claims["exp"], 0)
			warnAfter, isExtended := claims["kubernetes.io"].(map[string]any)["warnafter"]
			require.Equal(t, c.lifetime > 4000, isExtended)
			if isExtended {
				require.InDelta(t, issued+3607, warnAfter, 0)
			}
			require.WithinDuration(t, time.Now().Add(time.Hour), response.Status.ExpirationTimestamp.Time, time.Minute)
		})
	}
}

func TestTokenRequestErrors(t *testing.T) {
	_, client := startClient(t, fakeapi.WithObjects(newServiceAccount("sa"), newPod("p"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default", UID: "secret-uid"}}))
	ctx := t.Context()
	accounts := client.CoreV1().ServiceAccounts("default")
	bound := func(apiVersion, kind, name, uid string) func(*authenticationv1.TokenRequest) {
		return func(r *authenticationv1.TokenRequest) {
			r.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "secret-uid"}
			if uid != "" {
				r.Spec.BoundObjectRef.UID = "other"
			}
		}
	}
	expiresIn := func(seconds int64) func(*authenticationv1.TokenRequest) {
		return func(r *authenticationv1.TokenRequest) { r.Spec.ExpirationSeconds = &seconds }
	}
	for want, change := range map[string]func(*authenticationv1.TokenRequest){
		`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`: expiresIn(599),
		`spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`:                                        expiresIn(1<<32 + 1),
		`TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified`:   func(r *authenticationv1.TokenRequest) { r.Name = "other" },
		`pods "none" not found`:                              bound("v1", "Pod", "none", ""),
		`Name parameter required.`:                           bound("v1", "Node", "", ""),
		`Name parameter invalid: "a/b": may not contain '/'`: bound("v1", "Secret", "a/b", ""),
		`cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.`: bound("v1", "Pod", "p", ""),
		`cannot bind token to object of type apps/v1, Kind=Deployment`:                                 bound("apps/v1", "Deployment", "d", ""),
		`the UID in the bound object reference (other) does not match the UID in record`:               bound("v1", "Secret", "s", "other"),
		`nodes "n" not found`: bound("v1", "Node", "n", ""),
		`cannot bind token to object of type admissionregistration.k8s.io/v1beta1, Kind=MutatingWebhookConfiguration`: bound(
			"admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration", "w", ""),
	} {
		request := &authenticationv1.TokenRequest{}
		change(request)
		_, err := accounts.CreateToken(ctx, "sa", request, metav1.CreateOptions{})
		require.ErrorContains(t, err, want)
	}
	_, err := accounts.CreateToken(ctx, "none", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.True(t, apierrors.IsNotFound(err))
	require.EqualError(t, err, `serviceaccounts "none" not found`)
}

// Attestations are validated, but no token has them without the feature gate
// APIServerWebhookAuthenticationToken.
func TestTokenRequestAttestations(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newServiceAccount("sa")))
	const prefix = `TokenRequest.authentication.k8s.io "" is invalid: spec.`
	const webhook = `"boundObjectRef": {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "name": "w"}, `
	for spec, want := range map[string]string{
		`"attestations": {"admissionReviewAPIGroups": ["apps"]}, "expirationSeconds": 1`: prefix +
			`attestations: Invalid value: {"admissionReviewAPIGroups":["apps"]}: attestations may only be specified with a webhook bound object reference`,
		`"attestations": {"a": ["b"]}, "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "p"}`: prefix +
			`attestations: Invalid value: {"a":["b"]}: attestations may only be specified with a webhook bound object reference`,
		webhook + `"audiences": ["a"]`: prefix +
			`attestations: Invalid value: null: webhook bound requests require exactly one admissionReviewAPIGroups attestation`,
		webhook + `"attestations": {"admissionReviewAPIGroups": ["apps"], "a": ["b"]}`: prefix +
			`attestations: Invalid value: {"a":["b"],"admissionReviewAPIGroups":["apps"]}: webhook bound requests require exactly one admissionReviewAPIGroups attestation`,
		webhook + `"attestations": {"admissionReviewAPIGroups": ["apps"]}, "audiences": ["a", "b"]`: prefix +
			`audiences: Invalid value: ["a","b"]: must be length 1 when bound to a webhook config`,
		webhook + `"attestations": {"a": ["b"]}`: prefix +
			`attestations[a]: Unsupported value: "a": supported values: "admissionReviewAPIGroups"`,
		webhook + `"attestations": {"admissionReviewAPIGroups": []}`: prefix +
			`attestations[admissionReviewAPIGroups]: Invalid value: []: must specify a single value`,
		webhook + `"attestations": {"admissionReviewAPIGroups": ["a", "b"]}`: prefix +
			`attestations[admissionReviewAPIGroups]: Invalid value: ["a","b"]: must specify a single value`,
		webhook + `"attestations": {"admissionReviewAPIGroups": [""]}`: prefix +
			`attestations[admissionReviewAPIGroups][0]: Invalid value: "": may not be an empty string`,
		webhook + `"attestations": {"admissionReviewAPIGroups": ["A"]}`: prefix +
			`attestations[admissionReviewAPIGroups][0]: Invalid value: "A": must specify a valid API Group: a lowercase RFC 1123 subdomain must consist of ` +
			`lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ` +
			`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		webhook + `"attestations": {"admissionReviewAPIGroups": ["*"]}`: `cannot bind token to object of type ` +
			`admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)`,
	} {
		_, status := sendForStatus(t, srv, "POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", "application/json", `{"spec":{`+spec+`}}`)
		require.Equal(t, want, status.Message, spec)
	}
}

// Admission sees the lifetime with its default, before it is limited. The warning of that is only
// sent with a token.
func TestAdmissionOfTokenRequest(t *testing.T) {
	var lifetimes []int64
	review := func(response *admissionResponse) fakeapi.AdmissionFunc {
		return func(_ context.Context, request *admissionRequest) *admissionResponse {
			var sent authenticationv1.TokenRequest
			assert.NoError(t, json.Unmarshal(request.Object.Raw, &sent))
			lifetimes = append(lifetimes, *sent.Spec.ExpirationSeconds)
			return response
		}
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newServiceAccount("sa")),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{MaxTokenExpiration: time.Hour}),
		fakeapi.WithAdmission(
			fakeapi.Admission{Name: "a.example.com", Mutating: true, Review: review(patchResponse(`[{"op":"remove","path":"/spec/expirationSeconds"}]`))},
			fakeapi.Admission{Name: "b.example.com", Mutating: true, Review: review(patchResponse(`[{"op":"replace","path":"/spec/expirationSeconds","value":7200}]`))},
			fakeapi.Admission{Name: "c.example.com", Review: review(allow())}))
	warnings := &warningTexts{}
	config := srv.RESTConfig()
	config.WarningHandler = warnings
	accounts := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts("default")
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: "none"}}}
	_, err := accounts.CreateToken(t.Context(), "sa", request, metav1.CreateOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	require.Equal(t, []int64{3600, 3600, 7200}, lifetimes)
	require.Empty(t, warnings.texts)

	issued, err := accounts.CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3600, *issued.Spec.ExpirationSeconds)
	require.Equal(t, []string{"requested expiration of 7200 seconds shortened to 3600 seconds"}, warnings.texts)
}

// Servers with the same seed sign with the same key.
func TestTokensDependOnSeed(t *testing.T) {
	key := func(seed uint64) string {
		_, client := startClient(t, fakeapi.WithSeed(seed), fakeapi.WithObjects(newServiceAccount("sa")))
		response, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		require.NoError(t, err)
		header, _, _ := strings.Cut(response.Status.Token, ".")
		return header
	}
	require.Equal(t, key(1), key(1))
	require.NotEqual(t, key(1), key(2))
}
