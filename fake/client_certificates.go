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

// WithClientCA authenticates client certificates. The common name is the user. The organizations
// and system:authenticated are the groups. It accepts certificates of these authorities, each in
// PEM form, and those of IssueClientCertificate. It includes WithTLS.
//
// A request without a certificate and without a token gets 401 Unauthorized (AU-01), except on the
// public paths; see WithTokens and WithAnonymousAuth. So does one with a certificate that has
// expired, is not for clients, or is from another authority: the TLS handshake accepts it, as on a
// real server. With WithTokens either is enough, and the certificate is checked first.
func WithClientCA(authorities ...[]byte) Option {
	return func(o *options) error {
		for i, text := range authorities {
			if !x509.NewCertPool().AppendCertsFromPEM(text) {
				return fmt.Errorf("fakeapi: the client authority %d of %d is not a certificate in PEM form", i+1, len(authorities))
			}
		}
		o.tls, o.clientCertificates = true, true
		o.clientCAs = append(o.clientCAs, authorities...)
		return nil
	}
}

// errClientCertificatesDisabled is returned by IssueClientCertificate if the server does not
// authenticate certificates.
var errClientCertificatesDisabled = errors.New("fakeapi: the server does not authenticate client certificates; create it with WithClientCA or WithRBAC")

// IssueClientCertificate issues a client certificate for a user in groups and returns it with its
// key, both in PEM form. It is valid since yesterday and for lifetime from now. A lifetime of 0 is
// ten years. With a negative one the certificate has just expired.
func (s *Server) IssueClientCertificate(lifetime time.Duration, user string, groups ...string) (cert, key []byte, err error) {
	switch {
	case !s.opts.clientCertificates:
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

// RESTConfigWithCertificate is like RESTConfig with a new client certificate for a user in groups.
func (s *Server) RESTConfigWithCertificate(user string, groups ...string) (*rest.Config, error) {
	return s.restConfigWithCertificate(0, user, groups...)
}

func (s *Server) restConfigWithCertificate(lifetime time.Duration, user string, groups ...string) (*rest.Config, error) {
	cert, key, err := s.IssueClientCertificate(lifetime, user, groups...)
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

// tlsCertificates returns the certificate for a client without a token.
func (i *clientCertificate) tlsCertificates(token string) []tls.Certificate {
	if i == nil || token != "" {
		return nil
	}
	return []tls.Certificate{i.pair}
}

// setUpAuth creates what TLS and authentication need, unless it exists.
func (s *Server) setUpAuth() (err error) {
	if s.opts.tls && s.authority == nil {
		if s.authority, err = certs.NewAuthority(); err != nil {
			return fmt.Errorf("fakeapi: %w", err)
		}
	}
	if s.authenticator != nil {
		return nil
	}
	if s.opts.clientCertificates {
		s.clientCAs = s.authority.CertPool()
		for _, text := range s.opts.clientCAs {
			s.clientCAs.AppendCertsFromPEM(text)
		}
		if err := s.issueAdminCertificate(); err != nil {
			return err
		}
	}
	headers, err := s.opts.requestHeaders.authenticator()
	if err != nil {
		return err
	}
	s.authenticator = authn.New(s.tokens, s.api.ServiceAccountUser, s.clientCAs).WithRequestHeaders(headers)
	return nil
}

// issueAdminCertificate issues the certificate of the server's own clients.
func (s *Server) issueAdminCertificate() error {
	admin := authn.AdminUser()
	pair, err := s.authority.IssueClient(0, admin.Username, admin.Groups[0])
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	s.adminCertificate = &clientCertificate{pair: pair}
	s.adminCertificate.cert, s.adminCertificate.key, err = certs.EncodePEM(pair)
	return err
}
