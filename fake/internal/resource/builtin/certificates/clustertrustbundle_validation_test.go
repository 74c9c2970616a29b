package certificates

import (
	"crypto/elliptic"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func newBundle(name, signer, bundle string) *certificatesv1.ClusterTrustBundle {
	return &certificatesv1.ClusterTrustBundle{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: bundle},
	}
}

func TestValidateClusterTrustBundle(t *testing.T) {
	const subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	key := newKey(t, elliptic.P256())
	generated := func(prefix, signer, bundle string) *certificatesv1.ClusterTrustBundle {
		b := newBundle(prefix+"abcde", signer, bundle)
		b.GenerateName = prefix
		return b
	}
	anchor := encode("CERTIFICATE", newCertificate(t, key, x509.Certificate{IsCA: true, BasicConstraintsValid: true}))
	leaf := encode("CERTIFICATE", newCertificate(t, key, x509.Certificate{}))
	for name, c := range map[string]struct {
		bundle *certificatesv1.ClusterTrustBundle
		want   []string
	}{
		"without a signer": {newBundle("a.b", "", "text\n"+anchor), nil},
		"with a signer":    {newBundle("example.com:s:a", "example.com/s", anchor), nil},
		"the name of one with a signer": {newBundle("a:b", "", anchor),
			[]string{`metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name`}},
		"the name of one without a signer": {newBundle("a", "example.com/s", anchor),
			[]string{`metadata.name: Invalid value: "a": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:`}},
		"a generated name":               {generated("a-", "", anchor), nil},
		"a generated name with a signer": {generated("example.com:s:a-", "example.com/s", anchor), nil},
		"a generated name of one with a signer": {generated("a:", "", anchor), []string{
			`metadata.generateName: Invalid value: "a:": ClusterTrustBundle without signer name must not have ":" in its name`,
			`metadata.name: Invalid value: "a:abcde": ClusterTrustBundle without signer name must not have ":" in its name`,
		}},
		"a prefix that ends with the signer": {generated("example.com:s:", "example.com/s", anchor),
			[]string{`metadata.generateName: Invalid value: "example.com:s:": ` + subdomain}},
		"a signer that is no domain": {newBundle("x:s:a", "x/s", anchor),
			[]string{`spec.signerName: Invalid value: "x": should be a domain with at least two segments separated by dots`}},
		"no anchors": {newBundle("a", "", ""), []string{`spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided`}},
		"an anchor twice": {newBundle("a", "", anchor+anchor),
			[]string{`spec.trustBundle: Invalid value: "<value omitted>": duplicate trust anchor (indices [0 1])`}},
		"other blocks": {
			newBundle("a", "", leaf+encode("KEY", nil)+encode("CERTIFICATE", nil)+strings.Replace(anchor, "\n", "\nA: b\n\n", 1)),
			[]string{
				`spec.trustBundle: Invalid value: "<value omitted>": entry 0 does not have the CA bit set`,
				`spec.trustBundle: Invalid value: "<value omitted>": entry 1 has bad block type: KEY`,
				`spec.trustBundle: Invalid value: "<value omitted>": entry 2 does not parse as X.509`,
				`spec.trustBundle: Invalid value: "<value omitted>": entry 3 has PEM block headers`,
			},
		},
		"more than a megabyte": {newBundle("a", "", strings.Repeat("x", maxTrustBundleSize+1)), []string{"spec.trustBundle: Too long: may not be more than 1048576 bytes"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, validatetest.Texts(validateClusterTrustBundle(c.bundle))) })
	}
	require.Empty(t, validateClusterTrustBundleUpdate(newBundle("a", "", "old"), newBundle("a", "", "old")))
	require.Equal(t, []string{`spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided`},
		validatetest.Texts(validateClusterTrustBundleUpdate(newBundle("a", "", "new"), newBundle("a", "", "old"))))
	require.Equal(t, []string{
		`metadata.name: Invalid value: "a": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:`,
		`spec.signerName: Invalid value: "example.com/s": field is immutable`,
	}, validatetest.Texts(validateClusterTrustBundleUpdate(newBundle("a", "example.com/s", anchor), newBundle("a", "", anchor))))
}
