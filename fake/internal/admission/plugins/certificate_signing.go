package plugins

import (
	"context"
	"reflect"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
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
	return isUpdateOf(attrs, signingRequests, "status")
}

// Validate takes an empty certificate for a change of one that is not set, as kube-apiserver does.
func (p *certificateSigning) Validate(ctx context.Context, attrs *admission.Attributes) error {
	now, old := attrs.Object.(*certificatesv1.CertificateSigningRequest), attrs.OldObject.(*certificatesv1.CertificateSigningRequest)
	signer := old.Spec.SignerName
	switch {
	case p.authorizer == nil,
		reflect.DeepEqual(old.Status.Certificate, now.Status.Certificate) && equality.Semantic.DeepEqual(old.Status.Conditions, now.Status.Conditions),
		authz.IsAuthorizedForSigner(ctx, p.authorizer, authn.NewInfo(attrs.User), "sign", signer):
		return nil
	}
	return forbiddenf(attrs, "user not permitted to sign requests with signerName %q", signer)
}
