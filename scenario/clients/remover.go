package clients

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// carefulRemover names the uid of the object that it means. A conflict then says
// that another one has its name by now.
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

// removerByName deletes whatever has the name; that there is nothing is fine.
func removerByName(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ignoreNotFound(maps.Delete(ctx, "only", metav1.DeleteOptions{}))
	})
}

// carelessRemover takes every answer but success for an error.
func carelessRemover(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return maps.Delete(ctx, "only", metav1.DeleteOptions{})
	})
}

// ignoreNotFound takes NotFound for success.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
