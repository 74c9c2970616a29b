package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// protectingFinalizers are the finalizers that keep objects while they are in use. Controllers of a
// cluster remove them.
var protectingFinalizers = map[schema.GroupResource]string{
	claims.GroupResource(): "kubernetes.io/pvc-protection",
	corev1.SchemeGroupVersion.WithResource("persistentvolumes").GroupResource():          "kubernetes.io/pv-protection",
	storagev1.SchemeGroupVersion.WithResource("volumeattributesclasses").GroupResource(): "kubernetes.io/vac-protection",
}

// storageObjectInUseProtection adds a finalizer to new claims, volumes and attributes classes.
type storageObjectInUseProtection struct{}

func newStorageObjectInUseProtection(Dependencies) admission.Interface {
	return storageObjectInUseProtection{}
}

func (storageObjectInUseProtection) Name() string { return "StorageObjectInUseProtection" }

func (storageObjectInUseProtection) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation == admissionv1.Create && attrs.Subresource == "" && protectingFinalizers[attrs.GroupResource()] != ""
}

func (storageObjectInUseProtection) Admit(_ context.Context, attrs *admission.Attributes) error {
	m, finalizer := resource.Accessor(attrs.Object), protectingFinalizers[attrs.GroupResource()]
	if !slices.Contains(m.GetFinalizers(), finalizer) {
		m.SetFinalizers(append(m.GetFinalizers(), finalizer))
	}
	return nil
}
