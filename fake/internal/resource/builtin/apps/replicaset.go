package apps

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

func setReplicaSetDefaults(rs *appsv1.ReplicaSet) {
	if rs.Spec.Replicas == nil {
		rs.Spec.Replicas = new(int32(1))
	}
	core.SetDefaultsPodTemplateSpec(&rs.Spec.Template)
}

func prepareReplicaSetForCreate(_ context.Context, rs *appsv1.ReplicaSet) {
	core.DropDisabledTemplateFields(&rs.Spec.Template, nil)
}

func prepareReplicaSetForUpdate(_ context.Context, rs, old *appsv1.ReplicaSet) {
	core.DropDisabledTemplateFields(&rs.Spec.Template, &old.Spec.Template)
}
