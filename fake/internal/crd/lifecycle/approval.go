package lifecycle

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// updateApproval is the API approval controller, for the protected groups k8s.io, kubernetes.io and
// their subdomains. It returns a copy with a changed condition, or nil.
func updateApproval(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	cond := condition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse}
	var state apihelpers.APIApprovalState
	state, cond.Message = apihelpers.GetAPIApprovalState(crd.Annotations)
	switch state {
	case apihelpers.APIApproved:
		cond.Status, cond.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		cond.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		cond.Reason = "MissingAnnotation"
	default:
		cond.Reason = "InvalidAnnotation"
	}
	if hasCondition(crd, cond) {
		return nil
	}
	return withConditions(crd, now, cond)
}
