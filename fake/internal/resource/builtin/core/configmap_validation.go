package core

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateConfigMap validates the keys of data and binaryData, that no key is in both, and the
// total size.
func validateConfigMap(cm *corev1.ConfigMap) (errs field.ErrorList) {
	var root *validate.Path
	data, binary := root.Child("data"), root.Child("binaryData")
	total := 0
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		errs = append(errs, validateDataKey(key, data)...)
		if _, both := cm.BinaryData[key]; both {
			errs = append(errs, data.Key(key).Invalid(key, "duplicate of key present in binaryData"))
		}
		total += len(cm.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		errs = append(errs, validateDataKey(key, binary)...)
		total += len(cm.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize)) // the whole object
	}
	return errs
}

// validateConfigMapUpdate validates a ConfigMap that replaces old.
func validateConfigMapUpdate(cm, old *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	if old.Immutable != nil && *old.Immutable {
		var root *validate.Path
		errs = append(errs, validateStaysImmutable(cm.Immutable, root)...)
		errs = append(errs, validateSameData(cm.Data, old.Data, root.Child("data"))...)
		errs = append(errs, validateSameData(cm.BinaryData, old.BinaryData, root.Child("binaryData"))...)
	}
	return append(errs, validateConfigMap(cm)...)
}

const immutableData = "field is immutable when `immutable` is set"

// validateStaysImmutable validates the field immutable of an object for which it was true.
func validateStaysImmutable(immutable *bool, root *validate.Path) field.ErrorList {
	if immutable != nil && *immutable {
		return nil
	}
	return field.ErrorList{root.Child("immutable").Forbidden(immutableData)}
}

// validateSameData validates the data of an object that is immutable. As on a real server, data
// without keys differs from no data.
func validateSameData[T any](data, old map[string]T, p *validate.Path) field.ErrorList {
	if reflect.DeepEqual(data, old) {
		return nil
	}
	return field.ErrorList{p.Forbidden(immutableData)}
}

// validateDataKey validates a key of the map with the path p.
func validateDataKey(key string, p *validate.Path) field.ErrorList {
	return validate.Messages(key, validation.IsConfigMapKey(key), p.Key(key))
}
