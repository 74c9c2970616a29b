package resource

import certificatesv1 "k8s.io/api/certificates/v1"

func certificatesResources() []Resource {
	return []Resource{
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "certificatesigningrequests", Kind: "CertificateSigningRequest",
			ShortNames: []string{"csr"}, Status: true,
			Subresources:             []Subresource{approvalSubresource(), csrStatusSubresource()},
			PrepareForUpdate:         prepareCSRForUpdate,
			ResetFields:              []string{"spec", "status"},
			AllowUnconditionalUpdate: true,
			ValidateName:             validatePathSegmentName,
			Fields: []Field{
				StringField("spec.signerName", func(c *certificatesv1.CertificateSigningRequest) string { return c.Spec.SignerName }),
			},
		},
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "clustertrustbundles", Kind: "ClusterTrustBundle",
			ValidateName: validateClusterTrustBundleName,
			Fields: []Field{
				StringField("spec.signerName", func(b *certificatesv1.ClusterTrustBundle) string { return b.Spec.SignerName }),
			},
		},
		{
			Group: "certificates.k8s.io", Version: "v1", Plural: "podcertificaterequests", Kind: "PodCertificateRequest", Namespaced: true,
			Status: true,
			Fields: []Field{
				StringField("spec.signerName", func(p *certificatesv1.PodCertificateRequest) string { return p.Spec.SignerName }),
				StringField("spec.podName", func(p *certificatesv1.PodCertificateRequest) string { return p.Spec.PodName }),
				StringField("spec.nodeName", func(p *certificatesv1.PodCertificateRequest) string { return string(p.Spec.NodeName) }),
			},
		},
	}
}
