package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validatePodContainers validates the containers, the init containers and the ephemeral containers
// of a pod. p is the path of the spec.
func validatePodContainers(spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	return nil
}

// validatePodVolumes validates the volumes of a pod. meta is the metadata of the pod or of its
// template, and p the path of the spec.
func validatePodVolumes(spec *corev1.PodSpec, meta *metav1.ObjectMeta, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	return nil
}
