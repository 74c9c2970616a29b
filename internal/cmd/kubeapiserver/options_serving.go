package kubeapiserver

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	cliflag "k8s.io/component-base/cli/flag"
	netutils "k8s.io/utils/net"

	fakeapi "example.com/fakeapi/fake"
)

// servingOptions returns the certificate of the server: that of --tls-cert-file, or the one in
// --cert-dir, which it creates if it is missing.
func (f *Flags) servingOptions(files directory) ([]fakeapi.Option, error) {
	if err := f.tls.check(); err != nil {
		return nil, err
	}
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

// check returns an error for values that kube-apiserver refuses. Valid ones have no effect.
func (t *tlsFlags) check() error {
	_, suitesErr := cliflag.TLSCipherSuites(t.cipherSuites)
	_, curvesErr := cliflag.TLSCurvePreferences(t.curves)
	_, versionErr := cliflag.TLSVersion(t.minVersion)
	return errors.Join(suitesErr, curvesErr, versionErr)
}

// createCertificate creates a self-signed certificate unless both files exist.
func (f *Flags) createCertificate(certFile, keyFile string) error {
	if exist, err := certutil.CanReadCertAndKey(certFile, keyFile); err != nil || exist {
		return err
	}
	host := f.publicAddress()
	service, err := f.services.kubernetesServiceIP()
	if err != nil {
		return err
	}
	ips := []net.IP{service, net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	names := []string{"kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost"}
	if !f.BindAddress.IsUnspecified() {
		ips = append(ips, f.BindAddress)
	}
	if f.ExternalHostname != "" {
		names = append(names, f.ExternalHostname)
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

// publicAddress returns the address at which other machines reach a kube-apiserver. It is a
// loopback address, at which the server listens, on machines without another one.
func (f *Flags) publicAddress() net.IP {
	if f.AdvertiseAddress != nil && !f.AdvertiseAddress.IsUnspecified() {
		return f.AdvertiseAddress
	}
	if address, err := utilnet.ResolveBindAddress(f.BindAddress); err == nil {
		return address
	}
	return net.IPv4(127, 0, 0, 1)
}

// kubernetesServiceIP returns the cluster IP of the Service kubernetes.
func (s *serviceFlags) kubernetesServiceIP() (net.IP, error) {
	_, cidr, err := netutils.ParseCIDRSloppy(s.clusterIPRanges()[0])
	if err != nil {
		return nil, err
	}
	return netutils.GetIndexedIP(cidr, 1)
}
