package core

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// setReplicationControllerDefaults takes the selector and the labels from the template if there are
// none.
func setReplicationControllerDefaults(rc *corev1.ReplicationController) {
	if t := rc.Spec.Template; t != nil && len(t.Labels) > 0 {
		if len(rc.Spec.Selector) == 0 {
			rc.Spec.Selector = maps.Clone(t.Labels)
		}
		if len(rc.Labels) == 0 {
			rc.Labels = maps.Clone(t.Labels)
		}
	}
	if rc.Spec.Replicas == nil {
		rc.Spec.Replicas = new(int32(1))
	}
	if rc.Spec.Template != nil {
		SetDefaultsPodTemplateSpec(rc.Spec.Template)
	}
}

func prepareReplicationControllerForCreate(_ context.Context, rc *corev1.ReplicationController) {
	if rc.Spec.Template != nil {
		DropDisabledTemplateFields(rc.Spec.Template, nil)
	}
}

func prepareReplicationControllerForUpdate(_ context.Context, rc, old *corev1.ReplicationController) {
	if rc.Spec.Template != nil {
		DropDisabledTemplateFields(rc.Spec.Template, old.Spec.Template)
	}
}
