package fakeapi_test

import (
	"crypto/rsa"
	"maps"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

const (
	lastUsedLabel     = "kubernetes.io/legacy-token-last-used"
	invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since"
)

// secretToken returns the token of the service account robot for the Secret robot-token, signed by
// key. The changes replace claims; null removes one.
func secretToken(t *testing.T, key *rsa.PrivateKey, changes map[string]any) string {
	const prefix = "kubernetes.io/serviceaccount/"
	claims := map[string]any{
		"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:robot",
		prefix + "namespace": "default", prefix + "secret.name": "robot-token",
		prefix + "service-account.name": "robot", prefix + "service-account.uid": "robot-uid",
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return signRSA(t, key, map[string]any{"alg": "RS256"}, claims)
}

// robotAndSecret returns the service account robot and its Secret robot-token with a token.
func robotAndSecret(token string) (*corev1.ServiceAccount, *corev1.Secret) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot", UID: "robot-uid"}}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot-token", Annotations: map[string]string{
			corev1.ServiceAccountNameKey: "robot", corev1.ServiceAccountUIDKey: "robot-uid",
		}},
		Type: corev1.SecretTypeServiceAccountToken, Data: map[string][]byte{corev1.ServiceAccountTokenKey: []byte(token)},
	}
	return account, secret
}

