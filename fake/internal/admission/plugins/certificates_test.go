package plugins

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authz"
)

// onlyAllows is an authorizer that allows one verb on one signer.
func onlyAllows(verb, signer string) authz.Authorizer {
	return authz.New(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetVerb() == verb && a.GetName() == signer && a.GetResource() == "signers" && a.GetAPIGroup() == "certificates.k8s.io" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	}))
}

// The plugins for certificates ask for a verb on the signer, or on all signers of its domain.
func TestSignerPermissions(t *testing.T) {
	csr := func(certificate string) *certificatesv1.CertificateSigningRequest {
		return &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "example.com/s"},
			Status: certificatesv1.CertificateSigningRequestStatus{Certificate: []byte(certificate)},
		}
	}
	denied, unset := csr(""), csr("")
	unset.Status.Certificate = nil
	denied.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateFailed}}
	labeled := &certificatesv1.ClusterTrustBundle{ObjectMeta: metav1.ObjectMeta{Name: "r", Labels: map[string]string{"a": "b"}}}
	labeled.Spec.SignerName = "example.com/s"
	finalized := labeled.DeepCopy()
	finalized.Finalizers, finalized.OwnerReferences = []string{"example.com/f"}, []metav1.OwnerReference{{Name: "o"}}
	bundle := func(text string) *certificatesv1.ClusterTrustBundle {
		return &certificatesv1.ClusterTrustBundle{
			ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: "example.com/s", TrustBundle: text},
		}
	}
	update := func(res string, obj, old runtime.Object, subresource string) *admission.Attributes {
		attrs := writeOf(certificatesv1.SchemeGroupVersion.WithResource(res), obj, old)
		attrs.Subresource = subresource
		return attrs
	}
	for name, c := range map[string]struct {
		make  func(Dependencies) admission.Interface
		verb  string
		attrs *admission.Attributes
		want  string // "" if nothing is asked for
	}{
		"approval":              {newCertificateApproval, "approve", update("certificatesigningrequests", csr(""), csr(""), "approval"), `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName "example.com/s"`},
		"certificate":           {newCertificateSigning, "sign", update("certificatesigningrequests", csr("c"), csr(""), "status"), `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to sign requests with signerName "example.com/s"`},
		"condition":             {newCertificateSigning, "sign", update("certificatesigningrequests", denied, csr(""), "status"), `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to sign requests with signerName "example.com/s"`},
		"empty certificate":     {newCertificateSigning, "sign", update("certificatesigningrequests", csr(""), unset, "status"), `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to sign requests with signerName "example.com/s"`},
		"same status":           {newCertificateSigning, "sign", update("certificatesigningrequests", csr("c"), csr("c"), "status"), ""},
		"metadata":              {newCertificateSigning, "sign", update("certificatesigningrequests", csr("c"), csr(""), ""), ""},
		"bundle":                {newClusterTrustBundleAttest, "attest", update("clustertrustbundles", bundle("b"), nil, ""), `clustertrustbundles.certificates.k8s.io "r" is forbidden: user not permitted to attest for signerName "example.com/s"`},
		"same bundle":           {newClusterTrustBundleAttest, "attest", update("clustertrustbundles", bundle("b"), bundle("b"), ""), ""},
		"labels of a bundle":    {newClusterTrustBundleAttest, "attest", update("clustertrustbundles", labeled, bundle(""), ""), `clustertrustbundles.certificates.k8s.io "r" is forbidden: user not permitted to attest for signerName "example.com/s"`},
		"owners of a bundle":    {newClusterTrustBundleAttest, "attest", update("clustertrustbundles", finalized, labeled, ""), ""},
		"bundle without signer": {newClusterTrustBundleAttest, "attest", update("clustertrustbundles", &certificatesv1.ClusterTrustBundle{}, nil, ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			requireRefusal(t, c.want, call(t, c.make(Dependencies{Authorizer: onlyAllows("other", "example.com/s")}), c.attrs))
			requireRefusal(t, c.want, call(t, c.make(Dependencies{Authorizer: onlyAllows(c.verb, "example.com/t")}), c.attrs))
			require.NoError(t, call(t, c.make(Dependencies{Authorizer: onlyAllows(c.verb, "example.com/s")}), c.attrs))
			require.NoError(t, call(t, c.make(Dependencies{Authorizer: onlyAllows(c.verb, "example.com/*")}), c.attrs))
			require.NoError(t, call(t, c.make(Dependencies{}), c.attrs))
		})
	}
}

func TestCertificateSubjectRestrictionErrors(t *testing.T) {
	p := newCertificateSubjectRestriction(Dependencies{})
	csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	csr.Spec.Request = []byte("none")
	require.NoError(t, call(t, p, writeOf(signingRequests, csr, nil)), "another signer")
	csr.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
	requireRefusal(t, `certificatesigningrequests.certificates.k8s.io "r" is forbidden: failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`,
		call(t, p, writeOf(signingRequests, csr, nil)))
	csr.Spec.Request = []byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")
	require.ErrorContains(t, call(t, p, writeOf(signingRequests, csr, nil)), "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST")
}

// An object whose name is not known is named by its generateName, or not at all.
func TestForbiddenName(t *testing.T) {
	attrs := writeOf(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}, nil)
	require.EqualError(t, forbiddenf(attrs, "no"), `pods "web-" is forbidden: no`)
	attrs.Object = newPod(nil, nil)
	require.EqualError(t, forbiddenf(attrs, "no"), `pods "p" is forbidden: no`)
	attrs.Object = &corev1.Pod{}
	require.EqualError(t, forbiddenf(attrs, "no"), `pods "Unknown" is forbidden: no`)
}
