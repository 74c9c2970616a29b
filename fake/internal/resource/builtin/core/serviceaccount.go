package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

func prepareServiceAccountForCreate(_ context.Context, sa *corev1.ServiceAccount) {
	cleanSecretReferences(sa)
}

func prepareServiceAccountForUpdate(_ context.Context, sa, _ *corev1.ServiceAccount) {
	cleanSecretReferences(sa)
}

// cleanSecretReferences removes everything but the names from the references to secrets, which are
// in the namespace of the account.
func cleanSecretReferences(sa *corev1.ServiceAccount) {
	for i := range sa.Secrets {
		sa.Secrets[i] = corev1.ObjectReference{Name: sa.Secrets[i].Name}
	}
}
