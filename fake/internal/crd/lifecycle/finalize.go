package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MarkTerminating returns crd as the first DELETE leaves it: with a deletionTimestamp, the
// finalizer, which is added now and not at creation, and the condition Terminating. A real server
// writes this without its strategy and without managedFields. A second DELETE is handled as that of
// any object.
func MarkTerminating(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	marked := withConditions(crd, now, newTerminatingCondition(apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"))
	if marked.DeletionTimestamp.IsZero() {
		at := metav1.NewTime(now.Truncate(time.Second))
		marked.DeletionTimestamp = &at
	}
	if !apihelpers.CRDHasFinalizer(marked, apiextensionsv1.CustomResourceCleanupFinalizer) {
		marked.Finalizers = append(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	return marked
}

// NeedsFinalizing reports whether the finalizing controller has to finalize crd.
func NeedsFinalizing(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return !crd.DeletionTimestamp.IsZero() && apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
}

// StartFinalizing returns crd as it is while instances are being deleted. A real server writes this
// state even if there are no instances.
func StartFinalizing(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	return withConditions(crd, now, newTerminatingCondition(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress"))
}

// MustDeleteInstances reports whether instances have to be deleted first: only if crd is
// established and does not overlap a built-in resource.
func MustDeleteInstances(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return !overlapsBuiltIn(crd) && isEstablished(crd)
}

// FinishFinalizing returns crd after the instances were deleted: Terminating is False, and the
// finalizer is removed. If no finalizer remains, the object has to be deleted.
func FinishFinalizing(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	cond := newTerminatingCondition(apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances")
	switch {
	case overlapsBuiltIn(crd):
		cond.Reason, cond.Message = "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
	case !MustDeleteInstances(crd):
		cond.Reason, cond.Message = "NeverEstablished", "resource was never established"
	}
	finished := withConditions(crd, now, cond)
	finished.Finalizers = slices.DeleteFunc(finished.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
	return finished
}

// overlapsBuiltIn reports whether a real server stores a built-in resource under the key of crd's
// instances.
func overlapsBuiltIn(crd *apiextensionsv1.CustomResourceDefinition) bool {
	switch crd.Spec.Group + "/" + crd.Spec.Names.Plural {
	case "apiregistration.k8s.io/apiservices", "apiextensions.k8s.io/customresourcedefinitions":
		return true
	}
	return false
}

// newTerminatingCondition returns a condition Terminating.
func newTerminatingCondition(status apiextensionsv1.ConditionStatus, reason, message string) condition {
	return condition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}
}
