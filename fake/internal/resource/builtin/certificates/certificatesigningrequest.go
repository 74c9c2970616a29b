package certificates

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/resource"
)

// The status of a CertificateSigningRequest has two writers. An approver writes the conditions
// Approved and Denied through the subresource approval, a signer writes the certificate and all
// other conditions through status. The spec is immutable.

type csr = certificatesv1.CertificateSigningRequest

// approvalSubresource is written by approvers.
func approvalSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "approval", Verbs: resource.ObjectSubresourceVerbs(),
		ResetFields: []string{"spec", "status.certificate"},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			request, oldRequest := obj.(*csr), old.(*csr)
			populateConditionTimestamps(request, oldRequest)
			conditions := request.Status.Conditions
			request.Spec, request.Status = oldRequest.Spec, oldRequest.Status
			request.Status.Conditions = conditions
		},
		ValidateUpdate: resource.UpdateValidationAsNew(validateCSRApprovalUpdate),
	}
}

// csrStatusSubresource is written by signers.
func csrStatusSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "status", Verbs: resource.ObjectSubresourceVerbs(),
		ResetFields: []string{"spec", "status.conditions"},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			request, oldRequest := obj.(*csr), old.(*csr)
			request.Spec = oldRequest.Spec
			preserveConditions(request, oldRequest, certificatesv1.CertificateApproved)
			preserveConditions(request, oldRequest, certificatesv1.CertificateDenied)
			populateConditionTimestamps(request, oldRequest)
		},
		ValidateUpdate: resource.UpdateValidationAsNew(validateCSRStatusUpdate),
	}
}

// prepareCSRForCreate sets the fields of the requester, whatever the client sent.
func prepareCSRForCreate(ctx context.Context, request *csr) {
	user := authn.UserFrom(ctx)
	spec := &request.Spec
	spec.Username, spec.UID, spec.Groups, spec.Extra = user.Username, user.UID, user.Groups, nil
	if len(user.Extra) > 0 {
		spec.Extra = make(map[string]certificatesv1.ExtraValue, len(user.Extra))
	}
	for key, values := range user.Extra {
		spec.Extra[key] = certificatesv1.ExtraValue(values)
	}
}

// prepareCSRForUpdate keeps the spec.
func prepareCSRForUpdate(_ context.Context, request, old *csr) {
	request.Spec = old.Spec
}

func conditionsOfType(request *csr, of certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var found []certificatesv1.CertificateSigningRequestCondition
	for _, c := range request.Status.Conditions {
		if c.Type == of {
			found = append(found, c)
		}
	}
	return found
}

// preserveConditions replaces the conditions of a type by those of old. If their number differs it
// changes nothing; the validation reports that.
func preserveConditions(request, old *csr, of certificatesv1.RequestConditionType) {
	before := conditionsOfType(old, of)
	if len(before) != len(conditionsOfType(request, of)) {
		return
	}
	for i := range request.Status.Conditions {
		if c := &request.Status.Conditions[i]; c.Type == of {
			*c, before = before[0], before[1:]
		}
	}
}

// populateConditionTimestamps sets the times that the client omitted.
func populateConditionTimestamps(request, old *csr) {
	now := metav1.Now().Rfc3339Copy()
	for i := range request.Status.Conditions {
		c := &request.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, before := range old.Status.Conditions {
			if before.Type == c.Type && before.Status == c.Status && !before.LastTransitionTime.IsZero() {
				c.LastTransitionTime = before.LastTransitionTime
				break
			}
		}
	}
}
