package plugins

import (
	"bytes"
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	switch {
	case !changed || p.authorizer == nil || isAuthorizedForSigner(ctx, p.authorizer, attrs, "sign", signer):
		return nil
	case attrs.GroupResource() == podCertificateRequests.GroupResource(): // a part of its validation
		return apierrors.NewInvalid(attrs.Resource.GroupVersionKind().GroupKind(), attrs.Name, field.ErrorList{
			field.Forbidden(field.NewPath("spec", "signerName"), fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", attrs.User.Username, signer)),
		})
	}
	return forbiddenf(attrs, "user not permitted to sign requests with signerName %q", signer)
}

// signedStatus returns the signer of a request, and whether what only it may set changed: its
// certificate and conditions, of a PodCertificateRequest the status.
func signedStatus(obj, old runtime.Object) (signer string, changed bool) {
	switch old := old.(type) {
	case *certificatesv1.CertificateSigningRequest:
		now := obj.(*certificatesv1.CertificateSigningRequest)
		return old.Spec.SignerName, !bytes.Equal(old.Status.Certificate, now.Status.Certificate) ||
			!equality.Semantic.DeepEqual(old.Status.Conditions, now.Status.Conditions)
	case *certificatesv1.PodCertificateRequest:
		now := obj.(*certificatesv1.PodCertificateRequest)
		return old.Spec.SignerName, !equality.Semantic.DeepEqual(old.Status, now.Status)
	}
	return "", false
}
