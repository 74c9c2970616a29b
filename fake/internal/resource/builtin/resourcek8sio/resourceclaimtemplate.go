package resourcek8sio

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
)

func setResourceClaimTemplateDefaults(t *resourcev1.ResourceClaimTemplate) {
	setRequestDefaults(t.Spec.Spec.Devices.Requests)
}

func prepareResourceClaimTemplateForCreate(_ context.Context, t *resourcev1.ResourceClaimTemplate) {
	dropDerivedAttributes(t.Spec.Spec.Devices.Requests, nil)
}

func prepareResourceClaimTemplateForUpdate(_ context.Context, t, old *resourcev1.ResourceClaimTemplate) {
	dropDerivedAttributes(t.Spec.Spec.Devices.Requests, old.Spec.Spec.Devices.Requests)
}
