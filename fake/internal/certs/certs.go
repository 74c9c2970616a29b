// Package certs creates a certificate authority in memory, and issues server and client
// certificates.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// validBefore is how long certificates have been valid when they are issued, for clients with
// skewed clocks.
const validBefore = 24 * time.Hour

// ValidAfter is how long credentials are valid that have no other lifetime. It is long because
// virtual time may advance by years.
const ValidAfter = 10 * 365 * 24 * time.Hour

// Authority is a certificate authority.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority creates an authority with a new key.
func NewAuthority() (*Authority, error) {
	now := time.Now()
	return newAuthority("fakeapi-ca", now.Add(-validBefore), now.Add(ValidAfter))
}

// newAuthority creates an authority whose certificate is valid from one time to another.
func newAuthority(name string, from, to time.Time) (*Authority, error) {
	// Generating keys, serial numbers and certificates fails only if the machine has no randomness.
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	template, err := newTemplate(name)
	if err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = from, to
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &Authority{certificate, key}, nil
}

// PEM returns the certificate of the authority in PEM.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// CertPool returns a pool that contains only the certificate of the authority.
func (a *Authority) CertPool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// IssueServer issues a server certificate for host names and IP addresses.
func (a *Authority) IssueServer(hosts ...string) (tls.Certificate, error) {
	template, err := newTemplate("fakeapi")
	if err != nil {
		return tls.Certificate{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.sign(template)
}

// IssueClient issues a client certificate for a user (the common name) in groups (the
// organizations). It expires after lifetime, or with lifetime 0 when server certificates do.
func (a *Authority) IssueClient(lifetime time.Duration, user string, groups ...string) (tls.Certificate, error) {
	template, err := newTemplate(user)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.Subject.Organization = groups
	if lifetime != 0 {
		template.NotAfter = time.Now().Add(lifetime)
	}
	return a.sign(template)
}

// issueFor issues a client certificate for a user that is valid as long as the authority.
func (a *Authority) issueFor(user string) (tls.Certificate, error) {
	template, err := newTemplate(user)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.NotBefore, template.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	return a.sign(template)
}

// sign creates a key and a certificate for it.
func (a *Authority) sign(template *x509.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// EncodePEM returns an issued certificate and its key in PEM.
func EncodePEM(pair tls.Certificate) (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return nil, nil, fmt.Errorf("key of a certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func newTemplate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-validBefore),
		NotAfter:     now.Add(ValidAfter),
	}, nil
}
