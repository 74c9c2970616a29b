package resource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

type namespaceKey struct{}

// WithNamespace returns ctx with get, which returns the namespace of the object that is validated.
func WithNamespace(ctx context.Context, get func() (*corev1.Namespace, error)) context.Context {
	return context.WithValue(ctx, namespaceKey{}, get)
}

// NamespaceFrom returns the namespace of the object that is validated, for types with
// ReadsNamespace. It is nil if ctx has none, as for objects that are loaded at the start.
func NamespaceFrom(ctx context.Context) (*corev1.Namespace, error) {
	get, ok := ctx.Value(namespaceKey{}).(func() (*corev1.Namespace, error))
	if !ok {
		return nil, nil
	}
	return get()
}
