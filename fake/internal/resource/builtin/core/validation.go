package core

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateConfigMap checks the keys of data and binaryData, that no key is in both, and the total
// size.
func validateConfigMap(_ context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	cm := obj.(*corev1.ConfigMap)
	errs := metadata
	total := 0
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		errs = append(errs, validateDataKey(field.NewPath("data"), key)...)
		if _, both := cm.BinaryData[key]; both {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		total += len(cm.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		errs = append(errs, validateDataKey(field.NewPath("binaryData"), key)...)
		total += len(cm.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

// validateConfigMapUpdate is validateConfigMap for an update.
func validateConfigMapUpdate(ctx context.Context, obj, _ runtime.Object, metadata field.ErrorList) field.ErrorList {
	return validateConfigMap(ctx, obj, metadata)
}

// validateSecretUpdate is validateSecret for an update.
func validateSecretUpdate(ctx context.Context, obj, _ runtime.Object, metadata field.ErrorList) field.ErrorList {
	return validateSecret(ctx, obj, metadata)
}

// validateSecret checks the keys and the size of a Secret's data.
func validateSecret(_ context.Context, obj runtime.Object, metadata field.ErrorList) field.ErrorList {
	secret := obj.(*corev1.Secret)
	errs := metadata
	total := 0
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		errs = append(errs, validateDataKey(field.NewPath("data"), key)...)
		total += len(secret.Data[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath("data"), "", corev1.MaxSecretSize))
	}
	return errs
}

func validateDataKey(path *field.Path, key string) (errs field.ErrorList) {
	for _, problem := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, problem))
	}
	return errs
}
