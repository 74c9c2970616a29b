package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStorageClassDefaults(t *testing.T) {
	c := &storagev1.StorageClass{}
	setStorageClassDefaults(c)
	require.Equal(t, &storagev1.StorageClass{
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: new(storagev1.VolumeBindingImmediate),
	}, c)
	chosen := &storagev1.StorageClass{
		ReclaimPolicy: new(corev1.PersistentVolumeReclaimRetain), VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}
	want := chosen.DeepCopy()
	setStorageClassDefaults(chosen)
	require.Equal(t, want, chosen)
}

func TestCSIDriverDefaults(t *testing.T) {
	d := &storagev1.CSIDriver{}
	setCSIDriverDefaults(d)
	require.Equal(t, storagev1.CSIDriverSpec{
		AttachRequired: new(true), PodInfoOnMount: new(false), StorageCapacity: new(false), RequiresRepublish: new(false),
		SELinuxMount: new(false), PreventPodSchedulingIfMissing: new(false),
		FSGroupPolicy:        new(storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy),
		VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
	}, d.Spec)
	*d.Spec.AttachRequired = false
	d.Spec.VolumeLifecycleModes[0] = storagev1.VolumeLifecycleEphemeral
	setCSIDriverDefaults(d)
	require.False(t, *d.Spec.AttachRequired)
	require.Equal(t, []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecycleEphemeral}, d.Spec.VolumeLifecycleModes)
}

func TestCSINodeStatus(t *testing.T) {
	health := []storagev1.StorageHealth{{Name: "d"}}
	old := &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d"}}}}
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Status: storagev1.CSINodeStatus{StorageHealth: health}}
	prepareCSINodeStatus(t.Context(), n, old)
	require.Equal(t, old, n)

	old.Status.StorageHealth = health
	n.Status.StorageHealth = append(health, storagev1.StorageHealth{Name: "e"})
	prepareCSINodeStatus(t.Context(), n, old)
	require.Len(t, n.Status.StorageHealth, 2, "the field stays in use")
}
