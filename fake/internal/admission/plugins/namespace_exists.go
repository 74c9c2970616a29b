package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/admission"
)

// namespaceExists refuses all writes in namespaces that do not exist.
type namespaceExists struct {
	objects Objects
}

func newNamespaceExists(d Dependencies) admission.Interface { return &namespaceExists{d.Objects} }

func (p *namespaceExists) Name() string { return "NamespaceExists" }

func (p *namespaceExists) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation != admissionv1.Connect && attrs.RequestResource().Namespaced
}

func (p *namespaceExists) Validate(_ context.Context, attrs *admission.Attributes) error {
	if p.objects.Record(namespaces, "", attrs.Namespace) == nil {
		return apierrors.NewNotFound(namespaces.GroupResource(), attrs.Namespace)
	}
	return nil
}
