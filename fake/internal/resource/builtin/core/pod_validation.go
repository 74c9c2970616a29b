package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// PodValidationOptions are rules that depend on the object that an update replaces: what it has
// already stays valid. The zero value has the rules for new objects.
type PodValidationOptions struct{ containerOptions }

// PodTemplateValidationOptions returns the options for an update that replaces old, which is nil for
// a new template.
func PodTemplateValidationOptions(template, old *corev1.PodTemplateSpec) PodValidationOptions {
	return PodValidationOptions{}
}

// ValidatePodTemplateSpec validates the template of a workload: its metadata and the spec of its
// pods.
func ValidatePodTemplateSpec(template *corev1.PodTemplateSpec, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	return nil
}
