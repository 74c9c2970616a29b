package fakeapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// tokenServer is a server with authentication, and a client that requests tokens for a service
// account.
type tokenServer struct {
	t      *testing.T
	srv    *fakeapi.Server
	client kubernetes.Interface
}

func newTokenServer(t *testing.T, opts ...fakeapi.Option) *tokenServer {
	srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken))...)
	return &tokenServer{t, srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())}
}

// requestToken requests a token for the service account sa.
func (s *tokenServer) requestToken(change func(*authenticationv1.TokenRequestSpec)) string {
	s.t.Helper()
	request := &authenticationv1.TokenRequest{}
	if change != nil {
		change(&request.Spec)
	}
	response, err := s.client.CoreV1().ServiceAccounts("default").CreateToken(s.t.Context(), "sa", request, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return response.Status.Token
}

// accepts reports whether the server authenticates a token.
func (s *tokenServer) accepts(token string) bool {
	s.t.Helper()
	_, err := kubernetes.NewForConfigOrDie(s.srv.RESTConfigWithToken(token)).CoreV1().Pods("").List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		require.True(s.t, apierrors.IsUnauthorized(err), "%v", err)
	}
	return err == nil
}

// A token authenticates as its service account. The user's extra fields name the bound object.
func TestAccountToken(t *testing.T) {
	var w reviewer
	s := newTokenServer(t, fakeapi.WithAdmission(fakeapi.Admission{Name: "v", Review: w.review}), fakeapi.WithObjects(newServiceAccount("sa"),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "node-uid"}},
		newPod("p", makeRunning, func(p *corev1.Pod) { p.Spec.ServiceAccountName, p.UID = "sa", "pod-uid" })))
	write := func(name, token string) authenticationv1.UserInfo {
		_, err := kubernetes.NewForConfigOrDie(s.srv.RESTConfigWithToken(token)).CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		return *w.last().UserInfo.DeepCopy()
	}
	token := s.requestToken(nil)
	require.Equal(t, authenticationv1.UserInfo{
		Username: "system:serviceaccount:default:sa",
		UID:      "account-uid",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/credential-id": {"JTI=" + claimsOf(t, token)["jti"].(string)},
		},
	}, write("a", token))
	extra := write("b", s.requestToken(func(r *authenticationv1.TokenRequestSpec) {
		r.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"}
	})).Extra
	for name, want := range map[string]string{"pod-name": "p", "pod-uid": "pod-uid", "node-name": "n", "node-uid": "node-uid"} {
		require.Equal(t, authenticationv1.ExtraValue{want}, extra["authentication.kubernetes.io/"+name])
	}
}

// The uid of a request must be that of the service account, and the response has it.
func TestAccountTokenUID(t *testing.T) {
	s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa")))
	request := &authenticationv1.TokenRequest{}
	for _, uid := range []types.UID{"", "account-uid"} {
		request.UID = uid
		response, err := s.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", request, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, types.UID("account-uid"), response.UID)
	}
	request.UID = "other"
	_, err := s.client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", request, metav1.CreateOptions{})
	require.True(t, apierrors.IsConflict(err), err)
	require.EqualError(t, err, `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "sa": `+
		`the UID in the token request (other) does not match the UID of the service account (account-uid)`)
}

// A token is accepted until a minute after it has expired.
func TestAccountTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa")))
		seconds := int64(600)
		token := s.requestToken(func(r *authenticationv1.TokenRequestSpec) { r.ExpirationSeconds = &seconds })
		time.Sleep(11 * time.Minute)
		require.True(t, s.accepts(token))
		time.Sleep(time.Millisecond)
		require.False(t, s.accepts(token))
		require.True(t, s.accepts(s.requestToken(nil)))
	})
}

// The audit log tells of requests with a token of a pod that is older than 3607 seconds, but not of
// reviews: a real server does not give the context of the review to its authenticators.
func TestAccountTokenStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, log := startWithAudit(t, auditPolicy(auditv1.LevelMetadata), fakeapi.WithObjects(newServiceAccount("sa"),
			newPod("p", func(p *corev1.Pod) { p.Spec.ServiceAccountName = "sa" })))
		client, ctx := kubernetes.NewForConfigOrDie(srv.RESTConfig()), t.Context()
		seconds := int64(3607)
		response, err := client.CoreV1().ServiceAccounts("default").CreateToken(ctx, "sa", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &seconds, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		token := response.Status.Token
		owner := kubernetes.NewForConfigOrDie(srv.RESTConfigWithToken(token))
		requireStale := func(want string) {
			t.Helper()
			_, err := owner.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			require.Equal(t, want, log.takeLast().Annotations["authentication.k8s.io/stale-token"])
			for _, audiences := range [][]string{nil, {"vault"}} {
				review, err := client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
					Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
				}, metav1.CreateOptions{})
				require.NoError(t, err)
				require.Equal(t, audiences == nil, review.Status.Authenticated)
				require.Empty(t, log.takeLast().Annotations["authentication.k8s.io/stale-token"])
			}
		}
		requireStale("")
		time.Sleep(3607 * time.Second)
		requireStale("")
		time.Sleep(24 * time.Hour)
		requireStale("subject: system:serviceaccount:default:sa, seconds after warning threshold: 86400")
	})
}

