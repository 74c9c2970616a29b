package core

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// PodTemplateWarnings returns the warnings for the template of a workload. On an update a server
// asks for them only if the template has changed.
func PodTemplateWarnings(template *corev1.PodTemplateSpec, p *validate.Path) []string {
	return nil
}
