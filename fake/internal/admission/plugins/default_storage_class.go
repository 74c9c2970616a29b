package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	volumehelper "k8s.io/component-helpers/storage/volume"

	"example.com/fakeapi/fake/internal/admission"
)

var storageClasses = storagev1.SchemeGroupVersion.WithResource("storageclasses")

// defaultStorageClass sets the storage class of claims without one.
type defaultStorageClass struct {
	objects Objects
}

func newDefaultStorageClass(d Dependencies) admission.Interface {
	return &defaultStorageClass{d.Objects}
}

func (p *defaultStorageClass) Name() string { return "DefaultStorageClass" }

func (p *defaultStorageClass) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, claims, admissionv1.Create)
}

func (p *defaultStorageClass) Admit(_ context.Context, attrs *admission.Attributes) error {
	claim := attrs.Object.(*corev1.PersistentVolumeClaim)
	if volumehelper.PersistentVolumeClaimHasClass(claim) {
		return nil
	}
	name, err := newestDefault(p.objects, storageClasses,
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	if err != nil {
		return forbidden(attrs, err)
	}
	claim.Spec.StorageClassName = name
	return nil
}
