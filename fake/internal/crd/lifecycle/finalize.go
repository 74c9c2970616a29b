package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MarkTerminating gives what a DELETE makes of a definition that is not being deleted
// yet: the time of deletion, the finalizer, which is put there now and not at creation,
// and Terminating True. A real server writes it past the strategy and the managed
// fields. A second DELETE goes the way of any object's.
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

// NeedsFinalizing reports whether the finalizing controller has work with a definition.
func NeedsFinalizing(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return !crd.DeletionTimestamp.IsZero() && apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
}

// StartFinalizing gives the state in which instances are being deleted. A real server
// goes through it even if there are none.
func StartFinalizing(crd *apiextensionsv1.CustomResourceDefinition, now time.Time) *apiextensionsv1.CustomResourceDefinition {
	return withConditions(crd, now, newTerminatingCondition(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress"))
}

// MustDeleteInstances reports whether instances are to be deleted before the definition
// goes: only if it is established, and does not overlap built-in resources.
func MustDeleteInstances(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return !overlapsBuiltIn(crd) && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// FinishFinalizing gives the state in which no instances are left to delete: Terminating
// False, and the finalizer is taken away. If no other finalizer is left the object
// is to be deleted, as the store has it.
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

// overlapsBuiltIn reports whether a definition means the objects of a built-in resource
// that a real server stores where those of custom resources are.
func overlapsBuiltIn(crd *apiextensionsv1.CustomResourceDefinition) bool {
	switch crd.Spec.Group + "/" + crd.Spec.Names.Plural {
	case "apiregistration.k8s.io/apiservices", "apiextensions.k8s.io/customresourcedefinitions":
		return true
	}
	return false
}

// newTerminatingCondition is what is said about the end.
func newTerminatingCondition(status apiextensionsv1.ConditionStatus, reason, message string) condition {
	return condition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}
}
