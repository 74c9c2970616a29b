package clients

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// conflictCounter follows client-go's documentation of RetryOnConflict. It retries conflicts and
// returns other errors.
func conflictCounter(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return addOne(ctx, client.CoreV1().ConfigMaps("default"), "")
	})
}

// blindCounter patches the computed sum, even if the object has changed since it was read.
func blindCounter(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		count, err := maps.Get(ctx, "count", metav1.GetOptions{})
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(count.Data["value"])
		if err != nil {
			return err
		}
		patch := fmt.Sprintf(`{"data":{"value":"%d"}}`, n+1)
		_, err = maps.Patch(ctx, "count", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}
