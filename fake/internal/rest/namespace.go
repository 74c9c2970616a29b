package rest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

// IsNamespaces reports whether res is the resource of namespaces.
func IsNamespaces(res *resource.Resource) bool {
	return res.GroupResource() == schema.GroupResource{Resource: "namespaces"}
}

// terminateNamespace applies the first delete to a namespace (NS-06). Further ones do not change it
// (NS-08). The namespace controller deletes its contents.
func terminateNamespace(ns *corev1.Namespace, opts *metav1.DeleteOptions, now metav1.Time) {
	if ns.DeletionTimestamp != nil {
		return
	}
	markDeleted(ns, now)
	ns.DeletionGracePeriodSeconds = nil
	ns.Status.Phase = corev1.NamespaceTerminating
	if finalizers, changed := deletionFinalizers(resource.DeleteDependents, ns.Finalizers, opts); changed {
		ns.Finalizers = finalizers
	}
}

// isNamespaceFinalized reports whether a namespace is terminating and the finalizers of its spec
// are removed, that is, its contents are deleted.
func isNamespaceFinalized(ns *corev1.Namespace) bool {
	return ns.DeletionTimestamp != nil && len(ns.Spec.Finalizers) == 0
}

// isNamespaceDeletable reports whether a namespace is to be removed: it is terminating, and has
// neither contents nor finalizers (NS-07).
func isNamespaceDeletable(ns *corev1.Namespace) bool {
	return isNamespaceFinalized(ns) && len(ns.Finalizers) == 0
}
