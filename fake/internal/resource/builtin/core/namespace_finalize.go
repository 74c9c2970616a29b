package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// finalizeSubresource writes spec.finalizers, which no other request can change. The namespace
// controller removes its finalizer when the namespace is empty (NS-07).
func finalizeSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "finalize", Verbs: []string{"update"},
		ResetFields:      []string{"status"},
		PrepareForUpdate: resource.OnUpdate(prepareNamespaceFinalizeForUpdate),
		ValidateUpdate:   resource.UpdateValidation(validateNamespaceFinalizeUpdate),
	}
}

func prepareNamespaceFinalizeForUpdate(_ context.Context, ns, old *corev1.Namespace) {
	ns.Status = old.Status
}
