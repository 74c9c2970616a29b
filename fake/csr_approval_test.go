package fakeapi_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newSigningRequest returns a request for a client certificate.
func newSigningRequest(t *testing.T, name, signer, organization string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	subject := pkix.Name{CommonName: "u", Organization: []string{organization}}
	data, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	require.NoError(t, err)
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: data}),
			SignerName: signer, Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}
}

// newCertificate returns a certificate as PEM.
func newCertificate(t *testing.T) []byte {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	data, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: data})
}

func csrCondition(of certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequestCondition {
	return certificatesv1.CertificateSigningRequestCondition{Type: of, Status: corev1.ConditionTrue, Reason: "r"}
}

// The approval subresource writes the conditions Approved and Denied, status the rest of the
// status. Neither writes the spec.
func TestApproval(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	requests := client.CertificatesV1().CertificateSigningRequests()
	made := newSigningRequest(t, "r", "example.com/s", "devs")
	made.Labels = map[string]string{"made": "here"}
	certificate := newCertificate(t)
	csr, err := requests.Create(ctx, made, metav1.CreateOptions{})
	require.NoError(t, err)

	csr.Spec.SignerName, csr.Status.Certificate = "example.com/other", certificate
	csr.Status.Conditions = append(csr.Status.Conditions, csrCondition(certificatesv1.CertificateApproved))
	csr.Labels = map[string]string{"l": "v"}
	csr, err = requests.UpdateApproval(ctx, "r", csr, metav1.UpdateOptions{FieldManager: "approver"})
	require.NoError(t, err)
	require.Equal(t, "example.com/s", csr.Spec.SignerName)
	require.Empty(t, csr.Status.Certificate)
	require.Equal(t, map[string]string{"l": "v"}, csr.Labels)
	require.Len(t, csr.Status.Conditions, 1)
	require.False(t, csr.Status.Conditions[0].LastUpdateTime.IsZero())
	require.False(t, csr.Status.Conditions[0].LastTransitionTime.IsZero())
	last := managedFieldsOf(t, csr, "approver")
	require.Equal(t, "approval", last.Subresource)
	require.NotContains(t, last.FieldsV1.GetRawString(), "f:certificate")

	// An update of the status may set other conditions. It does not change those of the approval.
	sent := csr.DeepCopy()
	sent.Status.Certificate = certificate
	sent.Status.Conditions[0].Message = "changed"
	sent.Status.Conditions = append(sent.Status.Conditions, csrCondition("Other"))
	csr, err = requests.UpdateStatus(ctx, sent, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, certificate, csr.Status.Certificate)
	require.Empty(t, csr.Status.Conditions[0].Message)
	require.Len(t, csr.Status.Conditions, 2)

	// An update of the main resource changes only the metadata.
	sent = csr.DeepCopy()
	sent.Spec.SignerName, sent.Labels = "example.com/other", nil
	csr, err = requests.Update(ctx, sent, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, "example.com/s", csr.Spec.SignerName)
	require.Empty(t, csr.Labels)
}

func TestApprovalErrors(t *testing.T) {
	_, client := startClient(t)
	ctx := t.Context()
	requests := client.CertificatesV1().CertificateSigningRequests()
	csr, err := requests.Create(ctx, newSigningRequest(t, "r", "example.com/s", "devs"), metav1.CreateOptions{})
	require.NoError(t, err)

	sent := csr.DeepCopy()
	sent.Status.Conditions = append(sent.Status.Conditions, csrCondition(certificatesv1.CertificateDenied))
	_, err = requests.UpdateStatus(ctx, sent, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err))
	require.ErrorContains(t, err, `status.conditions: Forbidden: updates may not add a condition of type "Denied"`)

	csr, err = requests.UpdateApproval(ctx, "r", sent, metav1.UpdateOptions{})
	require.NoError(t, err)
	for want, change := range map[string]func(*certificatesv1.CertificateSigningRequest){
		`updates may not remove a condition of type "Denied"`: func(c *certificatesv1.CertificateSigningRequest) { c.Status.Conditions = nil },
		`must specify at most one of: ` + "`conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`": func(c *certificatesv1.CertificateSigningRequest) {
			c.Status.Conditions = append(c.Status.Conditions, csrCondition(certificatesv1.CertificateApproved))
		},
		`status.conditions[1].type: Duplicate value: "Denied"`: func(c *certificatesv1.CertificateSigningRequest) {
			c.Status.Conditions = append(c.Status.Conditions, csrCondition(certificatesv1.CertificateDenied))
		},
		`status.conditions[0].status: Unsupported value: "False": supported values: "True"`: func(c *certificatesv1.CertificateSigningRequest) {
			c.Status.Conditions[0].Status = corev1.ConditionFalse
		},
		`status.conditions[0].status: Required value`: func(c *certificatesv1.CertificateSigningRequest) { c.Status.Conditions[0].Status = "" },
	} {
		bad := csr.DeepCopy()
		change(bad)
		_, err := requests.UpdateApproval(ctx, "r", bad, metav1.UpdateOptions{})
		require.True(t, apierrors.IsInvalid(err), want)
		require.ErrorContains(t, err, want)
	}
	csr.Status.Certificate = newCertificate(t)
	csr, err = requests.UpdateStatus(ctx, csr, metav1.UpdateOptions{})
	require.NoError(t, err)
	csr.Status.Certificate = newCertificate(t)
	_, err = requests.UpdateStatus(ctx, csr, metav1.UpdateOptions{})
	require.ErrorContains(t, err, "status.certificate: Forbidden: updates may not modify existing certificate content")
}
