package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateCSIStorageCapacity validates a new capacity.
func validateCSIStorageCapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	return validateCapacity(c, metav1validation.LabelSelectorValidationOptions{})
}

// validateCSIStorageCapacityUpdate validates a capacity that replaces old. The topology keeps the
// malformed values that it has.
func validateCSIStorageCapacityUpdate(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	var root *validate.Path
	var opts metav1validation.LabelSelectorValidationOptions
	opts.AllowInvalidLabelValueInSelector = len(validate.LabelSelector(old.NodeTopology, opts, root)) > 0
	errs := validateCapacity(c, opts)
	errs = append(errs, validate.Immutable(c.NodeTopology, old.NodeTopology, root.Child("nodeTopology"))...)
	return append(errs, validate.Immutable(c.StorageClassName, old.StorageClassName, root.Child("storageClassName"))...)
}

func validateCapacity(c *storagev1.CSIStorageCapacity, opts metav1validation.LabelSelectorValidationOptions) field.ErrorList {
	var root *validate.Path
	errs := validate.LabelSelector(c.NodeTopology, opts, root.Child("nodeTopology"))
	errs = append(errs, validate.DNSSubdomain(c.StorageClassName, root.Child("storageClassName"))...)
	if c.Capacity != nil && c.Capacity.Sign() < 0 {
		errs = append(errs, root.Child("capacity").Invalid(c.Capacity.String(), apivalidation.IsNegativeErrorMsg))
	}
	return errs
}
