package fakeapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// issueCertificate returns a certificate with host names or addresses and its key, both in PEM.
// With hasAuthority it is signed by an authority, whose certificate follows.
func issueCertificate(t *testing.T, hasAuthority bool, hosts ...string) (cert, key []byte) {
	t.Helper()
	newKey := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		return k
	}
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
	}
	leaf, leafKey := template("server"), newKey()
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	parent, parentKey := leaf, leafKey
	var authority []byte
	if hasAuthority {
		parent, parentKey = template("authority"), newKey()
		parent.IsCA, parent.KeyUsage, parent.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
		der, err := x509.CreateCertificate(rand.Reader, parent, parent, parentKey.Public(), parentKey)
		require.NoError(t, err)
		authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, parent, leafKey.Public(), parentKey)
	require.NoError(t, err)
	private, _ := keyPEM(t, leafKey)
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), authority...), private
}

// The server's own clients trust a given certificate, whether or not it has the address of the
// server.
func TestServingCertificate(t *testing.T) {
	for name, test := range map[string]struct {
		hasAuthority bool
		hosts        []string
		serverName   string
	}{
		"self-signed for the address": {hosts: []string{"127.0.0.1"}},
		"self-signed for a name":      {hosts: []string{"kubernetes.default.svc"}, serverName: "kubernetes.default.svc"},
		"of an authority":             {hasAuthority: true, hosts: []string{"api.example.com", "10.0.0.1"}, serverName: "api.example.com"},
		"for another address":         {hasAuthority: true, hosts: []string{"10.0.0.1"}, serverName: "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := issueCertificate(t, test.hasAuthority, test.hosts...)
			srv := fakeapi.Start(t, fakeapi.WithServingCertificate(cert, key), fakeapi.WithRBAC())
			require.Equal(t, cert, srv.CACertificate())
			config := srv.RESTConfig()
			require.Equal(t, test.serverName, config.ServerName)
			_, err := kubernetes.NewForConfigOrDie(config).ServerVersion()
			require.NoError(t, err)
			require.NoError(t, errorOfList(t, config, "secrets"), "the client certificate")

			text, err := srv.Kubeconfig()
			require.NoError(t, err)
			config, err = clientcmd.RESTConfigFromKubeConfig(text)
			require.NoError(t, err)
			require.NoError(t, errorOfList(t, config, "secrets"))

			response, err := srv.Client().Get(srv.URL() + "/version")
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.Equal(t, 2, response.ProtoMajor)
			require.Equal(t, "server", response.TLS.PeerCertificates[0].Subject.CommonName)

			replica, err := srv.Replica()
			require.NoError(t, err)
			require.Equal(t, cert, replica.CACertificate())
			moved := srv.RESTConfig()
			moved.Host = replica.URL()
			_, err = kubernetes.NewForConfigOrDie(moved).ServerVersion()
			require.NoError(t, err)
		})
	}
}

func TestInvalidServingCertificate(t *testing.T) {
	cert, key := issueCertificate(t, false, "a.example.com")
	other, _ := issueCertificate(t, false, "a.example.com")
	nameless, namelessKey := issueCertificate(t, false)
	for want, pair := range map[string][2][]byte{
		"fakeapi: serving certificate: tls: failed to find any PEM data in certificate input": {nil, key},
		"fakeapi: serving certificate: tls: failed to find any PEM data in key input":         {cert, nil},
		"fakeapi: serving certificate: tls: private key does not match public key":            {other, key},
		"fakeapi: serving certificate: it has no host names and no IP addresses":              {nameless, namelessKey},
	} {
		_, err := fakeapi.New(fakeapi.WithServingCertificate(pair[0], pair[1]))
		require.ErrorContains(t, err, want)
	}
}
