// Package certificates has the built-in types of the group certificates.k8s.io.
package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"example.com/fakeapi/fake/internal/resource"
	declarativecertificates "example.com/fakeapi/fake/internal/resource/declarative/certificates"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "certificatesigningrequests", Kind: "CertificateSigningRequest",
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			ShortNames:             []string{"csr"}, Status: true,
			Subresources:             []resource.Subresource{approvalSubresource(), csrStatusSubresource()},
			PrepareForCreate:         resource.OnCreate(prepareCSRForCreate),
			PrepareForUpdate:         resource.OnUpdate(prepareCSRForUpdate),
			ResetFields:              []string{"spec", "status"},
			AllowUnconditionalUpdate: true,
			ValidateName:             resource.ValidatePathSegmentName,
			Validate:                 resource.Validation(validateCSR),
			ValidateUpdate:           resource.UpdateValidationAsNew(validateCSRUpdate),
			ValidateDeclaratively:    resource.DeclarativeValidation(declarativecertificates.Validate_CertificateSigningRequest),
			Fields: []resource.Field{
				resource.StringField("spec.signerName", func(c *certificatesv1.CertificateSigningRequest) string { return c.Spec.SignerName }),
			},
		},
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "clustertrustbundles", Kind: "ClusterTrustBundle",
			HashedVersion:          "v1beta1",
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			ValidateName:           acceptBundleName,
			Validate:               resource.Validation(validateClusterTrustBundle),
			ValidateUpdate:         resource.UpdateValidation(validateClusterTrustBundleUpdate),
			Fields: []resource.Field{
				resource.StringField("spec.signerName", func(b *certificatesv1.ClusterTrustBundle) string { return b.Spec.SignerName }),
			},
		},
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "podcertificaterequests", Kind: "PodCertificateRequest", Namespaced: true,
			HashedVersion: "v1beta1", NotSelectableByNamespace: true, Status: true,
			Subresources:         []resource.Subresource{resource.StatusSubresource("metadata")},
			SetDefaults:          resource.Defaults(setPodCertificateRequestDefaults),
			Validate:             resource.Validation(validatePodCertificateRequest),
			ValidateUpdate:       resource.UpdateValidation(validatePodCertificateRequestUpdate),
			ValidateStatusUpdate: validatePodCertificateRequestStatus,
			ChecksAccess:         true,
			Fields: []resource.Field{
				resource.StringField("spec.signerName", func(p *certificatesv1.PodCertificateRequest) string { return p.Spec.SignerName }),
				resource.StringField("spec.podName", func(p *certificatesv1.PodCertificateRequest) string { return p.Spec.PodName }),
				resource.StringField("spec.nodeName", func(p *certificatesv1.PodCertificateRequest) string { return string(p.Spec.NodeName) }),
			},
		},
	}
}
