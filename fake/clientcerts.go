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
		o.tls, o.certificates = true, true
		o.clientCAs = append(o.clientCAs, authorities...)
		return nil
	}
}

// errNoCertificates is the answer to who wants a certificate that would count for nothing.
var errNoCertificates = errors.New("fakeapi: the server takes no client certificates; make it with WithClientCA")

// IssueClientCertificate issues a certificate for a user in groups, and its key, both in PEM form.
// It is valid from yesterday until lifetime is over: for ten years if that is 0, and one that
// has just expired if it is negative.
func (s *Server) IssueClientCertificate(lifetime time.Duration, user string, groups ...string) (cert, key []byte, err error) {
	switch {
	case s.way == nil || s.way.ClientCAs == nil:
		return nil, nil, errNoCertificates
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

// identity is the certificate of the server's own clients.
type identity struct {
	pair      tls.Certificate
	cert, key []byte
}

// own is what a client of the server shows that has a token, or none.
func (i *identity) own(token string) []tls.Certificate {
	if i == nil || token != "" {
		return nil
	}
	return []tls.Certificate{i.pair}
}

// certify makes what TLS and client certificates need, unless it is there already.
func (s *Server) certify() (err error) {
	if s.opts.tls && s.authority == nil {
		if s.authority, err = certs.NewAuthority(); err != nil {
			return err
		}
	}
	if s.way != nil || !s.opts.authenticates() {
		return nil
	}
	s.way = &authn.Authenticator{Tokens: s.tokens, ServiceAccounts: s.api.ServiceAccountUser}
	if !s.opts.certificates {
		return nil
	}
	s.way.ClientCAs = s.authority.CertPool()
	for _, text := range s.opts.clientCAs {
		s.way.ClientCAs.AppendCertsFromPEM(text)
	}
	admin := authn.AdminUser()
	pair, err := s.authority.IssueClient(0, admin.Username, admin.Groups[0])
	if err != nil {
		return err
	}
	s.identity = &identity{pair: pair}
	s.identity.cert, s.identity.key, err = certs.EncodePEM(pair)
	return err
}
