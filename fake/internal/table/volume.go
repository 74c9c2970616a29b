package table

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func volumePrinters() []entry {
	gv := corev1.SchemeGroupVersion
	return []entry{
		newEntry(gv, volumeCells,
			named(),
			text("Capacity", describes(corev1.PersistentVolumeSpec{}, "capacity")),
			text("Access Modes", describes(corev1.PersistentVolumeSpec{}, "accessModes")),
			text("Reclaim Policy", describes(corev1.PersistentVolumeSpec{}, "persistentVolumeReclaimPolicy")),
			text("Status", describes(corev1.PersistentVolumeStatus{}, "phase")),
			text("Claim", describes(corev1.PersistentVolumeSpec{}, "claimRef")),
			text("StorageClass", "StorageClass of the pv"),
			text("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
			text("Reason", describes(corev1.PersistentVolumeStatus{}, "reason")),
			age(),
			wide(text("VolumeMode", describes(corev1.PersistentVolumeSpec{}, "volumeMode"))),
		),
		newEntry(gv, claimCells,
			named(),
			text("Status", describes(corev1.PersistentVolumeClaimStatus{}, "phase")),
			text("Volume", describes(corev1.PersistentVolumeClaimSpec{}, "volumeName")),
			text("Capacity", describes(corev1.PersistentVolumeClaimStatus{}, "capacity")),
			text("Access Modes", describes(corev1.PersistentVolumeClaimStatus{}, "accessModes")),
			text("StorageClass", "StorageClass of the pvc"),
			text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
			age(),
			wide(text("VolumeMode", describes(corev1.PersistentVolumeClaimSpec{}, "volumeMode"))),
		),
	}
}

func volumeCells(v *corev1.PersistentVolume) []any {
	phase := orDefault(v.Status.Phase, string(corev1.VolumePending))
	if v.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	claim := ""
	if ref := v.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	return []any{
		v.Name, size.String(), accessModes(v.Spec.AccessModes),
		orDefault(v.Spec.PersistentVolumeReclaimPolicy, string(corev1.PersistentVolumeReclaimRetain)),
		phase, claim, storageClass(v.Annotations, v.Spec.StorageClassName),
		ptr.Deref(v.Spec.VolumeAttributesClassName, unset), v.Status.Reason, since(v.CreationTimestamp),
		string(ptr.Deref(v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)),
	}
}

func claimCells(c *corev1.PersistentVolumeClaim) []any {
	phase := orDefault(c.Status.Phase, string(corev1.ClaimPending))
	if c.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	capacity, modes := "", ""
	if c.Spec.VolumeName != "" {
		size := c.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = size.String(), accessModes(c.Status.AccessModes)
	}
	return []any{
		c.Name, phase, c.Spec.VolumeName, capacity, modes,
		storageClass(c.Annotations, ptr.Deref(c.Spec.StorageClassName, "")),
		ptr.Deref(c.Spec.VolumeAttributesClassName, unset), since(c.CreationTimestamp),
		string(ptr.Deref(c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)),
	}
}

// storageClass returns the storage class of an object, from its annotation or its spec.
func storageClass(annotations map[string]string, name string) string {
	if class, found := annotations[corev1.BetaStorageClassAnnotation]; found {
		return class
	}
	return name
}

// accessModes returns the abbreviations of the modes without duplicates.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, known := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"},
		{corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, known.mode) {
			short = append(short, known.short)
		}
	}
	return strings.Join(short, ",")
}
