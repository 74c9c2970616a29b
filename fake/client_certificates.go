package fakeapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/certs"
)

// WithClientCA makes the server take client certificates: the common name is the user, the
// organizations are its groups, and system:authenticated is another one. It takes those that
// the authorities given have issued, each in PEM form, and those of IssueClientCertificate. It
// includes WithTLS.
//
// A request with neither a certificate nor a token is answered 401 Unauthorized (AU-01), but
// for the paths that WithTokens names; see WithAnonymousAuth. So is one with a certificate that
// has expired, is not for clients or comes from somebody else: the handshake takes it, as on
// a real server. With WithTokens one of the two is enough, and the certificate counts first.
func WithClientCA(authorities ...[]byte) Option {
	return func(o *options) error {
		for i, text := range authorities {
			if !x509.NewCertPool().AppendCertsFromPEM(text) {
				return fmt.Errorf("fakeapi: the client authority %d of %d is no certificate in PEM form", i+1, len(authorities))
			}
		}
		o.tls, o.clientCertificates = true, true
		o.clientCAs = append(o.clientCAs, authorities...)
		return nil
	}
}

// errClientCertificatesDisabled is the answer to who wants a certificate that would count for nothing.
var errClientCertificatesDisabled = errors.New("fakeapi: the server takes no client certificates; make it with WithClientCA")

// IssueClientCertificate issues a certificate for a user in groups, and its key, both in PEM form.
// It is valid from yesterday until lifetime is over: for ten years if that is 0, and one that
// has just expired if it is negative.
func (s *Server) IssueClientCertificate(lifetime time.Duration, user string, groups ...string) (cert, key []byte, err error) {
	switch {
	case s.authenticator == nil || s.authenticator.ClientCAs == nil:
		return nil, nil, errClientCertificatesDisabled
	case user == "":
		return nil, nil, errors.New("fakeapi: a client certificate needs the name of a user")
	}
	pair, err := s.authority.IssueClient(lifetime, user, groups...)
	if err != nil {
		return nil, nil, fmt.Errorf("fakeapi: %w", err)
	}
	cert, key, err = certs.EncodePEM(pair)
	if err != nil {
		return nil, nil, fmt.Errorf("fakeapi: %w", err)
	}
	return cert, key, nil
}

// RESTConfigWithCertificate is RESTConfig with a new client certificate of a user in groups.
func (s *Server) RESTConfigWithCertificate(user string, groups ...string) (*rest.Config, error) {
	cert, key, err := s.IssueClientCertificate(0, user, groups...)
	if err != nil {
		return nil, err
	}
	config := s.RESTConfigWithToken("")
	config.CertData, config.KeyData = cert, key
	return config, nil
}

// clientCertificate is the certificate of the server's own clients.
type clientCertificate struct {
	pair      tls.Certificate
	cert, key []byte
}

// tlsCertificates is what a client of the server shows that has a token, or none.
func (i *clientCertificate) tlsCertificates(token string) []tls.Certificate {
	if i == nil || token != "" {
		return nil
	}
	return []tls.Certificate{i.pair}
}

// setUpAuth makes what TLS and client certificates need, unless it is there already.
func (s *Server) setUpAuth() (err error) {
	if s.opts.tls && s.authority == nil {
		if s.authority, err = certs.NewAuthority(); err != nil {
			return err
		}
	}
	if s.authenticator != nil || !s.opts.authenticationEnabled() {
		return nil
	}
	s.authenticator = &authn.Authenticator{Tokens: s.tokens, ServiceAccounts: s.api.ServiceAccountUser}
	if !s.opts.clientCertificates {
		return nil
	}
	s.authenticator.ClientCAs = s.authority.CertPool()
	for _, text := range s.opts.clientCAs {
		s.authenticator.ClientCAs.AppendCertsFromPEM(text)
	}
	admin := authn.AdminUser()
	pair, err := s.authority.IssueClient(0, admin.Username, admin.Groups[0])
	if err != nil {
		return err
	}
	s.adminCertificate = &clientCertificate{pair: pair}
	s.adminCertificate.cert, s.adminCertificate.key, err = certs.EncodePEM(pair)
	return err
}
