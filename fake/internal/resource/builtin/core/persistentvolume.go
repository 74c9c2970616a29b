package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

func setPersistentVolumeDefaults(pv *corev1.PersistentVolume) {
	if pv.Status.Phase == "" {
		pv.Status.Phase = corev1.VolumePending
	}
	SetDefaultsPersistentVolumeSpec(&pv.Spec)
	if pv.Spec.PersistentVolumeReclaimPolicy == "" {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	if pv.Spec.VolumeMode == nil {
		pv.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	}
}

// SetDefaultsPersistentVolumeSpec sets the defaults of a volume that a VolumeAttachment has inline:
// those of its source, and not its reclaim policy and mode.
func SetDefaultsPersistentVolumeSpec(spec *corev1.PersistentVolumeSpec) {
	setResourceListDefaults(spec.Capacity)
	setHostPathDefaults(spec.HostPath)
	if spec.ISCSI != nil {
		setString(&spec.ISCSI.ISCSIInterface, defaultISCSIInterface)
	}
	if spec.RBD != nil {
		setRBDDefaults(&spec.RBD.RBDPool, &spec.RBD.RadosUser, &spec.RBD.Keyring)
	}
	setAzureDiskDefaults(spec.AzureDisk)
	if spec.ScaleIO != nil {
		setScaleIODefaults(&spec.ScaleIO.StorageMode, &spec.ScaleIO.FSType)
	}
}

// preparePersistentVolumeForCreate sets the status of a new volume (KEP-3762).
func preparePersistentVolumeForCreate(_ context.Context, pv *corev1.PersistentVolume) {
	pv.Status.Phase = corev1.VolumePending
	pv.Status.LastPhaseTransitionTime = new(pv.CreationTimestamp)
}

// persistentVolumeStatusSubresource sets the time of a change of the phase, unless the client has
// done so.
func persistentVolumeStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, pv, old *corev1.PersistentVolume) {
		pv.Spec = old.Spec
		status, before := &pv.Status, &old.Status
		at := status.LastPhaseTransitionTime
		switch {
		case status.Phase == before.Phase && at == nil:
			status.LastPhaseTransitionTime = before.LastPhaseTransitionTime
		case status.Phase != before.Phase && (at == nil || at.Equal(before.LastPhaseTransitionTime)):
			status.LastPhaseTransitionTime = new(metav1.Now().Rfc3339Copy())
		}
	})
	return s
}
