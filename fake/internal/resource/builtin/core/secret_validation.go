package core

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateSecret validates the keys and the size of a Secret's data, and the keys that its type
// requires.
func validateSecret(secret *corev1.Secret) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("data")
	total := 0
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		errs = append(errs, validateDataKey(key, p)...)
		total += len(secret.Data[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, p.TooLong(corev1.MaxSecretSize))
	}
	switch secret.Type {
	case corev1.SecretTypeServiceAccountToken:
		if secret.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, root.Child("metadata").Child("annotations").Key(corev1.ServiceAccountNameKey).Required(""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, validateSecretJSON(secret.Data, corev1.DockerConfigKey, p)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, validateSecretJSON(secret.Data, corev1.DockerConfigJsonKey, p)...)
	case corev1.SecretTypeBasicAuth:
		_, hasUser := secret.Data[corev1.BasicAuthUsernameKey]
		if _, hasPassword := secret.Data[corev1.BasicAuthPasswordKey]; !hasUser && !hasPassword {
			errs = append(errs, p.Key(corev1.BasicAuthUsernameKey).Required(""), p.Key(corev1.BasicAuthPasswordKey).Required(""))
		}
	case corev1.SecretTypeSSHAuth:
		if len(secret.Data[corev1.SSHAuthPrivateKey]) == 0 {
			errs = append(errs, p.Key(corev1.SSHAuthPrivateKey).Required(""))
		}
	case corev1.SecretTypeTLS:
		for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if _, ok := secret.Data[key]; !ok {
				errs = append(errs, p.Key(key).Required(""))
			}
		}
	}
	return errs
}

// validateSecretJSON validates that data has a key, and that its value is a JSON object.
func validateSecretJSON(data map[string][]byte, key string, p *validate.Path) field.ErrorList {
	text, ok := data[key]
	if !ok {
		return field.ErrorList{p.Key(key).Required("")}
	}
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		return field.ErrorList{p.Key(key).Invalid("<secret contents redacted>", err.Error())}
	}
	return nil
}

// validateSecretUpdate validates a Secret that replaces old.
func validateSecretUpdate(secret, old *corev1.Secret) field.ErrorList {
	var root *validate.Path
	errs := validate.Immutable(secret.Type, old.Type, root.Child("type"))
	if old.Immutable != nil && *old.Immutable {
		errs = append(errs, validateStaysImmutable(secret.Immutable, root)...)
		errs = append(errs, validateSameData(secret.Data, old.Data, root.Child("data"))...)
	}
	return append(errs, validateSecret(secret)...)
}
