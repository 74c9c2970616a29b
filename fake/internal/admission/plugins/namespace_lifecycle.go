package plugins

import (
	"context"
	"errors"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
)

var localReviews = schema.GroupResource{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"}

// namespaceLifecycle refuses objects in a namespace that does not exist (NS-01) or is terminating
// (NS-02), and the deletion of the namespaces that every cluster has (NS-04).
type namespaceLifecycle struct {
	objects Objects
}

func newNamespaceLifecycle(d Dependencies) admission.Interface { return &namespaceLifecycle{d.Objects} }

func (p *namespaceLifecycle) Name() string { return "NamespaceLifecycle" }

// Handles reports whether a write creates something in a namespace or deletes a namespace.
// LocalSubjectAccessReviews may be created in any namespace (NS-10).
func (p *namespaceLifecycle) Handles(attrs *admission.Attributes) bool {
	switch attrs.Operation {
	case admissionv1.Create:
		return attrs.RequestResource().Namespaced && attrs.Namespace != "" && attrs.GroupResource() != localReviews
	case admissionv1.Delete:
		return attrs.GroupResource() == namespaces.GroupResource()
	}
	return false
}

func (p *namespaceLifecycle) Admit(_ context.Context, attrs *admission.Attributes) error {
	if attrs.Operation == admissionv1.Delete {
		return checkDeletable(attrs.Name)
	}
	rec := p.objects.Record(namespaces, "", attrs.Namespace)
	if rec == nil {
		return apierrors.NewNotFound(namespaces.GroupResource(), attrs.Namespace)
	}
	if phase, _ := rec.Fields.Get("status.phase"); phase != string(corev1.NamespaceTerminating) {
		return nil
	}
	name := attrs.Namespace
	refusal := forbiddenf(attrs, "unable to create new content in namespace %s because it is being terminated", name)
	return withCause(refusal, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: "namespace " + name + " is being terminated",
		Field:   "metadata.namespace",
	})
}

// checkDeletable returns an error for the namespaces that every cluster has.
func checkDeletable(name string) error {
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(namespaces.GroupResource(), name, errors.New("this namespace may not be deleted"))
	}
	return nil
}
