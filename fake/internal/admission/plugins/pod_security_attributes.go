package plugins

import (
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
)

// podSecurityAttributes are the attributes of a write in the form of the library.
type podSecurityAttributes struct {
	attrs *admission.Attributes
}

// GetName returns the name of the object.
func (a podSecurityAttributes) GetName() string { return a.attrs.Name }

// GetNamespace returns the namespace of the object, or the name of a namespace.
func (a podSecurityAttributes) GetNamespace() string { return a.attrs.Namespace }

// GetResource returns the resource of the path.
func (a podSecurityAttributes) GetResource() schema.GroupVersionResource {
	return a.attrs.RequestResource().GroupVersionResource()
}

// GetKind returns the kind of the body.
func (a podSecurityAttributes) GetKind() schema.GroupVersionKind {
	return a.attrs.Resource.GroupVersionKind()
}

// GetSubresource returns the subresource of the path.
func (a podSecurityAttributes) GetSubresource() string { return a.attrs.Subresource }

// GetOperation returns the operation.
func (a podSecurityAttributes) GetOperation() admissionv1.Operation { return a.attrs.Operation }

// GetObject returns the new object.
func (a podSecurityAttributes) GetObject() (runtime.Object, error) { return a.attrs.Object, nil }

// GetOldObject returns the stored object.
func (a podSecurityAttributes) GetOldObject() (runtime.Object, error) { return a.attrs.OldObject, nil }

// GetUserName returns the name of the user.
func (a podSecurityAttributes) GetUserName() string { return a.attrs.User.Username }
