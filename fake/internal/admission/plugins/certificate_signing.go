package plugins

import (
	"bytes"
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authz"
)

// certificateSigning refuses certificates and conditions by users without the permission sign on
// the signer.
type certificateSigning struct {
	authorizer authz.Authorizer
}

func newCertificateSigning(d Dependencies) admission.Interface {
	return &certificateSigning{d.Authorizer}
}

func (p *certificateSigning) Name() string { return "CertificateSigning" }

func (p *certificateSigning) Handles(attrs *admission.Attributes) bool {
	return isUpdateOf(attrs, signingRequests, "status") || isUpdateOf(attrs, podCertificateRequests, "status")
}

func (p *certificateSigning) Validate(ctx context.Context, attrs *admission.Attributes) error {
	signer, changed := signedStatus(attrs.Object, attrs.OldObject)
	if changed && p.authorizer != nil && !isAuthorizedForSigner(ctx, p.authorizer, attrs, "sign", signer) {
		return forbiddenf(attrs, "user not permitted to sign requests with signerName %q", signer)
	}
	return nil
}

// signedStatus returns the signer of a request, and whether its certificate or conditions changed.
func signedStatus(obj, old runtime.Object) (signer string, changed bool) {
	switch old := old.(type) {
	case *certificatesv1.CertificateSigningRequest:
		now := obj.(*certificatesv1.CertificateSigningRequest)
		return old.Spec.SignerName, !bytes.Equal(old.Status.Certificate, now.Status.Certificate) ||
			!equality.Semantic.DeepEqual(old.Status.Conditions, now.Status.Conditions)
	case *certificatesv1.PodCertificateRequest:
		now := obj.(*certificatesv1.PodCertificateRequest)
		return old.Spec.SignerName, old.Status.CertificateChain != now.Status.CertificateChain ||
			!equality.Semantic.DeepEqual(old.Status.Conditions, now.Status.Conditions)
	}
	return "", false
}
