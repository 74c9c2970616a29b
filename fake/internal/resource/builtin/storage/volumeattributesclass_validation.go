package storage

import (
	"maps"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateVolumeAttributesClass validates a class, which has a driver and parameters.
func validateVolumeAttributesClass(c *storagev1.VolumeAttributesClass) (errs field.ErrorList) {
	var root *validate.Path
	if c.DriverName == "" {
		errs = append(errs, root.Child("driverName").Required(""))
	} else {
		errs = append(errs, validateProvisioner(c.DriverName, root.Child("driverName"))...)
	}
	errs = append(errs, validateParameters(c.Parameters, root.Child("parameters"))...)
	if len(c.Parameters) == 0 {
		errs = append(errs, root.Child("parameters").Required("must contain at least one key/value pair"))
	}
	return errs
}

// validateVolumeAttributesClassUpdate validates that the class has not changed.
func validateVolumeAttributesClassUpdate(c, old *storagev1.VolumeAttributesClass) (errs field.ErrorList) {
	var root *validate.Path
	if c.DriverName != old.DriverName {
		errs = append(errs, root.Child("driverName").Forbidden("updates to driverName are forbidden."))
	}
	if !maps.Equal(c.Parameters, old.Parameters) {
		errs = append(errs, root.Child("parameters").Forbidden("updates to parameters are forbidden."))
	}
	return append(errs, validateVolumeAttributesClass(c)...)
}
