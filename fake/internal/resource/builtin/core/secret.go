package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func setSecretDefaults(secret *corev1.Secret) {
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
}

// canonicalizeSecret moves stringData, which is never stored, into data, where it overrides equal
// keys. A value of null is an empty one.
func canonicalizeSecret(obj runtime.Object) {
	secret := obj.(*corev1.Secret)
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	setEmptyValues(secret.Data)
}
