package plugins

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
)

// certificateApproval refuses approvals and denials by users without the permission approve on the
// signer.
type certificateApproval struct {
	authorizer authz.Authorizer
}

func newCertificateApproval(d Dependencies) admission.Interface {
	return &certificateApproval{d.Authorizer}
}

func (p *certificateApproval) Name() string { return "CertificateApproval" }

func (p *certificateApproval) Handles(attrs *admission.Attributes) bool {
	return isUpdateOf(attrs, signingRequests, "approval")
}

func (p *certificateApproval) Validate(ctx context.Context, attrs *admission.Attributes) error {
	signer := attrs.OldObject.(*certificatesv1.CertificateSigningRequest).Spec.SignerName
	if p.authorizer != nil && !authz.IsAuthorizedForSigner(ctx, p.authorizer, authn.NewInfo(attrs.User), "approve", signer) {
		return forbiddenf(attrs, "user not permitted to approve requests with signerName %q", signer)
	}
	return nil
}
