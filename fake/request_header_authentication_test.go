package fakeapi_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	fakeapi "example.com/fakeapi/fake"
)

// startBehindProxy starts a server that accepts users from a proxy, whose certificate the result
// issues.
func startBehindProxy(t *testing.T, allowed ...string) (srv *fakeapi.Server, proxyAs func(name string) *rest.Config) {
	t.Helper()
	front := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithRBAC())
	srv = fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithRequestHeaderAuthentication(fakeapi.RequestHeaderAuthentication{
		ClientCA: front.CACertificate(), AllowedNames: allowed,
		UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		UIDHeaders: []string{"X-Remote-Uid"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
	}))
	return srv, func(name string) *rest.Config {
		cert, key, err := front.IssueClientCertificate(0, name)
		require.NoError(t, err)
		config := srv.RESTConfigWithToken("")
		config.CertData, config.KeyData = cert, key
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return transport.NewAuthProxyRoundTripper("ann", "ann-uid", []string{"team-a"}, map[string][]string{"scopes": {"a", "b"}}, next)
		})
		return config
	}
}

// A proxy with a certificate of the authority names the user in headers.
func TestRequestHeaderAuthentication(t *testing.T) {
	srv, proxyAs := startBehindProxy(t, "front-proxy")
	user, err := whoami(t, proxyAs("front-proxy"))
	require.NoError(t, err)
	require.Equal(t, authenticationv1.UserInfo{
		Username: "ann", UID: "ann-uid", Groups: []string{"team-a", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
	}, user)

	// Another name is not allowed, and the headers of other clients are ignored.
	_, err = whoami(t, proxyAs("other"))
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	config := srv.RESTConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.NewAuthProxyRoundTripper("ann", "", nil, nil, next)
	})
	user, err = whoami(t, config)
	require.NoError(t, err)
	require.Equal(t, "system:admin", user.Username)
}

// A proxy may name the anonymous user, who is not authenticated.
func TestRequestHeadersOfTheAnonymousUser(t *testing.T) {
	srv, proxyAs := startBehindProxy(t)
	config := rest.CopyConfig(proxyAs("front-proxy"))
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return transport.NewAuthProxyRoundTripper("system:anonymous", "", nil, nil, next)
	}
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	requests := srv.Requests()
	require.Equal(t, "system:anonymous", requests[len(requests)-1].User)
	_, err = whoami(t, config) // the role system:basic-user is for authenticated users
	require.True(t, apierrors.IsForbidden(err), "%v", err)
}

// With a proxy configured, a certificate of another authority is an invalid one, which counts if it
// names no user.
func TestRequestHeadersAndCertificateWithoutName(t *testing.T) {
	proxies, clients := newCA(t), newCA(t)
	options := []fakeapi.Option{fakeapi.WithRBAC(), fakeapi.WithClientCA(clients.pem)}
	withoutProxy := fakeapi.Start(t, options...)
	withProxy := fakeapi.Start(t, append(options, fakeapi.WithRequestHeaderAuthentication(fakeapi.RequestHeaderAuthentication{
		ClientCA: proxies.pem, UsernameHeaders: []string{"X-Remote-User"},
	}))...)
	versionOf := func(srv *fakeapi.Server) error {
		config := clients.issue(srv.RESTConfigWithToken(""), pkix.Name{Organization: []string{"a"}}, x509.ExtKeyUsageClientAuth)
		_, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
		return err
	}
	require.NoError(t, versionOf(withoutProxy))
	require.True(t, apierrors.IsUnauthorized(versionOf(withProxy)))
	named := clients.issue(withProxy.RESTConfigWithToken(""), pkix.Name{CommonName: "bob"}, x509.ExtKeyUsageClientAuth)
	user, err := whoami(t, named)
	require.NoError(t, err)
	require.Equal(t, "bob", user.Username)
}

// The ConfigMap for aggregated API servers has the configuration.
func TestRequestHeaderConfigMap(t *testing.T) {
	srv, _ := startBehindProxy(t)
	m, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, m.Data["requestheader-client-ca-file"], "BEGIN CERTIFICATE")
	require.Equal(t, string(srv.CACertificate()), m.Data["client-ca-file"])
	delete(m.Data, "requestheader-client-ca-file")
	delete(m.Data, "client-ca-file")
	require.Equal(t, map[string]string{
		"requestheader-allowed-names": `[]`, "requestheader-username-headers": `["X-Remote-User"]`, "requestheader-uid-headers": `["X-Remote-Uid"]`,
		"requestheader-group-headers": `["X-Remote-Group"]`, "requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	}, m.Data)
}

func TestInvalidRequestHeaderAuthentication(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTLS())
	ca, names := srv.CACertificate(), []string{"X-Remote-User"}
	for want, config := range map[string]fakeapi.RequestHeaderAuthentication{
		"the client authority is not a certificate": {UsernameHeaders: names},
		"there is no header of the user name":       {ClientCA: ca},
		"the name of a header is empty":             {ClientCA: ca, UsernameHeaders: names, GroupHeaders: []string{""}},
	} {
		_, err := fakeapi.New(fakeapi.WithRequestHeaderAuthentication(config))
		require.ErrorContains(t, err, want)
	}
}
