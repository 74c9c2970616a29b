package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// defaultMaxExpirationSeconds is a day.
const defaultMaxExpirationSeconds = 24 * 60 * 60

func setPodCertificateRequestDefaults(r *certificatesv1.PodCertificateRequest) {
	if r.Spec.MaxExpirationSeconds == nil {
		r.Spec.MaxExpirationSeconds = new(int32(defaultMaxExpirationSeconds))
	}
}

// podCertificateRequestStatusSubresource keeps the spec and the metadata. Its reset fields do not
// include the metadata, as on a real server.
func podCertificateRequestStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.ResetFields = []string{"spec"}
	return s
}

// finalConditions returns the types of the conditions that end a request.
func finalConditions() []string {
	return []string{
		certificatesv1.PodCertificateRequestConditionTypeIssued,
		certificatesv1.PodCertificateRequestConditionTypeDenied,
		certificatesv1.PodCertificateRequestConditionTypeFailed,
	}
}
