package storage

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// csiNodeStatusSubresource keeps the spec and the metadata.
func csiNodeStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.PrepareForUpdate = resource.OnUpdate(prepareCSINodeStatus)
	return s
}

// prepareCSINodeStatus drops the field of the feature gate CSIVolumeHealth, which is off, unless
// old has it.
func prepareCSINodeStatus(_ context.Context, n, old *storagev1.CSINode) {
	n.Spec = old.Spec
	metav1.ResetObjectMetaForStatus(&n.ObjectMeta, &old.ObjectMeta)
	if len(old.Status.StorageHealth) == 0 {
		n.Status.StorageHealth = nil
	}
}
