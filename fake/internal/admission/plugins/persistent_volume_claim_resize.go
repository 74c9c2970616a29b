package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	volumehelper "k8s.io/component-helpers/storage/volume"

	"example.com/fakeapi/fake/internal/admission"
)

// persistentVolumeClaimResize refuses larger claims that are not bound, or whose storage class does
// not allow expansion.
type persistentVolumeClaimResize struct {
	objects Objects
}

func newPersistentVolumeClaimResize(d Dependencies) admission.Interface {
	return &persistentVolumeClaimResize{d.Objects}
}

func (p *persistentVolumeClaimResize) Name() string { return "PersistentVolumeClaimResize" }

func (p *persistentVolumeClaimResize) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, claims, admissionv1.Update)
}

func (p *persistentVolumeClaimResize) Validate(_ context.Context, attrs *admission.Attributes) error {
	claim, old := attrs.Object.(*corev1.PersistentVolumeClaim), attrs.OldObject.(*corev1.PersistentVolumeClaim)
	size, oldSize := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case size.Cmp(oldSize) <= 0:
	case old.Status.Phase != corev1.ClaimBound:
		return forbiddenf(attrs, "Only bound persistent volume claims can be expanded")
	case !p.allowsExpansion(claim, old):
		return forbiddenf(attrs, "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

func (p *persistentVolumeClaimResize) allowsExpansion(claim, old *corev1.PersistentVolumeClaim) bool {
	name := volumehelper.GetPersistentVolumeClaimClass(claim)
	if name == "" || name != volumehelper.GetPersistentVolumeClaimClass(old) {
		return false
	}
	obj, err := p.objects.Get(storageClasses, "", name)
	if err != nil {
		return false
	}
	allowed := obj.(*storagev1.StorageClass).AllowVolumeExpansion
	return allowed != nil && *allowed
}