func TestAccountTokenRejected(t *testing.T) {
	s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa")))
	good := s.requestToken(nil)
	require.True(t, s.accepts(good))
	parts := strings.Split(good, ".")
	other := strings.Split(newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa"))).requestToken(nil), ".")
	for name, token := range map[string]string{
		"another audience": s.requestToken(func(r *authenticationv1.TokenRequestSpec) { r.Audiences = []string{"vault"} }),
		"another server":   strings.Join(other, "."),
		"other claims":     parts[0] + "." + other[1] + "." + parts[2],
		"no signature":     parts[0] + "." + parts[1] + ".",
		"a fourth part":    good + ".x",
		"truncated":        good[:len(good)-1],
	} {
		require.False(t, s.accepts(token), name)
	}
	require.NoError(t, s.srv.ExpireToken(good))
	require.False(t, s.accepts(good))
	require.True(t, s.accepts(s.requestToken(nil)), "other tokens of the account are accepted")
}

// A token is rejected once its account or its bound object does not exist, and a minute after their
// deletion began. A new object with the same name has another uid.
func TestAccountTokenOfDeletedObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa"),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
			newPod("p", makeRunning, func(p *corev1.Pod) {
				p.Spec.ServiceAccountName, p.Finalizers = "sa", []string{"example.com/wait"}
			})))
		bound := func(kind, name string) string {
			return s.requestToken(func(r *authenticationv1.TokenRequestSpec) {
				r.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: kind, APIVersion: "v1", Name: name}
			})
		}
		toSecret, toNode, toPod, free := bound("Secret", "s"), bound("Node", "n"), bound("Pod", "p"), s.requestToken(nil)
		for _, token := range []string{toSecret, toNode, toPod, free} {
			require.True(t, s.accepts(token))
		}
		core, ctx, now := s.client.CoreV1(), t.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

		require.NoError(t, core.Secrets("default").Delete(ctx, "s", now))
		require.False(t, s.accepts(toSecret))
		require.NoError(t, core.Nodes().Delete(ctx, "n", now))
		require.False(t, s.accepts(toNode))
		require.True(t, s.accepts(toPod), "the node of a pod is not checked")
		require.NoError(t, core.Pods("default").Delete(ctx, "p", now))
		time.Sleep(time.Minute)
		require.True(t, s.accepts(toPod))
		time.Sleep(time.Second)
		require.False(t, s.accepts(toPod))

		require.True(t, s.accepts(free))
		accounts := core.ServiceAccounts("default")
		require.NoError(t, accounts.Delete(ctx, "sa", now))
		require.False(t, s.accepts(free))
		_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.False(t, s.accepts(free))
	})
}

// The server accepts the tokens that it issues by its own clock, right or wrong.
func TestAccountTokenWithClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa")))
		s.srv.SkewClock(skew)
		token := s.requestToken(nil)
		config, err := s.srv.RESTConfigForServiceAccount("default", "sa")
		require.NoError(t, err)
		require.True(t, s.accepts(token))
		require.True(t, s.accepts(config.BearerToken))

		s.srv.SkewClock(0)
		require.False(t, s.accepts(token), "it is not valid yet, or has expired")
	}
}

// A review of a token that is not valid tells why.
func TestTokenReviewCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa"),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default", UID: "secret-uid"}}))
		requireCause := func(cause, token string) {
			t.Helper()
			review, err := s.client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
				Spec: authenticationv1.TokenReviewSpec{Token: token},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Equal(t, authenticationv1.TokenReviewStatus{Error: "[invalid bearer token, " + cause + "]"}, review.Status)
		}
		seconds := int64(600)
		short := s.requestToken(func(r *authenticationv1.TokenRequestSpec) { r.ExpirationSeconds = &seconds })
		bound := s.requestToken(func(r *authenticationv1.TokenRequestSpec) {
			r.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: "s"}
		})
		free := s.requestToken(nil)
		parts, other := strings.Split(free, "."), strings.Split(bound, ".")
		requireCause("go-jose/go-jose: error in cryptographic primitive", parts[0]+"."+other[1]+"."+parts[2])
		requireCause("invalid signature, no keys found",
			newTokenServer(t, fakeapi.WithObjects(newServiceAccount("sa"))).requestToken(nil))
		time.Sleep(11*time.Minute + time.Second)
		requireCause("service account token has expired", short)

		core, ctx := s.client.CoreV1(), t.Context()
		require.NoError(t, core.Secrets("default").Delete(ctx, "s", metav1.DeleteOptions{}))
		requireCause("service account token has been invalidated", bound)
		_, err := core.Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		secret, err := core.Secrets("default").Get(ctx, "s", metav1.GetOptions{})
		require.NoError(t, err)
		requireCause("secret UID ("+string(secret.UID)+") does not match service account secret ref claim (secret-uid)", bound)

		require.NoError(t, core.ServiceAccounts("default").Delete(ctx, "sa", metav1.DeleteOptions{}))
		requireCause(`serviceaccounts "sa" not found`, free)
		account, err := core.ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		requireCause("service account UID ("+string(account.UID)+") does not match claim (account-uid)", free)
		s.srv.SkewClock(-time.Hour)
		requireCause("service account token is not valid yet", free)
	})
}
