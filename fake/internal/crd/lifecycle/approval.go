package lifecycle

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// approve is the controller of the community's groups, k8s.io and kubernetes.io and
// all below: the state with another word on the annotation, or nil.
func approve(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	verdict := condition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse}
	var state apihelpers.APIApprovalState
	state, verdict.Message = apihelpers.GetAPIApprovalState(crd.Annotations)
	switch state {
	case apihelpers.APIApproved:
		verdict.Status, verdict.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		verdict.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		verdict.Reason = "MissingAnnotation"
	default:
		verdict.Reason = "InvalidAnnotation"
	}
	if says(crd, verdict) {
		return nil
	}
	return with(crd, now, verdict)
}
