package kubeapiserver

import (
	"fmt"
	"net"
	"path/filepath"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	fakeapi "example.com/fakeapi/fake"
)

// servingOptions returns the certificate of the server: that of --tls-cert-file and
// --tls-private-key-file, or apiserver.crt and apiserver.key in --cert-dir. These are created if they
// do not exist, as by kube-apiserver.
func (f *Flags) servingOptions(files directory) ([]fakeapi.Option, error) {
	certFile, keyFile := f.CertFile, f.KeyFile
	if certFile == "" && keyFile == "" {
		certFile, keyFile = filepath.Join(f.CertDir, "apiserver.crt"), filepath.Join(f.CertDir, "apiserver.key")
		exist, err := certutil.CanReadCertAndKey(files.path(certFile), files.path(keyFile))
		if err == nil && !exist {
			err = f.createCertificate(files.path(certFile), files.path(keyFile))
		}
		if err != nil {
			return nil, fmt.Errorf("error creating self-signed certificates: %w", err)
		}
	}
	cert, err := files.read(certFile)
	if err != nil {
		return nil, err
	}
	key, err := files.read(keyFile)
	if err != nil {
		return nil, err
	}
	return []fakeapi.Option{fakeapi.WithServingCertificate(cert, key)}, nil
}

// createCertificate writes a certificate for the names and addresses of the server, which signs
// itself, and its key.
func (f *Flags) createCertificate(certFile, keyFile string) error {
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, address := range []net.IP{f.BindAddress, f.AdvertiseAddress} {
		if len(address) > 0 && !address.IsUnspecified() && !address.IsLoopback() {
			addresses = append(addresses, address)
		}
	}
	names := []string{"kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost"}
	if f.ExternalHostname != "" {
		names = append(names, f.ExternalHostname)
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", addresses, names)
	if err != nil {
		return err
	}
	if err := certutil.WriteCert(certFile, cert); err != nil {
		return err
	}
	return keyutil.WriteKey(keyFile, key)
}
