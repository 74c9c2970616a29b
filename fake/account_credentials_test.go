package fakeapi_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// A server that ignores other credentials authenticates the tokens of service accounts: a request
// with one is a request of the account. One that is not valid is refused.
func TestAccountTokenWithoutAuthentication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newServiceAccount("sa"), newServiceAccount("other")))
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		config, err := srv.RESTConfigForServiceAccount("default", "sa")
		require.NoError(t, err)
		onReplica, err := replica.RESTConfigForServiceAccount("default", "sa")
		require.NoError(t, err)
		for _, config := range []*rest.Config{config, onReplica} {
			user, err := whoami(t, config)
			require.NoError(t, err)
			require.Equal(t, "system:serviceaccount:default:sa", user.Username)
			require.Equal(t, []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}, user.Groups)
			require.EqualValues(t, "account-uid", user.UID)
		}
		for _, other := range []string{"", "some-token", "a.b.c", "eyJ.eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0.x"} {
			user, err := whoami(t, srv.RESTConfigWithToken(other))
			require.NoError(t, err)
			require.Equal(t, "system:admin", user.Username)
		}

		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ServiceAccounts("default")
		request := func(account string, audiences ...string) string {
			seconds := int64(600)
			response, err := client.CreateToken(t.Context(), account, &authenticationv1.TokenRequest{
				Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: &seconds},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			return response.Status.Token
		}
		brief, deleted, elsewhere, ended := request("sa"), request("other"), request("sa", "vault"), request("sa")
		for _, token := range []string{brief, deleted, ended} {
			require.NoError(t, errorOfList(t, srv.RESTConfigWithToken(token), "pods"))
		}
		stranger := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newServiceAccount("sa")))
		foreign, err := stranger.RESTConfigForServiceAccount("default", "sa")
		require.NoError(t, err)
		require.NoError(t, srv.ExpireToken(ended))
		require.NoError(t, srv.ExpireToken(ended), "it has expired already")
		require.NoError(t, client.Delete(t.Context(), "other", metav1.DeleteOptions{}))
		time.Sleep(11*time.Minute + time.Second)
		for name, token := range map[string]string{
			"expired": brief, "of a deleted account": deleted, "for another audience": elsewhere, "expired by the test": ended,
			"of another server": foreign.BearerToken, "with a fourth part": config.BearerToken + ".x", "without a signature": config.BearerToken[:len(config.BearerToken)-86],
		} {
			for _, s := range []*fakeapi.Server{srv, replica.Server} {
				_, err := whoami(t, s.RESTConfigWithToken(token))
				require.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
				all := s.Requests()
				require.Empty(t, all[len(all)-1].User, name)
			}
		}
		require.NoError(t, errorOfList(t, config, "pods"))
		all := srv.Requests()
		require.Equal(t, "system:serviceaccount:default:sa", all[len(all)-1].User)

		time.Sleep(10*365*24*time.Hour - time.Hour)
		require.NoError(t, errorOfList(t, config, "pods"))
		time.Sleep(time.Hour)
		err = errorOfList(t, config, "pods")
		require.True(t, apierrors.IsUnauthorized(err), "after ten years: %v", err)
	})
}

// The authorizer is asked about service accounts also on a server without authentication.
func TestAccountTokenIsAuthorized(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newServiceAccount("sa")), fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetResource() == "pods" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})))
	config, err := srv.RESTConfigForServiceAccount("default", "sa")
	require.NoError(t, err)
	require.NoError(t, errorOfList(t, config, "pods"))
	requireForbidden(t, errorOfList(t, config, "secrets"), "system:serviceaccount:default:sa", "secrets")
	require.NoError(t, errorOfList(t, srv.RESTConfig(), "secrets"))

	// A request without a network has the same users.
	for token, want := range map[string]int{"": 200, config.BearerToken: 403, config.BearerToken + "x": 401} {
		request := httptest.NewRequest("GET", "/api/v1/secrets", nil)
		request.Header.Set("Authorization", "Bearer "+token)
		response := httptest.NewRecorder()
		srv.ServeHTTP(response, request)
		require.Equal(t, want, response.Code)
	}
}

