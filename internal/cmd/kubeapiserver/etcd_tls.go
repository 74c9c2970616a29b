package kubeapiserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// etcdTLS returns the TLS configuration for the etcd servers: the files of --etcd-cafile, --etcd-certfile and
// --etcd-keyfile.
func (f *Flags) etcdTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.EtcdCAFile != "" {
		authorities, err := os.ReadFile(f.EtcdCAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("%s has no certificate in PEM form", f.EtcdCAFile)
		}
	}
	if f.EtcdCertFile != "" || f.EtcdKeyFile != "" {
		certificate, err := tls.LoadX509KeyPair(f.EtcdCertFile, f.EtcdKeyFile)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}
