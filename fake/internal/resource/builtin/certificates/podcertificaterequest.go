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

// podCertificateRequestStatusSubresource keeps the spec and the metadata. Its reset fields do not
// include the metadata, as on a real server.
func podCertificateRequestStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.ResetFields = []string{"spec"}
	s.PrepareForUpdate = resource.OnUpdate(preparePodCertificateRequestStatus)
	return s
}

// preparePodCertificateRequestStatus keeps the conditions that end a request, if there are as many
// as before, and sets the times that the client omitted.
func preparePodCertificateRequestStatus(_ context.Context, r, old *certificatesv1.PodCertificateRequest) {
	r.Spec = old.Spec
	metav1.ResetObjectMetaForStatus(&r.ObjectMeta, &old.ObjectMeta)
	for _, of := range finalConditions() {
		before := podConditionsOfType(old, of)
		if len(before) != len(podConditionsOfType(r, of)) {
			continue
		}
		for i := range r.Status.Conditions {
			if c := &r.Status.Conditions[i]; c.Type == of {
				*c, before = before[0], before[1:]
			}
		}
	}
	now := metav1.Now().Rfc3339Copy()
	for i := range r.Status.Conditions {
		if c := &r.Status.Conditions[i]; c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = transitionTime(old.Status.Conditions, c, now)
		}
	}
}

// transitionTime returns the time of the condition with the type and status of c, now if there is
// none.
func transitionTime(conditions []metav1.Condition, c *metav1.Condition, now metav1.Time) metav1.Time {
	for _, before := range conditions {
		if before.Type == c.Type && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
			return before.LastTransitionTime
		}
	}
	return now
}

// finalConditions returns the types of the conditions that end a request.
func finalConditions() []string {
	return []string{
		certificatesv1.PodCertificateRequestConditionTypeIssued,
		certificatesv1.PodCertificateRequestConditionTypeDenied,
		certificatesv1.PodCertificateRequestConditionTypeFailed,
	}
}

func podConditionsOfType(r *certificatesv1.PodCertificateRequest, of string) (found []metav1.Condition) {
	for _, c := range r.Status.Conditions {
		if c.Type == of {
			found = append(found, c)
		}
	}
	return found
}
