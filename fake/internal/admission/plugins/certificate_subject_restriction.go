package plugins

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/fakeapi/fake/internal/admission"
)

// certificateSubjectRestriction refuses requests for client certificates of the group
// system:masters.
type certificateSubjectRestriction struct{}

func newCertificateSubjectRestriction(Dependencies) admission.Interface {
	return certificateSubjectRestriction{}
}

func (certificateSubjectRestriction) Name() string { return "CertificateSubjectRestriction" }

func (certificateSubjectRestriction) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, signingRequests, admissionv1.Create)
}

func (certificateSubjectRestriction) Validate(_ context.Context, attrs *admission.Attributes) error {
	spec := attrs.Object.(*certificatesv1.CertificateSigningRequest).Spec
	if spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	request, err := parseCertificateRequest(spec.Request)
	if err != nil {
		return forbiddenf(attrs, "failed to parse CSR: %v", err)
	}
	if slices.Contains(request.Subject.Organization, user.SystemPrivilegedGroup) {
		return forbiddenf(attrs, "use of %s signer with %s group is not allowed", spec.SignerName, user.SystemPrivilegedGroup)
	}
	return nil
}

// parseCertificateRequest parses the first PEM block of data, which must be a certificate request.
func parseCertificateRequest(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
