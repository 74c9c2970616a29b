package core

import (
	"crypto/tls"

	corev1 "k8s.io/api/core/v1"
)

func secretWarningsOnUpdate(secret, _ *corev1.Secret) []string { return secretWarnings(secret) }

// secretWarnings returns a warning for a certificate that cannot be used with its key.
func secretWarnings(secret *corev1.Secret) []string {
	if secret.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
