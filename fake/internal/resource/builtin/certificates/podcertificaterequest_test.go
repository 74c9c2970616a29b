package certificates

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodCertificateRequestDefaults(t *testing.T) {
	r := &certificatesv1.PodCertificateRequest{}
	setPodCertificateRequestDefaults(r)
	require.Equal(t, int32(86400), *r.Spec.MaxExpirationSeconds)
	*r.Spec.MaxExpirationSeconds = 3600
	setPodCertificateRequestDefaults(r)
	require.Equal(t, int32(3600), *r.Spec.MaxExpirationSeconds)
}

func TestPreparePodCertificateRequestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := metav1.Now().Rfc3339Copy()
		before := metav1.NewTime(now.Add(-time.Hour))
		old := &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{PodName: "p"}}
		old.Status.Conditions = []metav1.Condition{
			{Type: "Issued", Status: "True", Reason: "First", LastTransitionTime: before},
			{Type: "Other", Status: "True", LastTransitionTime: before},
		}
		r := &certificatesv1.PodCertificateRequest{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
			Spec:       certificatesv1.PodCertificateRequestSpec{PodName: "q"},
		}
		r.Status.Conditions = []metav1.Condition{
			{Type: "Other", Status: "True"},
			{Type: "Issued", Status: "True", Reason: "Second", LastTransitionTime: now},
			{Type: "Failed", Status: "True"},
		}
		preparePodCertificateRequestStatus(t.Context(), r, old)
		require.Empty(t, r.Labels)
		require.Equal(t, old.Spec, r.Spec)
		require.Equal(t, []metav1.Condition{
			{Type: "Other", Status: "True", LastTransitionTime: before},
			{Type: "Issued", Status: "True", Reason: "First", LastTransitionTime: before},
			{Type: "Failed", Status: "True", LastTransitionTime: now},
		}, r.Status.Conditions)
	})
}
