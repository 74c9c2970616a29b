package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// The validation of tags validates the names of classes and of extended resources.

func validateDeviceClass(c *resourcev1.DeviceClass) field.ErrorList {
	return validateDeviceClassUpdate(c, &resourcev1.DeviceClass{})
}

// validateDeviceClassUpdate does not validate selectors that have not changed.
func validateDeviceClassUpdate(c, old *resourcev1.DeviceClass) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if !equality.Semantic.DeepEqual(c.Spec.Selectors, old.Spec.Selectors) {
		errs = validateSelectors(c.Spec.Selectors, p.Child("selectors"))
	}
	if len(c.Spec.Config) > resourcev1.DeviceConfigMaxSize {
		return errs
	}
	stored := equality.Semantic.DeepEqual(c.Spec.Config, old.Spec.Config)
	for i := range c.Spec.Config {
		errs = append(errs, validateConfiguration(&c.Spec.Config[i].DeviceConfiguration, stored, p.Child("config").Index(i))...)
	}
	return errs
}
