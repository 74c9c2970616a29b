package fakeapi

import (
	"crypto/tls"
	"net"
	"net/http"
)

// WithTLS serves HTTPS: HTTP/2 to clients that offer it (ALPN), as client-go,
// controller-runtime and kubectl do, HTTP/1.1 to others (HT-06). The certificate is
// for loopback and comes from a certificate authority that the server makes when it
// starts. RESTConfig, Kubeconfig and Client trust it; Server.CACertificate is for other clients.
func WithTLS() Option {
	return func(o *options) error {
		o.tls = true
		return nil
	}
}

// CACertificate is the certificate of the authority that clients have to trust, in PEM form,
// and nil without TLS.
func (s *Server) CACertificate() []byte {
	if s.authority == nil {
		return nil
	}
	return s.authority.PEM()
}

// maxStreams is how many requests a client may have open on one connection of HTTP/2.
// With more, Go's clients open another one.
const maxStreams = 100

// tlsConfig makes a certificate for the address that is listened on; it is nil without TLS.
func (s *Server) tlsConfig() (*tls.Config, error) {
	if !s.opts.tls {
		return nil, nil
	}
	if err := s.setUpAuth(); err != nil { // a replica's first
		return nil, err
	}
	host, _, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	certificate, err := s.authority.IssueServer(append([]string{"localhost", "127.0.0.1", "::1", host}, s.opts.hosts...)...)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if s.authenticator != nil && s.authenticator.ClientCAs != nil {
		// Whose it is, and whether it is good, is found out request by request, and answered.
		config.ClientAuth, config.ClientCAs = tls.RequestClientCert, s.authenticator.ClientCAs
	}
	return config, nil
}

// serveListener serves the listener until it is closed.
func (s *Server) serveListener() {
	// What both give is always http.ErrServerClosed, after Close.
	if s.httpServer.TLSConfig == nil {
		_ = s.httpServer.Serve(s.listener)
		return
	}
	s.httpServer.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	_ = s.httpServer.ServeTLS(s.listener, "", "")
}
