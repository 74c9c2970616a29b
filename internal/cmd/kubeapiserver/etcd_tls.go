package kubeapiserver

import (
	"crypto/tls"

	certutil "k8s.io/client-go/util/cert"
)

// etcdTLS returns the TLS configuration for the etcd servers: the files of --etcd-cafile,
// --etcd-certfile and --etcd-keyfile.
func (f *Flags) etcdTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.EtcdCAFile != "" {
		authorities, err := certutil.NewPool(f.EtcdCAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = authorities
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
