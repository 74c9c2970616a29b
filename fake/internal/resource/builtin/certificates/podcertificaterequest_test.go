package certificates

import (
	"testing"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
)

func TestPodCertificateRequestDefaults(t *testing.T) {
	r := &certificatesv1.PodCertificateRequest{}
	setPodCertificateRequestDefaults(r)
	require.Equal(t, int32(86400), *r.Spec.MaxExpirationSeconds)
	*r.Spec.MaxExpirationSeconds = 3600
	setPodCertificateRequestDefaults(r)
	require.Equal(t, int32(3600), *r.Spec.MaxExpirationSeconds)
}
