package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// SetDefaultsPodTemplateSpec sets the defaults of the pods that a workload creates. A pod has more:
// its requests, its host ports and enableServiceLinks are set when it is created.
func SetDefaultsPodTemplateSpec(t *corev1.PodTemplateSpec) {
	setPodSpecDefaults(&t.Spec)
	DropInitContainerAnnotations(t.Annotations)
}

// DropDisabledTemplateFields removes the fields of features that are off, unless the old template
// uses them. old is nil for a new object.
func DropDisabledTemplateFields(t, old *corev1.PodTemplateSpec) {
	if old == nil {
		dropDisabledPodSpecFields(&t.Spec, nil)
		return
	}
	dropDisabledPodSpecFields(&t.Spec, &old.Spec)
}

func setPodTemplateDefaults(t *corev1.PodTemplate) { SetDefaultsPodTemplateSpec(&t.Template) }

func preparePodTemplateForCreate(_ context.Context, t *corev1.PodTemplate) {
	DropDisabledTemplateFields(&t.Template, nil)
}

func preparePodTemplateForUpdate(_ context.Context, t, old *corev1.PodTemplate) {
	DropDisabledTemplateFields(&t.Template, &old.Template)
}

// DropInitContainerAnnotations removes the annotations that pods had before they had init
// containers.
func DropInitContainerAnnotations(annotations map[string]string) {
	if len(annotations) == 0 {
		return
	}
	for _, name := range []string{"init-containers", "init-container-statuses"} {
		delete(annotations, "pod.beta.kubernetes.io/"+name)
		delete(annotations, "pod.alpha.kubernetes.io/"+name)
	}
}
