package certificates

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// defaultMaxExpirationSeconds is a day.
const defaultMaxExpirationSeconds = 24 * 60 * 60

func setPodCertificateRequestDefaults(r *certificatesv1.PodCertificateRequest) {
	if r.Spec.MaxExpirationSeconds == nil {
		r.Spec.MaxExpirationSeconds = new(int32(defaultMaxExpirationSeconds))
	}
}

// podCertificateRequestStatusSubresource keeps the spec and the metadata, and the conditions that
// end a request. Its reset fields do not include the metadata, as on a real server.
func podCertificateRequestStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.PrepareForUpdate = resource.OnUpdate(preparePodCertificateRequestStatus)
	return s
}

func preparePodCertificateRequestStatus(_ context.Context, r, old *certificatesv1.PodCertificateRequest) {
	r.Spec = old.Spec
	metav1.ResetObjectMetaForStatus(&r.ObjectMeta, &old.ObjectMeta)
	for _, final := range []string{
		certificatesv1.PodCertificateRequestConditionTypeIssued,
		certificatesv1.PodCertificateRequestConditionTypeDenied,
		certificatesv1.PodCertificateRequestConditionTypeFailed,
	} {
		preserveFinalConditions(r.Status.Conditions, old.Status.Conditions, final)
	}
	populateTransitionTimes(r.Status.Conditions, old.Status.Conditions)
}

// preserveFinalConditions replaces the conditions of a type by the old ones, unless one was added
// or removed, which the validation reports.
func preserveFinalConditions(conditions, old []metav1.Condition, of string) {
	var now, before []int
	for i := range conditions {
		if conditions[i].Type == of {
			now = append(now, i)
		}
	}
	for i := range old {
		if old[i].Type == of {
			before = append(before, i)
		}
	}
	if len(now) != len(before) {
		return
	}
	for i := range now {
		conditions[now[i]] = old[before[i]]
	}
}

// populateTransitionTimes sets the times that the client omitted: that of the old condition if its
// status is the same, the current time if not.
func populateTransitionTimes(conditions, old []metav1.Condition) {
	for i := range conditions {
		c := &conditions[i]
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = metav1.Now().Rfc3339Copy()
		for _, before := range old {
			if before.Type == c.Type && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
				c.LastTransitionTime = before.LastTransitionTime
				break
			}
		}
	}
}
