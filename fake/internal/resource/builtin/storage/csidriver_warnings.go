package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// csiDriverWarnings returns the warning for a driver whose tokens are not sent as secrets because
// the field for it is not set (KEP-5538).
func csiDriverWarnings(d *storagev1.CSIDriver) []string {
	if len(d.Spec.TokenRequests) == 0 || d.Spec.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, " +
		"set to true to prevent possible logging of tokens in volume attributes"}
}

// csiDriverUpdateWarnings returns warnings only for changes of the requested tokens.
func csiDriverUpdateWarnings(d, old *storagev1.CSIDriver) []string {
	if equality.Semantic.DeepEqual(d.Spec.TokenRequests, old.Spec.TokenRequests) {
		return nil
	}
	return csiDriverWarnings(d)
}
