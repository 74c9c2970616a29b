package fakeapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// whoami returns the user that the server authenticates.
func whoami(t *testing.T, config *rest.Config) (authenticationv1.UserInfo, error) {
	t.Helper()
	response, err := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return response.Status.UserInfo, nil
}

// ca is a certificate authority that the server has not created.
type ca struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newCA(t *testing.T) *ca {
	c := &ca{t: t}
	var err error
	c.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "their-ca"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, c.key.Public(), c.key)
	require.NoError(t, err)
	c.certificate, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	c.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return c
}

func (c *ca) issue(config *rest.Config, subject pkix.Name, usage x509.ExtKeyUsage) *rest.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(c.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.certificate, key.Public(), c.key)
	require.NoError(c.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(c.t, err)
	config.CertData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	return config
}

// A client certificate authenticates as its common name, with its organizations as groups.
// Certificates of another authority, for another usage or without a name return 401.
func TestClientCertificates(t *testing.T) {
	clientCA, otherCA := newCA(t), newCA(t)
	srv := fakeapi.Start(t, fakeapi.WithClientCA(clientCA.pem), fakeapi.WithControlAPI())

	config, err := srv.RESTConfigWithCertificate("ann", "team-a", "team-b")
	require.NoError(t, err)
	user, err := whoami(t, config)
	require.NoError(t, err)
	require.Equal(t, "ann", user.Username)
	require.Equal(t, []string{"team-a", "team-b", "system:authenticated"}, user.Groups)
	require.Regexp(t, "^X509SHA256=[0-9a-f]{64}$", user.Extra["authentication.kubernetes.io/credential-id"][0])

	uid := pkix.AttributeTypeAndValue{Type: []int{1, 3, 6, 1, 4, 1, 57683, 2}, Value: "7"}
	user, err = whoami(t, clientCA.issue(srv.RESTConfigWithToken(""), pkix.Name{CommonName: "bob", ExtraNames: []pkix.AttributeTypeAndValue{uid}}, x509.ExtKeyUsageClientAuth))
	require.NoError(t, err)
	require.Equal(t, "bob 7", user.Username+" "+user.UID)

	for name, config := range map[string]*rest.Config{
		"none":              srv.RESTConfigWithToken(""),
		"another authority": otherCA.issue(srv.RESTConfigWithToken(""), pkix.Name{CommonName: "bob"}, x509.ExtKeyUsageClientAuth),
		"server usage":      clientCA.issue(srv.RESTConfigWithToken(""), pkix.Name{CommonName: "bob"}, x509.ExtKeyUsageServerAuth),
		"no name":           clientCA.issue(srv.RESTConfigWithToken(""), pkix.Name{Organization: []string{"a"}}, x509.ExtKeyUsageClientAuth),
		"two uids":          clientCA.issue(srv.RESTConfigWithToken(""), pkix.Name{CommonName: "bob", ExtraNames: []pkix.AttributeTypeAndValue{uid, uid}}, x509.ExtKeyUsageClientAuth),
		"unknown token":     srv.RESTConfigWithToken("some-token"),
	} {
		_, err := whoami(t, config)
		require.True(t, apierrors.IsUnauthorized(err), "%s: %v", name, err)
	}
	_, _, err = srv.IssueClientCertificate(0, "")
	require.ErrorContains(t, err, "needs the name")
}

// The clients and kubeconfigs of the server and of its replicas have a certificate of system:admin.
func TestServerClientCertificates(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithClientCA())
	replica, err := srv.Replica()
	require.NoError(t, err)
	for _, s := range []*fakeapi.Server{srv, replica.Server} {
		user, err := whoami(t, s.RESTConfig())
		require.NoError(t, err)
		require.Equal(t, "system:admin", user.Username)
		code, _, _ := send(t, s, "GET", "/api/v1/pods", "", nil)
		require.Equal(t, 200, code)
		file, err := s.Kubeconfig()
		require.NoError(t, err)
		config, err := clientcmd.RESTConfigFromKubeConfig(file)
		require.NoError(t, err)
		user, err = whoami(t, config)
		require.NoError(t, err)
		require.Contains(t, user.Groups, "system:masters")
	}
	require.NoError(t, srv.AddToken(fakeapi.Token{Value: "carol-1", User: "carol"}))
	user, err := whoami(t, srv.RESTConfigWithToken("carol-1"))
	require.NoError(t, err)
	require.Equal(t, "carol", user.Username)
}

// A certificate or a token is sufficient. The certificate has precedence.
func TestClientCertificateAndToken(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithClientCA(), fakeapi.WithTokens(annToken))
	user, err := whoami(t, srv.RESTConfig())
	require.NoError(t, err)
	require.Equal(t, "ann", user.Username)
	both, err := srv.RESTConfigWithCertificate("bob")
	require.NoError(t, err)
	both.BearerToken = "ann-1"
	user, err = whoami(t, both)
	require.NoError(t, err)
	require.Equal(t, "bob", user.Username)
	user, err = whoami(t, newCA(t).issue(srv.RESTConfigWithToken("ann-1"), pkix.Name{CommonName: "eve"}, x509.ExtKeyUsageClientAuth))
	require.NoError(t, err)
	require.Equal(t, "ann", user.Username, "an invalid certificate is ignored if the token is valid")
}

// On virtual time a certificate is accepted until it expires, also on an open connection.
func TestClientCertificatesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithClientCA())
		cert, key, err := srv.IssueClientCertificate(time.Hour, "ann")
		require.NoError(t, err)
		config := srv.RESTConfigWithToken("")
		config.CertData, config.KeyData = cert, key
		client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("")
		list := func() error {
			_, err := client.List(t.Context(), metav1.ListOptions{})
			return err
		}
		require.NoError(t, list())
		time.Sleep(time.Hour)
		require.NoError(t, list())
		time.Sleep(time.Second)
		require.True(t, apierrors.IsUnauthorized(list()))
		config.CertData, config.KeyData, err = srv.IssueClientCertificate(-time.Second, "ann")
		require.NoError(t, err)
		_, err = whoami(t, config)
		require.True(t, apierrors.IsUnauthorized(err))
	})
}
