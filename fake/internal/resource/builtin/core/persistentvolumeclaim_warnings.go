package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// persistentVolumeClaimWarnings returns the warnings for a claim.
func persistentVolumeClaimWarnings(pvc *corev1.PersistentVolumeClaim) []string {
	var root *validate.Path
	return append(storageClassAnnotationWarnings(pvc.Annotations), PersistentVolumeClaimSpecWarnings(&pvc.Spec, root.Child("spec"))...)
}

func persistentVolumeClaimUpdateWarnings(pvc, _ *corev1.PersistentVolumeClaim) []string {
	return persistentVolumeClaimWarnings(pvc)
}

// PersistentVolumeClaimSpecWarnings returns the warnings for the spec of a claim or of a template
// for one.
func PersistentVolumeClaimSpecWarnings(spec *corev1.PersistentVolumeClaimSpec, p *validate.Path) []string {
	resources := p.Child("resources")
	return append(fractionalBytesWarnings(spec.Resources.Requests, resources.Child("requests")),
		fractionalBytesWarnings(spec.Resources.Limits, resources.Child("limits"))...)
}

// fractionalBytesWarnings returns the warning for a size that is not a whole number of bytes.
func fractionalBytesWarnings(list corev1.ResourceList, p *validate.Path) []string {
	size := list[corev1.ResourceStorage]
	if size.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Key(string(corev1.ResourceStorage)).String(), size.String())}
}
