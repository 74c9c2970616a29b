package core

import corev1 "k8s.io/api/core/v1"

func serviceAccountWarnings(sa *corev1.ServiceAccount) []string {
	return serviceAccountWarningsOnUpdate(sa, &corev1.ServiceAccount{})
}

// serviceAccountWarningsOnUpdate returns a warning for a deprecated annotation that old does not
// have.
func serviceAccountWarningsOnUpdate(sa, old *corev1.ServiceAccount) []string {
	const annotation = "kubernetes.io/enforce-mountable-secrets"
	if _, ok := old.Annotations[annotation]; ok {
		return nil
	}
	if _, ok := sa.Annotations[annotation]; !ok {
		return nil
	}
	return []string{"metadata.annotations[" + annotation + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}
