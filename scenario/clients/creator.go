package clients

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// carefulCreator creates "only". It assumes that no other client uses the name, so that an existing
// object is the result of an earlier attempt whose response was lost.
func carefulCreator(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		err := createOnly(ctx, maps)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// carelessCreator ignores lost responses.
func carelessCreator(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, createOnly)
}

// thoroughCreator checks that an existing object has its own mark and is not being deleted.
func thoroughCreator(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		only := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "only"}}
		metav1.SetMetaDataAnnotation(&only.ObjectMeta, "created-by", config.UserAgent)
		_, err := maps.Create(ctx, only, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		there, getErr := maps.Get(ctx, "only", metav1.GetOptions{})
		if getErr != nil {
			return getErr
		}
		if there.DeletionTimestamp == nil && there.Annotations["created-by"] == config.UserAgent {
			return nil
		}
		return err
	})
}

func createOnly(ctx context.Context, maps typedv1.ConfigMapInterface) error {
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "only"}}, metav1.CreateOptions{})
	return err
}

// carefulCounter sets a mark in the update that counts.
func carefulCounter(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return addOne(ctx, maps, config.UserAgent)
	})
}

// carelessCounter assumes that nothing was written if there is an error.
func carelessCounter(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return addOne(ctx, maps, "")
	})
}

// addOne adds one to "count", unless the object has the mark. mark may be "".
func addOne(ctx context.Context, maps typedv1.ConfigMapInterface, mark string) error {
	count, err := maps.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if mark != "" && count.Annotations["counted-by"] == mark {
		return nil
	}
	n, err := strconv.Atoi(count.Data["value"])
	if err != nil {
		return err
	}
	count.Data["value"] = strconv.Itoa(n + 1)
	if mark != "" {
		metav1.SetMetaDataAnnotation(&count.ObjectMeta, "counted-by", mark)
	}
	_, err = maps.Update(ctx, count, metav1.UpdateOptions{})
	return err
}

// retryInDefault retries do on the ConfigMaps of namespace "default".
func retryInDefault(ctx context.Context, config *rest.Config, do func(context.Context, typedv1.ConfigMapInterface) error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return retryOnError(ctx, func(ctx context.Context) error { return do(ctx, client.CoreV1().ConfigMaps("default")) })
}
