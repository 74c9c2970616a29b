package clients

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// carefulRemover sends the uid of the object as a precondition. A conflict means that the name has
// been reused.
func carefulRemover(ctx context.Context, config *rest.Config) error {
	var uid types.UID
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		if uid == "" {
			o, err := maps.Get(ctx, "only", metav1.GetOptions{})
			if err != nil {
				return ignoreNotFound(err)
			}
			uid = o.UID
		}
		err := maps.Delete(ctx, "only", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		if apierrors.IsConflict(err) {
			return nil
		}
		return ignoreNotFound(err)
	})
}

// removerByName deletes by name and ignores NotFound.
func removerByName(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ignoreNotFound(maps.Delete(ctx, "only", metav1.DeleteOptions{}))
	})
}

// carelessRemover treats every response except success as an error.
func carelessRemover(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return maps.Delete(ctx, "only", metav1.DeleteOptions{})
	})
}

// ignoreNotFound returns nil if err is NotFound.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
