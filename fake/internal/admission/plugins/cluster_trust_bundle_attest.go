package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
)

// clusterTrustBundleAttest refuses the bundles of a signer by users without the permission attest
// on it.
type clusterTrustBundleAttest struct {
	authorizer authz.Authorizer
}

func newClusterTrustBundleAttest(d Dependencies) admission.Interface {
	return &clusterTrustBundleAttest{d.Authorizer}
}

func (p *clusterTrustBundleAttest) Name() string { return "ClusterTrustBundleAttest" }

func (p *clusterTrustBundleAttest) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, certificatesv1.SchemeGroupVersion.WithResource("clustertrustbundles"), admissionv1.Create, admissionv1.Update)
}

// Validate also refuses other changes, except for those that the garbage collector makes.
func (p *clusterTrustBundleAttest) Validate(ctx context.Context, attrs *admission.Attributes) error {
	bundle := attrs.Object.(*certificatesv1.ClusterTrustBundle)
	signer := bundle.Spec.SignerName
	if signer == "" || p.authorizer == nil {
		return nil
	}
	if old, ok := attrs.OldObject.(*certificatesv1.ClusterTrustBundle); ok && changesOnlyOwners(bundle, old) {
		return nil
	}
	if !authz.IsAuthorizedForSigner(ctx, p.authorizer, authn.NewInfo(attrs.User), "attest", signer) {
		return forbiddenf(attrs, "user not permitted to attest for signerName %q", signer)
	}
	return nil
}

// changesOnlyOwners reports whether an update changes no more than ownerReferences and finalizers.
func changesOnlyOwners(bundle, old *certificatesv1.ClusterTrustBundle) bool {
	changed := bundle.DeepCopy()
	changed.TypeMeta = old.TypeMeta
	changed.OwnerReferences, changed.Finalizers, changed.ManagedFields = old.OwnerReferences, old.Finalizers, old.ManagedFields
	return equality.Semantic.DeepEqual(changed, old)
}
