package fakeapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkAuthentication measures a request without credentials, and with each kind of them,
// without a network.
func BenchmarkAuthentication(b *testing.B) {
	srv, err := fakeapi.New(fakeapi.WithObjects(newServiceAccount("sa")), fakeapi.WithClientCA())
	require.NoError(b, err)
	defer func() { require.NoError(b, srv.Close()) }()
	open, err := fakeapi.New()
	require.NoError(b, err)
	defer func() { require.NoError(b, open.Close()) }()
	config, err := srv.RESTConfigForServiceAccount("default", "sa")
	require.NoError(b, err)
	pair, err := tls.X509KeyPair(srv.RESTConfig().CertData, srv.RESTConfig().KeyData)
	require.NoError(b, err)
	for _, one := range []struct {
		name, authorization string
		state               *tls.ConnectionState
		srv                 *fakeapi.Server
	}{
		{"none", "", nil, open},
		{"token", "Bearer " + config.BearerToken, nil, srv},
		{"certificate", "", &tls.ConnectionState{PeerCertificates: []*x509.Certificate{pair.Leaf}}, srv},
	} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				request := httptest.NewRequest("GET", "/api/v1/namespaces/default", nil)
				request.Header.Set("Authorization", one.authorization)
				request.TLS = one.state
				response := httptest.NewRecorder()
				one.srv.ServeHTTP(response, request)
				require.Equal(b, 200, response.Code)
			}
		})
	}
}
