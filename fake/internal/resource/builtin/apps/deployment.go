package apps

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

func setDeploymentDefaults(d *appsv1.Deployment) {
	if d.Spec.Replicas == nil {
		d.Spec.Replicas = new(int32(1))
	}
	strategy := &d.Spec.Strategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if strategy.RollingUpdate == nil {
			strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		if strategy.RollingUpdate.MaxUnavailable == nil {
			strategy.RollingUpdate.MaxUnavailable = new(intstr.FromString("25%"))
		}
		if strategy.RollingUpdate.MaxSurge == nil {
			strategy.RollingUpdate.MaxSurge = new(intstr.FromString("25%"))
		}
	}
	if d.Spec.RevisionHistoryLimit == nil {
		d.Spec.RevisionHistoryLimit = new(int32(10))
	}
	if d.Spec.ProgressDeadlineSeconds == nil {
		d.Spec.ProgressDeadlineSeconds = new(int32(600))
	}
	core.SetDefaultsPodTemplateSpec(&d.Spec.Template)
}

func prepareDeploymentForCreate(_ context.Context, d *appsv1.Deployment) {
	core.DropDisabledTemplateFields(&d.Spec.Template, nil)
}

func prepareDeploymentForUpdate(_ context.Context, d, old *appsv1.Deployment) {
	core.DropDisabledTemplateFields(&d.Spec.Template, &old.Spec.Template)
}

// The revision to roll back to was a field of the spec before apps/v1, and is an annotation now.

// checkDeployment returns the error for a revision that is not a number.
func checkDeployment(d *appsv1.Deployment) error {
	_, err := rollbackTo(d)
	return err
}

// canonicalizeDeployment writes the revision as the conversion of a real server does.
func canonicalizeDeployment(d *appsv1.Deployment) { setRollbackTo(d, d) }

// deploymentStatusSubresource keeps the revision to roll back to.
func deploymentStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata.labels")
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, d, old *appsv1.Deployment) {
		d.Spec, d.Labels = old.Spec, old.Labels
		setRollbackTo(d, old)
	})
	return s
}

// rollbackTo returns the revision to roll back to, nil if there is none.
func rollbackTo(d *appsv1.Deployment) (*int64, error) {
	text := d.Annotations[appsv1.DeprecatedRollbackTo]
	if text == "" {
		return nil, nil
	}
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("failed to parse annotation[%s]=%s as int64: %w", appsv1.DeprecatedRollbackTo, text, err)
	}
	return &revision, nil
}

// setRollbackTo sets the revision of d to that of another Deployment.
func setRollbackTo(d, from *appsv1.Deployment) {
	revision, err := rollbackTo(from)
	if err != nil || revision == nil {
		delete(d.Annotations, appsv1.DeprecatedRollbackTo)
		return
	}
	setNumber(&d.ObjectMeta, appsv1.DeprecatedRollbackTo, *revision)
}
