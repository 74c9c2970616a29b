package kubeapiserver

import (
	"fmt"
	"net"
	"path/filepath"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	netutils "k8s.io/utils/net"

	fakeapi "example.com/fakeapi/fake"
)

// servingOptions returns the certificate of the server: that of --tls-cert-file, or the one in
// --cert-dir, which it creates if it is missing.
func (f *Flags) servingOptions(files directory) ([]fakeapi.Option, error) {
	certFile, keyFile := f.CertFile, f.KeyFile
	if certFile == "" && keyFile == "" {
		certFile, keyFile = filepath.Join(f.CertDir, "apiserver.crt"), filepath.Join(f.CertDir, "apiserver.key")
		if err := f.createCertificate(files.path(certFile), files.path(keyFile)); err != nil {
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

// createCertificate creates a self-signed certificate unless both files exist.
func (f *Flags) createCertificate(certFile, keyFile string) error {
	if exist, err := certutil.CanReadCertAndKey(certFile, keyFile); err != nil || exist {
		return err
	}
	host, err := f.publicAddress()
	if err != nil {
		return err
	}
	service, err := f.services.kubernetesServiceIP()
	if err != nil {
		return err
	}
	ips, names := []net.IP{service}, []string{"kubernetes.default.svc", "kubernetes.default", "kubernetes"}
	if f.BindAddress.IsUnspecified() {
		names = append(names, "localhost")
	} else {
		ips = append(ips, f.BindAddress)
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey(host.String(), ips, names)
	if err != nil {
		return fmt.Errorf("unable to generate self signed cert: %w", err)
	}
	if err := certutil.WriteCert(certFile, cert); err != nil {
		return err
	}
	return keyutil.WriteKey(keyFile, key)
}

// publicAddress returns the address at which other machines reach the server.
func (f *Flags) publicAddress() (net.IP, error) {
	if f.AdvertiseAddress != nil && !f.AdvertiseAddress.IsUnspecified() {
		return f.AdvertiseAddress, nil
	}
	address, err := utilnet.ResolveBindAddress(f.BindAddress)
	if err != nil {
		return nil, fmt.Errorf("Unable to find suitable network address.error='%w'. "+ //nolint:staticcheck // the text of kube-apiserver
			"Try to set the AdvertiseAddress directly or provide a valid BindAddress to fix this.", err)
	}
	return address, nil
}

// kubernetesServiceIP returns the cluster IP of the Service kubernetes.
func (s *serviceFlags) kubernetesServiceIP() (net.IP, error) {
	_, cidr, err := netutils.ParseCIDRSloppy(s.clusterIPRanges()[0])
	if err != nil {
		return nil, err
	}
	return netutils.GetIndexedIP(cidr, 1)
}
