package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func newKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(t, err)
	return key
}

// newRequest returns a certificate request.
func newRequest(t *testing.T, key crypto.Signer) []byte {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ann"}}, key)
	require.NoError(t, err)
	return der
}

// newCertificate returns a certificate that is signed by its own key.
func newCertificate(t *testing.T, key crypto.Signer, template x509.Certificate) []byte {
	template.SerialNumber = big.NewInt(1)
	if template.NotAfter.IsZero() {
		template.NotBefore = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		template.NotAfter = template.NotBefore.Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	require.NoError(t, err)
	return der
}

func encode(blockType string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der}))
}

func TestValidateCSR(t *testing.T) {
	der := newRequest(t, newKey(t, elliptic.P256()))
	forged := append([]byte{}, der...)
	forged[len(forged)-1] ^= 1
	for name, c := range map[string]struct {
		change func(*certificatesv1.CertificateSigningRequestSpec)
		want   []string
	}{
		"valid": {func(s *certificatesv1.CertificateSigningRequestSpec) { s.ExpirationSeconds = new(int32(600)) }, nil},
		"not PEM": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.Request = []byte("x") },
			[]string{`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`},
		},
		"no usages": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = nil }, []string{"spec.usages: Required value"},
		},
		"a usage twice": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = append(s.Usages, s.Usages...) },
			[]string{`spec.usages[1]: Duplicate value: "client auth"`},
		},
		"no signer": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = "" }, []string{"spec.signerName: Required value"},
		},
		"the legacy signer": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.SignerName = legacySigner },
			[]string{`spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		},
		"10 minutes less a second": {
			func(s *certificatesv1.CertificateSigningRequestSpec) { s.ExpirationSeconds = new(int32(599)) },
			[]string{"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &csr{Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: []byte(encode("CERTIFICATE REQUEST", der)), SignerName: "example.com/s",
				Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			}}
			c.change(&r.Spec)
			require.Equal(t, c.want, validatetest.Texts(validateCSR(r)))
		})
	}
	for name, request := range map[string]string{
		"forged": encode("CERTIFICATE REQUEST", forged), "another type": encode("CERTIFICATE", der), "empty": encode("CERTIFICATE REQUEST", nil),
	} {
		require.Error(t, checkRequest([]byte(request)), name)
	}
	errs := validateUsages([]certificatesv1.KeyUsage{"fun"}, nil)
	require.Len(t, errs, 1)
	require.Contains(t, errs[0].Error(), `Unsupported value: "fun": supported values: "any", "cert sign"`)
	require.IsIncreasing(t, usageTexts(knownUsages()))
}

func usageTexts(usages []certificatesv1.KeyUsage) (texts []string) {
	for _, u := range usages {
		texts = append(texts, string(u))
	}
	return texts
}

func TestValidateCSRUpdates(t *testing.T) {
	key := newKey(t, elliptic.P256())
	certificate := []byte(encode("CERTIFICATE", newCertificate(t, key, x509.Certificate{})))
	request := func(certificate []byte, conditions ...certificatesv1.CertificateSigningRequestCondition) *csr {
		return &csr{
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: []byte(encode("CERTIFICATE REQUEST", newRequest(t, key))), SignerName: legacySigner, Usages: []certificatesv1.KeyUsage{"fun"},
			},
			Status: certificatesv1.CertificateSigningRequestStatus{Certificate: certificate, Conditions: conditions},
		}
	}
	condition := func(of certificatesv1.RequestConditionType, status string) certificatesv1.CertificateSigningRequestCondition {
		c := certificatesv1.CertificateSigningRequestCondition{Type: of}
		c.Status = "True"
		if status != "" {
			c.Status = "Maybe"
		}
		return c
	}
	approved, failed := condition("Approved", ""), condition("Failed", "")
	for name, c := range map[string]struct {
		validate func(r, old *csr) field.ErrorList
		old, r   *csr
		want     []string
	}{
		"metadata":           {validateCSRUpdate, request(nil), request(nil), nil},
		"approve":            {validateCSRApprovalUpdate, request(nil), request(nil, approved), nil},
		"sign":               {validateCSRStatusUpdate, request(nil, approved), request(certificate, approved, failed), nil},
		"approve in status":  {validateCSRStatusUpdate, request(nil), request(nil, approved), []string{`status.conditions: Forbidden: updates may not add a condition of type "Approved"`}},
		"remove an approval": {validateCSRApprovalUpdate, request(nil, approved), request(nil), []string{`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`}},
		"remove a failure":   {validateCSRStatusUpdate, request(nil, failed), request(nil), []string{`status.conditions: Forbidden: updates may not remove a condition of type "Failed"`}},
		"twice":              {validateCSRStatusUpdate, request(nil, failed), request(nil, failed, failed), []string{`status.conditions[1].type: Duplicate value: "Failed"`}},
		"twice, as before":   {validateCSRStatusUpdate, request(nil, failed, failed), request(nil, failed, failed), nil},
		"no type":            {validateCSRStatusUpdate, request(nil), request(nil, condition("", "")), []string{"status.conditions[0].type: Required value"}},
		"no type, as before": {validateCSRStatusUpdate, request(nil, condition("", "")), request(nil, condition("", "")), nil},
		"status of a failure": {validateCSRStatusUpdate, request(nil), request(nil, condition("Failed", "x")),
			[]string{`status.conditions[0].status: Unsupported value: "Maybe": supported values: "True"`}},
		"status of others": {validateCSRStatusUpdate, request(nil), request(nil, condition("Other", "x")),
			[]string{`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`}},
		"no certificate": {validateCSRStatusUpdate, request(nil), request([]byte("x")),
			[]string{`status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`}},
		"another certificate": {validateCSRStatusUpdate, request(certificate), request(append(certificate, certificate...)),
			[]string{"status.certificate: Forbidden: updates may not modify existing certificate content"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, validatetest.Texts(c.validate(c.r, c.old))) })
	}
	der := newCertificate(t, key, x509.Certificate{})
	for text, content := range map[string]string{
		`only CERTIFICATE PEM blocks are allowed, found "KEY"`:    encode("KEY", der),
		"no PEM block headers are permitted":                      strings.Replace(encode("CERTIFICATE", der), "\n", "\nA: b\n\n", 1),
		"found CERTIFICATE PEM block containing 0 certificates":   encode("CERTIFICATE", nil),
		"x509: malformed certificate":                             encode("CERTIFICATE", []byte("x")),
		`only CERTIFICATE PEM blocks are allowed, found "SECOND"`: encode("CERTIFICATE", der) + encode("SECOND", der),
	} {
		require.EqualError(t, checkCertificates([]byte(content)), text)
	}
}