func TestConfigOfMissingAccount(t *testing.T) {
	for _, opts := range [][]fakeapi.Option{nil, {fakeapi.WithRBAC()}, {fakeapi.WithTokens(annToken)}} {
		srv := fakeapi.Start(t, append(opts, fakeapi.WithInMemoryNetwork())...)
		_, err := srv.RESTConfigForServiceAccount("default", "sa")
		require.EqualError(t, err, `fakeapi: there is no service account "sa" in the namespace "default"; create it first`)
	}
}

// A kubeconfig has the user of a configuration. Without TLS it would be ignored.
func TestKubeconfigFor(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithYAML(listPods))
	robot, err := srv.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	ann, err := srv.RESTConfigWithCertificate("ann")
	require.NoError(t, err)
	bob := srv.RESTConfig()
	bob.Impersonate = rest.ImpersonationConfig{UserName: "bob", Groups: []string{"team-a"}, UID: "7", Extra: map[string][]string{"scopes": {"a"}}}
	for user, config := range map[string]*rest.Config{"system:serviceaccount:default:robot": robot, "ann": ann, "bob": bob} {
		file, err := srv.KubeconfigFor(config)
		require.NoError(t, err)
		loaded, err := clientcmd.RESTConfigFromKubeConfig(file)
		require.NoError(t, err)
		require.NoError(t, errorOfList(t, loaded, "pods"))
		requireForbidden(t, errorOfList(t, loaded, "secrets"), user, "secrets")
		require.Equal(t, config.Impersonate, loaded.Impersonate)
	}

	open := fakeapi.Start(t, fakeapi.WithYAML(listPods))
	robot, err = open.RESTConfigForServiceAccount("default", "robot")
	require.NoError(t, err)
	_, err = open.KubeconfigFor(robot)
	require.ErrorContains(t, err, "clients ignore the user of a kubeconfig without TLS")
	bob = open.RESTConfig()
	bob.Impersonate.UserName = "bob"
	_, err = open.KubeconfigFor(bob)
	require.ErrorContains(t, err, "clients ignore the user of a kubeconfig without TLS")
}

// The control API issues kubeconfigs of users and of service accounts.
func TestControlKubeconfigs(t *testing.T) {
	c := controlClient{t, fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithControlAPI(), fakeapi.WithYAML(listPods))}
	for body, user := range map[string]string{
		"ann\n": "ann", "carol,team-b,team-a": "carol", "system:serviceaccount:default:robot\n": "system:serviceaccount:default:robot",
	} {
		for _, path := range []string{"kubeconfigs", "kubeconfigs?expiresIn=1m"} {
			config, err := clientcmd.RESTConfigFromKubeConfig([]byte(c.call(201, "POST", path, body)))
			require.NoError(t, err)
			require.NoError(t, errorOfList(t, config, "pods"))
			requireForbidden(t, errorOfList(t, config, "secrets"), user, "secrets")
		}
	}
	for body, want := range map[string]string{
		"":                                      "needs the name of a user",
		"system:serviceaccount:default":         "is not of the form system:serviceaccount:NAMESPACE:NAME",
		"system:serviceaccount:default:none":    `there is no service account "none" in the namespace "default"`,
		"system:serviceaccount:default:robot,a": "the groups of system:serviceaccount:default:robot follow from its name",
	} {
		require.Contains(t, decodeStatus(t, c.call(400, "POST", "kubeconfigs", body)).Message, want)
	}
	c.call(400, "POST", "kubeconfigs?expiresIn=0", "ann")
	c.call(405, "GET", "kubeconfigs", "")

	open := newControlClient(t, fakeapi.WithYAML(listPods))
	require.Contains(t, open.call(400, "POST", "kubeconfigs", "system:serviceaccount:default:robot"), "without TLS")
	require.Contains(t, open.call(400, "POST", "kubeconfigs", "ann"), "does not authenticate client certificates")
}
