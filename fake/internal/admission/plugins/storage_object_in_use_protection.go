package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// storageObjectInUseProtection adds a finalizer to new claims, volumes and attributes classes.
type storageObjectInUseProtection struct{}

func newStorageObjectInUseProtection(Dependencies) admission.Interface {
	return storageObjectInUseProtection{}
}

func (storageObjectInUseProtection) Name() string { return "StorageObjectInUseProtection" }

func (storageObjectInUseProtection) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation == admissionv1.Create && attrs.Subresource == "" && attrs.Resource.ProtectionFinalizer != ""
}

func (storageObjectInUseProtection) Admit(_ context.Context, attrs *admission.Attributes) error {
	m, finalizer := resource.Accessor(attrs.Object), attrs.Resource.ProtectionFinalizer
	if !slices.Contains(m.GetFinalizers(), finalizer) {
		m.SetFinalizers(append(m.GetFinalizers(), finalizer))
	}
	return nil
}
