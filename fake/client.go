package fakeapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// URL is the base URL of the server, without a slash at its end:
// "http://127.0.0.1:PORT", with TLS "https://127.0.0.1:PORT", or a name that only
// Client and RESTConfig can reach with WithInMemoryNetwork.
func (s *Server) URL() string {
	scheme := "http://"
	if s.authority != nil {
		scheme = "https://"
	}
	return scheme + s.listener.Addr().String()
}

// Client is a plain HTTP client that reaches the server. It is the same one at
// every call and ends with the server. It sends the first token of WithTokens with
// requests that have no Authorization header of their own, and without tokens has the
// client certificate of RESTConfig.
func (s *Server) Client() *http.Client { return s.client }

func (s *Server) newClient() *http.Client {
	return &http.Client{Transport: s.withBearerToken(s.transport)}
}

func (s *Server) newTransport() *http.Transport {
	transport := &http.Transport{DialContext: s.dial(), MaxIdleConnsPerHost: 64}
	if s.authority != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: s.authority.CertPool(), Certificates: s.adminCertificate.tlsCertificates(s.defaultToken())}
		transport.ForceAttemptHTTP2 = true // which a TLSClientConfig switches off
	}
	return transport
}

// dial is how the in-memory network is reached, nil on TCP.
func (s *Server) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if !s.opts.inMemory {
		return nil
	}
	return s.listener.dial
}

// proxy keeps clients from asking a proxy of the environment for a name of the in-memory
// network. Loopback addresses they ask nobody for.
func (s *Server) proxy() func(*http.Request) (*url.URL, error) {
	if !s.opts.inMemory {
		return nil
	}
	return func(*http.Request) (*url.URL, error) { return nil, nil }
}

// RESTConfig is a configuration for client-go and everything built on it. Each
// call gives a new one, free to be changed. Client-side rate limiting is off. With
// WithTokens it has the first token; with WithClientCA and no tokens it has the client
// certificate of system:admin, who may do everything.
//
// To act as somebody else on any server, set its Impersonate.
func (s *Server) RESTConfig() *rest.Config {
	config := s.RESTConfigWithToken(s.defaultToken())
	if config.BearerToken == "" && s.adminCertificate != nil {
		config.CertData, config.KeyData = s.adminCertificate.cert, s.adminCertificate.key
	}
	return config
}

// RESTConfigWithToken is RESTConfig with another bearer token: one of WithTokens, of AddToken or
// of a TokenRequest, or none, "".
func (s *Server) RESTConfigWithToken(token string) *rest.Config {
	return &rest.Config{
		Host:            s.URL(),
		Dial:            s.dial(),
		Proxy:           s.proxy(),
		QPS:             -1,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.CACertificate()},
	}
}

// Kubeconfig is a kubeconfig file for kubectl and clients in other languages, with the
// credentials of RESTConfig.
// With WithInMemoryNetwork there is no address to put into it; use RESTConfig.
func (s *Server) Kubeconfig() ([]byte, error) {
	const name = "fakeapi"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: s.URL(), CertificateAuthorityData: s.CACertificate()}
	own := s.RESTConfig()
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token: own.BearerToken, ClientCertificateData: own.CertData, ClientKeyData: own.KeyData,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// KubeconfigFile writes Kubeconfig to a temporary file and returns its path. The file is removed when
// the test ends. It fails the test if that is not possible.
func (s *Server) KubeconfigFile(t TB) string {
	t.Helper()
	config, err := s.Kubeconfig()
	if err != nil {
		t.Fatalf("fakeapi: kubeconfig: %v", err)
		return ""
	}
	f, err := os.CreateTemp("", "fakeapi-*.kubeconfig") // readable by its owner only
	if err != nil {
		t.Fatalf("fakeapi: kubeconfig: %v", err)
		return ""
	}
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	_, err = f.Write(config)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatalf("fakeapi: kubeconfig: %v", err)
	}
	return f.Name()
}
