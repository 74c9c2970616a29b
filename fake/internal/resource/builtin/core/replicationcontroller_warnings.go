package core

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func replicationControllerWarnings(rc *corev1.ReplicationController) []string {
	return append(validate.PodNamePrefixWarnings(rc.Name), replicationControllerTemplateWarnings(rc)...)
}

// replicationControllerUpdateWarnings returns the warnings for the template that is replaced, as a
// real server does.
func replicationControllerUpdateWarnings(rc, old *corev1.ReplicationController) []string {
	if rc.Generation == old.Generation {
		return nil
	}
	return replicationControllerTemplateWarnings(old)
}

func replicationControllerTemplateWarnings(rc *corev1.ReplicationController) []string {
	if rc.Spec.Template == nil {
		return nil
	}
	var root *validate.Path
	return PodTemplateWarnings(rc.Spec.Template, root.Child("spec").Child("template"))
}
