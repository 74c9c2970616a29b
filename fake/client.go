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

// URL returns the base URL of the server without a slash at the end: "http://127.0.0.1:PORT", or
// "https://127.0.0.1:PORT" with TLS. With WithInMemoryNetwork its host name is one that only Client
// and RESTConfig reach.
func (s *Server) URL() string {
	scheme := "http://"
	if s.authority != nil {
		scheme = "https://"
	}
	return scheme + s.listener.Addr().String()
}

// Client returns an HTTP client for the server. It is the same for all calls and ends with the
// server. It sends the first token of WithTokens with requests that have no Authorization header.
// Without tokens it has the client certificate of RESTConfig.
func (s *Server) Client() *http.Client { return s.client }

func (s *Server) newClient() *http.Client {
	return &http.Client{Transport: s.withBearerToken(s.transport)}
}

func (s *Server) newTransport() *http.Transport {
	transport := &http.Transport{DialContext: s.dial(), MaxIdleConnsPerHost: 64}
	if s.authority != nil {
		transport.TLSClientConfig = &tls.Config{
			RootCAs: s.trustedAuthorities(), ServerName: s.serverName(),
			Certificates: s.adminCertificate.tlsCertificates(s.defaultToken()),
		}
		transport.ForceAttemptHTTP2 = true // a TLSClientConfig disables it
	}
	return transport
}

// dial returns the dialer of the in-memory network, or nil on TCP.
func (s *Server) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if !s.opts.inMemory {
		return nil
	}
	return s.listener.dial
}

// proxy returns a function that disables proxies for the name of the in-memory network. Clients do
// not use a proxy for loopback addresses.
func (s *Server) proxy() func(*http.Request) (*url.URL, error) {
	if !s.opts.inMemory {
		return nil
	}
	return func(*http.Request) (*url.URL, error) { return nil, nil }
}

// RESTConfig returns a new configuration for client-go and the libraries based on it. Client-side
// rate limiting is disabled. With WithTokens it has the first token. With WithClientCA or WithRBAC
// and no tokens it has a client certificate of system:admin in the group system:masters, who may do
// everything.
//
// To act as another user, set its Impersonate, or use RESTConfigForServiceAccount,
// RESTConfigWithCertificate or RESTConfigWithToken.
func (s *Server) RESTConfig() *rest.Config {
	config := s.RESTConfigWithToken(s.defaultToken())
	if config.BearerToken == "" && s.adminCertificate != nil {
		config.CertData, config.KeyData = s.adminCertificate.cert, s.adminCertificate.key
	}
	return config
}

// RESTConfigWithToken is like RESTConfig with another bearer token: one of WithTokens, AddToken or
// a TokenRequest, or "" for none.
func (s *Server) RESTConfigWithToken(token string) *rest.Config {
	return &rest.Config{
		Host:            s.URL(),
		Dial:            s.dial(),
		Proxy:           s.proxy(),
		QPS:             -1,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.CACertificate(), ServerName: s.serverName()},
	}
}

// Kubeconfig returns a kubeconfig file for kubectl and clients in other languages, with the
// credentials of RESTConfig. With WithInMemoryNetwork it has no usable address; use RESTConfig.
func (s *Server) Kubeconfig() ([]byte, error) { return s.KubeconfigFor(s.RESTConfig()) }

// KubeconfigFor is like Kubeconfig with the user of a configuration of this server: its token, its
// client certificate and the user that it impersonates. Clients ignore these in a kubeconfig
// without TLS, so it is an error if the configuration has one of them and the server is without
// WithTLS.
func (s *Server) KubeconfigFor(config *rest.Config) ([]byte, error) {
	const name = "fakeapi"
	user := &clientcmdapi.AuthInfo{
		Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		Impersonate: config.Impersonate.UserName, ImpersonateUID: config.Impersonate.UID,
		ImpersonateGroups: config.Impersonate.Groups, ImpersonateUserExtra: config.Impersonate.Extra,
	}
	if s.authority == nil && (user.Token != "" || user.Impersonate != "") {
		return nil, errors.New("fakeapi: clients ignore the user of a kubeconfig without TLS; create the server with WithTLS (serve --tls)")
	}
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{
		Server: s.URL(), CertificateAuthorityData: s.CACertificate(), TLSServerName: s.serverName(),
		InsecureSkipTLSVerify: s.authority == nil, // the JavaScript client refuses plain HTTP without it
	}
	file.AuthInfos[name] = user
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	file.CurrentContext = name
	return clientcmd.Write(*file)
}

// KubeconfigFile writes Kubeconfig to a temporary file and returns its path. The file is removed
// when the test ends. It fails the test if that is not possible.
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