// A review of a token in a Secret checks its claims, the Secret and the service account.
func TestSecretTokenReview(t *testing.T) {
	key := newRSAKey(t)
	private, _ := keyPEM(t, key)
	const prefix, valid = "kubernetes.io/serviceaccount/", ""
	now := metav1.Now()
	deleted := metav1.ObjectMeta{DeletionTimestamp: &now, Finalizers: []string{"example.com/wait"}}
	for name, c := range map[string]struct {
		claims    map[string]any
		change    func(*corev1.ServiceAccount, *corev1.Secret)
		wantCause string
	}{
		"valid":                 {nil, nil, valid},
		"expired":               {map[string]any{"exp": 1}, nil, valid},
		"for the server":        {map[string]any{"aud": "https://kubernetes.default.svc.cluster.local"}, nil, valid},
		"for another audience":  {map[string]any{"aud": "vault"}, nil, `token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc.cluster.local"]`},
		"no subject":            {map[string]any{"sub": nil}, nil, "sub claim is missing"},
		"no namespace":          {map[string]any{prefix + "namespace": nil}, nil, "namespace claim is missing"},
		"no secret":             {map[string]any{prefix + "secret.name": nil}, nil, "secretName claim is missing"},
		"no account":            {map[string]any{prefix + "service-account.name": nil}, nil, "serviceAccountName claim is missing"},
		"no uid":                {map[string]any{prefix + "service-account.uid": nil}, nil, "serviceAccountUID claim is missing"},
		"another subject":       {map[string]any{"sub": "system:serviceaccount:default:other"}, nil, "sub claim is invalid"},
		"subject is no account": {map[string]any{"sub": "robot"}, nil, "sub claim is invalid"},
		"another secret":        {map[string]any{prefix + "secret.name": "other"}, nil, "Token has been invalidated"},
		"secret is deleted": {nil, func(_ *corev1.ServiceAccount, s *corev1.Secret) {
			s.DeletionTimestamp, s.Finalizers = deleted.DeletionTimestamp, deleted.Finalizers
		}, "Token has been invalidated"},
		"secret has another token": {nil, func(_ *corev1.ServiceAccount, s *corev1.Secret) { s.Data = nil }, "Token does not match server's copy"},
		"account does not exist":   {nil, func(a *corev1.ServiceAccount, _ *corev1.Secret) { a.Name = "other" }, `serviceaccounts "robot" not found`},
		"account is deleted": {nil, func(a *corev1.ServiceAccount, _ *corev1.Secret) {
			a.DeletionTimestamp, a.Finalizers = deleted.DeletionTimestamp, deleted.Finalizers
		}, "ServiceAccount default/robot has been deleted"},
		"account has another uid":    {nil, func(a *corev1.ServiceAccount, _ *corev1.Secret) { a.UID = "new-uid" }, "ServiceAccount UID (new-uid) does not match claim (robot-uid)"},
		"another type of the secret": {nil, func(_ *corev1.ServiceAccount, s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }, valid},
		"secret is marked as invalid": {nil, func(_ *corev1.ServiceAccount, s *corev1.Secret) {
			s.Labels = map[string]string{invalidSinceLabel: "2022-12-20"}
		},
			"the token in secret default/robot-token for service account default/robot has been marked invalid. Use tokens from the TokenRequest API " +
				"or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token"},
	} {
		t.Run(name, func(t *testing.T) {
			token := secretToken(t, key, c.claims)
			account, secret := robotAndSecret(token)
			if c.change != nil {
				c.change(account, secret)
			}
			srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(account, secret), fakeapi.WithoutControllers(),
				fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
			review, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AuthenticationV1().TokenReviews().Create(t.Context(),
				&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
			require.NoError(t, err)
			if c.wantCause != valid {
				require.Equal(t, authenticationv1.TokenReviewStatus{Error: "[invalid bearer token, " + c.wantCause + "]"}, review.Status)
				return
			}
			require.Equal(t, authenticationv1.TokenReviewStatus{
				Authenticated: true, Audiences: []string{"https://kubernetes.default.svc.cluster.local"},
				User: authenticationv1.UserInfo{
					Username: "system:serviceaccount:default:robot", UID: "robot-uid",
					Groups: []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"},
				},
			}, review.Status)
		})
	}
}

// A server that issues tokens by the issuer of those in Secrets accepts both.
func TestSecretTokenIssuer(t *testing.T) {
	key := newRSAKey(t)
	private, _ := keyPEM(t, key)
	token := secretToken(t, key, nil)
	account, secret := robotAndSecret(token)
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(account, secret), fakeapi.WithServiceAccountKeys(
		fakeapi.ServiceAccountKeys{SigningKey: private, Issuers: []string{"kubernetes/serviceaccount"}}))
	config, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	for _, value := range []string{token, config.BearerToken} {
		user, err := whoami(t, srv.RESTConfigWithToken(value))
		require.NoError(t, err)
		require.Equal(t, "system:serviceaccount:default:robot", user.Username)
	}
	require.NoError(t, kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", metav1.DeleteOptions{}))
	_, err = whoami(t, srv.RESTConfigWithToken(token))
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
}

// A use of a token in a Secret writes its day to a label of the Secret, once a day. The audit log
// and, if the Secret is one of those of the service account, a warning tell of it.
func TestSecretTokenUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newRSAKey(t)
		private, _ := keyPEM(t, key)
		token := secretToken(t, key, nil)
		account, secret := robotAndSecret(token)
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithObjects(account),
			fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
		client, ctx := kubernetes.NewForConfigOrDie(srv.RESTConfig()), t.Context()
		_, err := client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
		require.NoError(t, err)
		annotations := func(more string) map[string]string {
			return map[string]string{
				"authentication.k8s.io/legacy-token":         "system:serviceaccount:default:robot",
				"authentication.k8s.io/legacy-token-" + more: "robot-token",
				"authorization.k8s.io/decision":              "allow", "authorization.k8s.io/reason": "",
			}
		}
		use := func() *http.Response {
			t.Helper()
			httpClient, err := rest.HTTPClientFor(srv.RESTConfigWithToken(token))
			require.NoError(t, err)
			response, err := httpClient.Get(srv.URL() + "/api/v1/namespaces/default/pods")
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return response
		}
		stored := func() *corev1.Secret {
			t.Helper()
			secret, err := client.CoreV1().Secrets("default").Get(ctx, "robot-token", metav1.GetOptions{})
			require.NoError(t, err)
			return secret
		}

		response := use()
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Empty(t, response.Header["Warning"])
		require.Equal(t, annotations("manual-secret"), log.takeLast().Annotations)
		used := stored()
		require.Equal(t, map[string]string{lastUsedLabel: time.Now().UTC().Format(time.DateOnly)}, used.Labels)
		last := used.ManagedFields[len(used.ManagedFields)-1]
		require.Equal(t, "kube-apiserver", last.Manager)
		require.Equal(t, metav1.ManagedFieldsOperationUpdate, last.Operation)
		require.Equal(t, []byte(token), used.Data[corev1.ServiceAccountTokenKey])

		use()
		require.Equal(t, used.ResourceVersion, stored().ResourceVersion, "used on the same day")
		srv.SkewClock(-24 * time.Hour)
		use()
		require.Equal(t, used.ResourceVersion, stored().ResourceVersion, "the label has the next day of this clock")
		srv.SkewClock(0)
		time.Sleep(24 * time.Hour)
		use()
		require.Equal(t, map[string]string{lastUsedLabel: time.Now().UTC().Format(time.DateOnly)}, stored().Labels)

		robot, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "robot", metav1.GetOptions{})
		require.NoError(t, err)
		robot.Secrets = []corev1.ObjectReference{{Name: "robot-token"}}
		_, err = client.CoreV1().ServiceAccounts("default").Update(ctx, robot, metav1.UpdateOptions{})
		require.NoError(t, err)
		const warning = `299 - "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."`
		require.Equal(t, []string{warning}, use().Header["Warning"])
		require.Equal(t, annotations("autogenerated-secret"), log.takeLast().Annotations)

		marked := stored()
		marked.Labels = map[string]string{invalidSinceLabel: "2022-12-20"}
		_, err = client.CoreV1().Secrets("default").Update(ctx, marked, metav1.UpdateOptions{})
		require.NoError(t, err)
		response = use()
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
		require.Empty(t, response.Header["Warning"])
		require.Empty(t, log.takeLast().Annotations)
		require.Equal(t, time.Now().UTC().Format(time.DateOnly), stored().Labels[lastUsedLabel])
	})
}

// A review of a token in a Secret is a use of it, but has no warning: a real server does not give
// the context of the review to its authenticators.
func TestSecretTokenReviewIsUse(t *testing.T) {
	key := newRSAKey(t)
	private, _ := keyPEM(t, key)
	token := secretToken(t, key, nil)
	account, secret := robotAndSecret(token)
	account.Secrets = []corev1.ObjectReference{{Name: "robot-token"}}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(account, secret),
		fakeapi.WithServiceAccountKeys(fakeapi.ServiceAccountKeys{SigningKey: private}))
	var warnings warningTexts
	config := srv.RESTConfig()
	config.WarningHandler = &warnings
	review, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.True(t, review.Status.Authenticated)
	require.Empty(t, warnings.texts)
	stored, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Secrets("default").Get(t.Context(), "robot-token", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, stored.Labels[lastUsedLabel])
}
