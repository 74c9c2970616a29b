package handlers

import (
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
)

var namespacesResource = schema.GroupResource{Resource: "namespaces"}

// isLocalReview reports whether res is the resource of LocalSubjectAccessReviews, which can be
// created in a namespace that does not exist (NS-10).
func isLocalReview(res *resource.Resource) bool {
	return res.GroupResource() == schema.GroupResource{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"}
}

// checkNamespaceActive returns an error for a new object in a namespace that does not exist (NS-01)
// or is terminating (NS-02), and for one whose CustomResourceDefinition is being deleted.
func (a *API) checkNamespaceActive(res *resource.Resource, namespace string, m metav1.Object) error {
	if a.types.IsTerminating(res) {
		return apierrors.NewForbidden(res.GroupResource(), m.GetName(), errors.New(
			"create not allowed while custom resource definition is terminating"))
	}
	if namespace == "" {
		return nil
	}
	rec := a.store.View().Get("namespaces/" + namespace)
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

// checkDeletable returns an error for the namespaces that every cluster has (NS-04).
func checkDeletable(res *resource.Resource, name string) error {
	if !rest.IsNamespaces(res) {
		return nil
	}
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(namespacesResource, name, errors.New("this namespace may not be deleted"))
	}
	return nil
}
