package fakeapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
)

// servingCertificate is the certificate of WithServingCertificate.
type servingCertificate struct {
	pair tls.Certificate
	// authorities is the chain in PEM, which clients trust.
	authorities []byte
	// names are the host names and IP addresses of the certificate.
	names []string
}

// WithServingCertificate serves HTTPS with a certificate and its key in PEM, as --tls-cert-file and
// --tls-private-key-file of kube-apiserver do. certPEM may have further certificates of the chain,
// up to the authority. It includes WithTLS. RESTConfig, Kubeconfig and Client trust all of certPEM,
// which CACertificate returns. They expect a name of the certificate as the name of the server, if
// it is not for the address. A certificate without names is an error, as clients cannot verify it.
func WithServingCertificate(certPEM, keyPEM []byte) Option {
	return func(o *options) error {
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err != nil {
			return fmt.Errorf("fakeapi: serving certificate: %w", err)
		}
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return fmt.Errorf("fakeapi: serving certificate: %w", err)
		}
		c := &servingCertificate{pair: pair, authorities: slices.Clone(certPEM), names: slices.Clone(pair.Leaf.DNSNames)}
		for _, ip := range pair.Leaf.IPAddresses {
			c.names = append(c.names, ip.String())
		}
		if len(c.names) == 0 {
			return errors.New("fakeapi: serving certificate: it has no host names and no IP addresses")
		}
		o.servingCertificate, o.tls = c, true
		return nil
	}
}

// serverName returns the name that clients must expect of a server at a host, "" if it is the host.
func (c *servingCertificate) serverName(host string) string {
	if c == nil || c.pair.Leaf.VerifyHostname(host) == nil {
		return ""
	}
	return c.names[0]
}

// certPool returns the certificates that clients trust.
func (c *servingCertificate) certPool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.authorities)
	return pool
}
