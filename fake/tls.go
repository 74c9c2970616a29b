package fakeapi

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
)

// WithTLS serves HTTPS, with HTTP/2 for clients that offer it (ALPN), as client-go,
// controller-runtime and kubectl do, and HTTP/1.1 for others (HT-06). The certificate is for
// loopback addresses, and for the names and the cluster IP of the Service kubernetes. It is issued
// by a certificate authority that the server creates when it starts. RESTConfig, Kubeconfig and
// Client trust it; CACertificate is for other clients.
func WithTLS() Option {
	return func(o *options) error {
		o.tls = true
		return nil
	}
}

// CACertificate returns the certificate of the server's authority in PEM form, the certificates of
// WithServingCertificate, or nil without TLS.
func (s *Server) CACertificate() []byte {
	switch {
	case s.authority == nil:
		return nil
	case s.opts.servingCertificate != nil:
		return slices.Clone(s.opts.servingCertificate.authorities)
	}
	return s.authority.PEM()
}

// trustedAuthorities returns the certificates of CACertificate.
func (s *Server) trustedAuthorities() *x509.CertPool {
	if s.opts.servingCertificate != nil {
		return s.opts.servingCertificate.certPool()
	}
	return s.authority.CertPool()
}

// serverName returns the name that clients must expect of the server, "" for its address.
func (s *Server) serverName() string {
	host, _, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return ""
	}
	return s.opts.servingCertificate.serverName(host)
}

// maxStreams is the number of concurrent requests on an HTTP/2 connection. Go clients open another
// connection for more.
const maxStreams = 100

// tlsConfig returns the configuration of the listener, or nil without TLS.
func (s *Server) tlsConfig() (*tls.Config, error) {
	if !s.opts.tls {
		return nil, nil
	}
	if err := s.setUpAuth(); err != nil { // for a replica without TLS on its server
		return nil, err
	}
	certificate, err := s.certificate()
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if s.clientCAs != nil {
		// Certificates are verified with each request, which gets a response.
		config.ClientAuth, config.ClientCAs = tls.RequestClientCert, s.clientCAs
	}
	return config, nil
}

// certificate returns the certificate of the server.
func (s *Server) certificate() (tls.Certificate, error) {
	if given := s.opts.servingCertificate; given != nil {
		return given.pair, nil
	}
	host, _, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return tls.Certificate{}, err
	}
	hosts := append([]string{"localhost", "127.0.0.1", "::1", host}, s.opts.hosts...)
	return s.authority.IssueServer(append(hosts, s.kubernetesServiceNames()...)...)
}

// kubernetesServiceNames returns the host names and the cluster IP of the Service kubernetes, by
// which clients in a cluster reach the API server.
func (s *Server) kubernetesServiceNames() []string {
	config := s.opts.systemObjectsConfig()
	return []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", config.KubernetesServiceIP().String()}
}

// serveListener serves the listener until it is closed.
func (s *Server) serveListener() {
	// Both return http.ErrServerClosed after Close.
	if s.httpServer.TLSConfig == nil {
		_ = s.httpServer.Serve(s.listener)
		return
	}
	s.httpServer.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	_ = s.httpServer.ServeTLS(s.listener, "", "")
}
