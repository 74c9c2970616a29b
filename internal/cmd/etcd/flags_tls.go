package etcd

import (
	"crypto/tls"
	"errors"
	"net"

	certutil "k8s.io/client-go/util/cert"
)

// clientTLS returns the TLS configuration for clients: the certificate of --cert-file and
// --key-file, or with --auto-tls a new one, and the client certificates that --client-cert-auth
// requires.
func (f *Flags) clientTLS() (*tls.Config, error) {
	certificate, err := f.clientCertificate()
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if f.tlsMinVersion == "TLS1.3" {
		config.MinVersion = tls.VersionTLS13
	}
	if f.TrustedCAFile == "" {
		return config, nil
	}
	if config.ClientCAs, err = certutil.NewPool(f.TrustedCAFile); err != nil {
		return nil, err
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if f.ClientCertAuth {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}

func (f *Flags) clientCertificate() (tls.Certificate, error) {
	switch {
	case f.CertFile != "" && f.KeyFile != "":
		return tls.LoadX509KeyPair(f.CertFile, f.KeyFile)
	case !f.AutoTLS:
		return tls.Certificate{}, errors.New("TLS key/cert must be provided for the client urls that start with https")
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, nil)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
