package certificates

import (
	"context"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			request, oldRequest := obj.(*csr), old.(*csr)
			return append(validateConditions(request), validateConditionsNotRemoved(request, oldRequest)...)
		},
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
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			request, oldRequest := obj.(*csr), old.(*csr)
			errs := append(validateConditions(request), validateConditionsNotRemoved(request, oldRequest)...)
			errs = append(errs, validateApprovalNotAdded(request, oldRequest)...)
			if len(oldRequest.Status.Certificate) > 0 && string(request.Status.Certificate) != string(oldRequest.Status.Certificate) {
				errs = append(errs, field.Forbidden(field.NewPath("status", "certificate"), "updates may not modify existing certificate content"))
			}
			return errs
		},
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

// validateConditions checks the conditions independently of the old ones.
func validateConditions(request *csr) (errs field.ErrorList) {
	path := field.NewPath("status", "conditions")
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range request.Status.Conditions {
		at := path.Index(i)
		if c.Type == "" {
			errs = append(errs, field.Required(at.Child("type"), ""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch {
		case c.Status == "":
			errs = append(errs, field.Required(at.Child("status"), ""))
		case !slices.Contains(allowed, c.Status):
			errs = append(errs, field.NotSupported(at.Child("status"), c.Status, allowed))
		}
		other := certificatesv1.CertificateDenied
		if c.Type == other {
			other = certificatesv1.CertificateApproved
		} else if c.Type != certificatesv1.CertificateApproved {
			other = ""
		}
		if other != "" && seen[other] {
			errs = append(errs, field.Invalid(at.Child("type"), c.Type, "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[c.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

// validateConditionsNotRemoved checks that no condition Approved, Denied or Failed was removed.
func validateConditionsNotRemoved(request, old *csr) (errs field.ErrorList) {
	for _, of := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
	} {
		if len(conditionsOfType(request, of)) < len(conditionsOfType(old, of)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not remove a condition of type %q", of)))
		}
	}
	return errs
}

// validateApprovalNotAdded checks that no condition Approved or Denied was added. Modified ones
// have been restored by preserveConditions.
func validateApprovalNotAdded(request, old *csr) (errs field.ErrorList) {
	for _, of := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
		if len(conditionsOfType(request, of)) > len(conditionsOfType(old, of)) {
			errs = append(errs, field.Forbidden(field.NewPath("status", "conditions"),
				fmt.Sprintf("updates may not add a condition of type %q", of)))
		}
	}
	return errs
}
