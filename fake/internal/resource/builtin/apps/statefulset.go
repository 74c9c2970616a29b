package apps

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

func setStatefulSetDefaults(s *appsv1.StatefulSet) {
	if s.Spec.PodManagementPolicy == "" {
		s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	setStatefulSetUpdateStrategyDefaults(&s.Spec.UpdateStrategy)
	if s.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	retention := s.Spec.PersistentVolumeClaimRetentionPolicy
	if retention.WhenDeleted == "" {
		retention.WhenDeleted = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if retention.WhenScaled == "" {
		retention.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if s.Spec.Replicas == nil {
		s.Spec.Replicas = new(int32(1))
	}
	if s.Spec.RevisionHistoryLimit == nil {
		s.Spec.RevisionHistoryLimit = new(int32(10))
	}
	core.SetDefaultsPodTemplateSpec(&s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		setVolumeClaimTemplateDefaults(&s.Spec.VolumeClaimTemplates[i])
	}
}

// setStatefulSetUpdateStrategyDefaults sets the defaults of an update strategy. One of type
// RollingUpdate by name may have no parameters.
func setStatefulSetUpdateStrategyDefaults(strategy *appsv1.StatefulSetUpdateStrategy) {
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if strategy.RollingUpdate == nil {
			strategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	update := strategy.RollingUpdate
	if update == nil {
		return
	}
	if update.Partition == nil {
		update.Partition = new(int32(0))
	}
	if update.MaxUnavailable == nil && strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		update.MaxUnavailable = new(intstr.FromInt32(1))
	}
}

// setVolumeClaimTemplateDefaults sets the defaults of a template, which is stored as a whole claim.
func setVolumeClaimTemplateDefaults(pvc *corev1.PersistentVolumeClaim) {
	pvc.APIVersion, pvc.Kind = "v1", "PersistentVolumeClaim"
	core.SetDefaultsPersistentVolumeClaim(pvc)
}

func prepareStatefulSetForCreate(_ context.Context, s *appsv1.StatefulSet) {
	core.DropDisabledTemplateFields(&s.Spec.Template, nil)
}

func prepareStatefulSetForUpdate(_ context.Context, s, old *appsv1.StatefulSet) {
	core.DropDisabledTemplateFields(&s.Spec.Template, &old.Spec.Template)
}
