package certificates

import certificatesv1 "k8s.io/api/certificates/v1"

// defaultMaxExpirationSeconds is a day.
const defaultMaxExpirationSeconds = 24 * 60 * 60

func setPodCertificateRequestDefaults(r *certificatesv1.PodCertificateRequest) {
	if r.Spec.MaxExpirationSeconds == nil {
		r.Spec.MaxExpirationSeconds = new(int32(defaultMaxExpirationSeconds))
	}
}

// finalConditions returns the types of the conditions that end a request.
func finalConditions() []string {
	return []string{
		certificatesv1.PodCertificateRequestConditionTypeIssued,
		certificatesv1.PodCertificateRequestConditionTypeDenied,
		certificatesv1.PodCertificateRequestConditionTypeFailed,
	}
}
