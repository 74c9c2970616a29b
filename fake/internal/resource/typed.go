package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
)

// Defaults returns f, which sets the defaults of the Go type of StorageVersion, as a SetDefaults.
func Defaults[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// OnCreate returns f as a PrepareForCreate.
func OnCreate[T runtime.Object](f func(ctx context.Context, obj T)) func(context.Context, runtime.Object) {
	return func(ctx context.Context, obj runtime.Object) { f(ctx, obj.(T)) }
}

// OnUpdate returns f as a PrepareForUpdate of a Resource or a Subresource.
func OnUpdate[T runtime.Object](f func(ctx context.Context, obj, old T)) func(ctx context.Context, obj, old runtime.Object) {
	return func(ctx context.Context, obj, old runtime.Object) { f(ctx, obj.(T), old.(T)) }
}
