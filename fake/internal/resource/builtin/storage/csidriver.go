package storage

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func setCSIDriverDefaults(d *storagev1.CSIDriver) {
	setBool(&d.Spec.AttachRequired, true)
	setBool(&d.Spec.PodInfoOnMount, false)
	setBool(&d.Spec.StorageCapacity, false)
	setBool(&d.Spec.RequiresRepublish, false)
	setBool(&d.Spec.SELinuxMount, false)
	setBool(&d.Spec.PreventPodSchedulingIfMissing, false)
	if d.Spec.FSGroupPolicy == nil {
		d.Spec.FSGroupPolicy = new(storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	}
	if len(d.Spec.VolumeLifecycleModes) == 0 {
		d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}

// prepareCSIDriverForUpdate counts changes of the spec. A new driver has the generation that the
// client sent, usually none.
func prepareCSIDriverForUpdate(_ context.Context, d, old *storagev1.CSIDriver) {
	if !equality.Semantic.DeepEqual(d.Spec, old.Spec) {
		d.Generation = old.Generation + 1
	}
}

// setBool sets a pointer that is nil to a new value.
func setBool(field **bool, value bool) {
	if *field == nil {
		*field = new(value)
	}
}
