package handlers

import (
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

var namespacesResource = schema.GroupResource{Resource: "namespaces"}

func isNamespaces(res *resource.Resource) bool { return res.GroupResource() == namespacesResource }

// isLocalReview tells the one type that is not put into its namespace, and may be posted to
// one that does not exist (NS-10).
func isLocalReview(res *resource.Resource) bool {
	return res.GroupResource() == schema.GroupResource{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"}
}

func namespaceKey(name string) string { return "namespaces/" + name }

// checkNamespaceActive refuses a new object in a namespace that does not exist
// (NS-01) or is on its way out (NS-02).
func (a *API) checkNamespaceActive(res *resource.Resource, namespace string, m metav1.Object) error {
	if a.types.IsTerminating(res) {
		return apierrors.NewForbidden(res.GroupResource(), m.GetName(), errors.New(
			"create not allowed while custom resource definition is terminating"))
	}
	if namespace == "" {
		return nil
	}
	rec := a.store.View().Get(namespaceKey(namespace))
	if rec == nil {
		return apierrors.NewNotFound(namespacesResource, namespace)
	}
	if phase, _ := rec.Fields.Get("status.phase"); phase != string(corev1.NamespaceTerminating) {
		return nil
	}
	err := apierrors.NewForbidden(res.GroupResource(), m.GetName(), errors.New(
		"unable to create new content in namespace "+namespace+" because it is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: "namespace " + namespace + " is being terminated",
		Field:   "metadata.namespace",
	})
	return err
}

// checkDeletable refuses to delete the namespaces that every cluster needs (NS-04).
func checkDeletable(res *resource.Resource, name string) error {
	if !isNamespaces(res) {
		return nil
	}
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(namespacesResource, name, errors.New("this namespace may not be deleted"))
	}
	return nil
}

// terminateNamespace does to a namespace what the first delete does to it (NS-06). Those
// that follow change nothing, and are answered with the namespace (NS-08).
// What is in it is a controller's work.
func terminateNamespace(ns *corev1.Namespace, opts *metav1.DeleteOptions, now metav1.Time) {
	if ns.DeletionTimestamp != nil {
		return
	}
	markDeleted(ns, now)
	ns.DeletionGracePeriodSeconds = nil
	ns.Status.Phase = corev1.NamespaceTerminating
	if finalizers, changed := deletionFinalizers(ns.Finalizers, opts); changed {
		ns.Finalizers = finalizers
	}
}

// isNamespaceFinalized reports whether all who had to empty a terminating namespace
// have done so.
func isNamespaceFinalized(ns *corev1.Namespace) bool {
	return ns.DeletionTimestamp != nil && len(ns.Spec.Finalizers) == 0
}

// isNamespaceDeletable reports whether a namespace is to be removed: it is terminating,
// and neither its contents nor anybody's finalizers keep it (NS-07).
func isNamespaceDeletable(ns *corev1.Namespace) bool {
	return isNamespaceFinalized(ns) && len(ns.Finalizers) == 0
}
