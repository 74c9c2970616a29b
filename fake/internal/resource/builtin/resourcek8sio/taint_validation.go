package resourcek8sio

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateDeviceTaintRule(r *resourcev1.DeviceTaintRule) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if s := r.Spec.DeviceSelector; s != nil {
		at := p.Child("deviceSelector")
		if s.Driver != nil {
			errs = append(errs, core.ValidateCSIDriverName(*s.Driver, at.Child("driver"))...)
		}
		if s.Pool != nil {
			errs = append(errs, validatePoolName(*s.Pool, at.Child("pool"))...)
		}
		if s.Device != nil {
			errs = append(errs, validate.DNSLabel(*s.Device, at.Child("device"))...)
		}
	}
	return append(errs, validateTaint(&r.Spec.Taint, p.Child("taint"))...)
}

func validateDeviceTaintRuleUpdate(r, _ *resourcev1.DeviceTaintRule) field.ErrorList {
	return validateDeviceTaintRule(r)
}

func validateDeviceTaintRuleStatusUpdate(r, _ *resourcev1.DeviceTaintRule) field.ErrorList {
	var root *validate.Path
	path := root.Child("status").Child("conditions")
	errs := metav1validation.ValidateConditions(r.Status.Conditions, path.Field())
	if n := len(r.Status.Conditions); n > resourcev1.DeviceTaintRuleStatusMaxConditions {
		errs = append(errs, path.TooMany(n, resourcev1.DeviceTaintRuleStatusMaxConditions))
	}
	return errs
}

// validateTaint validates the key and the value of a taint. The validation of tags validates its
// effect.
func validateTaint(t *resourcev1.DeviceTaint, p *validate.Path) field.ErrorList {
	errs := validate.LabelName(t.Key, p.Child("key"))
	return append(errs, validate.Messages(t.Value, validation.IsValidLabelValue(t.Value), p.Child("value"))...)
}
