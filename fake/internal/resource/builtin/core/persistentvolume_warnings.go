package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// persistentVolumeWarnings returns the warnings for a volume.
func persistentVolumeWarnings(pv *corev1.PersistentVolume) []string {
	var root *validate.Path
	p, spec := root.Child("spec"), &pv.Spec
	warnings := storageClassAnnotationWarnings(pv.Annotations)
	if _, ok := pv.Annotations[corev1.MountOptionAnnotation]; ok {
		warnings = append(warnings, fmt.Sprintf("%s: deprecated since v1.31; use \"mountOptions\" attribute instead",
			root.Child("metadata").Child("annotations").Key(corev1.MountOptionAnnotation)))
	}
	if spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		warnings = append(warnings, fmt.Sprintf("%s: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
			p.Child("persistentVolumeReclaimPolicy")))
	}
	if spec.NodeAffinity != nil && spec.NodeAffinity.Required != nil {
		terms := p.Child("nodeAffinity").Child("required").Child("nodeSelectorTerms")
		for i := range spec.NodeAffinity.Required.NodeSelectorTerms {
			warnings = append(warnings, nodeSelectorTermWarnings(&spec.NodeAffinity.Required.NodeSelectorTerms[i], terms.Index(i))...)
		}
	}
	for _, plugin := range []struct {
		isUsed                    bool
		name, deprecated, removed string
	}{
		{spec.CephFS != nil, "cephfs", "v1.28", "v1.31"},
		{spec.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11", "v1.16"},
		{spec.ScaleIO != nil, "scaleIO", "v1.16", "v1.22"},
		{spec.StorageOS != nil, "storageOS", "v1.22", "v1.25"},
		{spec.Glusterfs != nil, "glusterfs", "v1.25", "v1.26"},
		{spec.RBD != nil, "rbd", "v1.28", "v1.31"},
	} {
		if plugin.isUsed {
			warnings = append(warnings, fmt.Sprintf("%s: deprecated in %s, non-functional in %s+", p.Child(plugin.name), plugin.deprecated, plugin.removed))
		}
	}
	return warnings
}

// storageClassAnnotationWarnings returns the warning for the annotation that spec.storageClassName
// has replaced.
func storageClassAnnotationWarnings(annotations map[string]string) []string {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; !ok {
		return nil
	}
	var root *validate.Path
	return []string{fmt.Sprintf("%s: deprecated since v1.8; use \"storageClassName\" attribute instead",
		root.Child("metadata").Child("annotations").Key(corev1.BetaStorageClassAnnotation))}
}

func persistentVolumeUpdateWarnings(pv, _ *corev1.PersistentVolume) []string {
	return persistentVolumeWarnings(pv)
}
