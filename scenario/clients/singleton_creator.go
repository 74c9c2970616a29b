package clients

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// carefulSingletonCreator looks for the object in a current list before each attempt.
func carefulSingletonCreator(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ensureSingleton(ctx, maps, "")
	})
}

// cachedSingletonCreator lists at any resourceVersion, as a controller that reads from a cache.
func cachedSingletonCreator(ctx context.Context, config *rest.Config) error {
	return retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ensureSingleton(ctx, maps, "0")
	})
}

// carelessSingletonCreator lists once, before its first attempt.
func carelessSingletonCreator(ctx context.Context, config *rest.Config) error {
	there := false
	err := retryInDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) (err error) {
		there, err = hasSingleton(ctx, maps, "")
		return err
	})
	if err != nil || there {
		return err
	}
	return retryInDefault(ctx, config, createSingleton)
}

// ensureSingleton creates an object unless a list at revision has one. revision is "" for the
// current state or "0" for any.
func ensureSingleton(ctx context.Context, maps typedv1.ConfigMapInterface, revision string) error {
	if there, err := hasSingleton(ctx, maps, revision); err != nil || there {
		return err
	}
	return createSingleton(ctx, maps)
}

func hasSingleton(ctx context.Context, maps typedv1.ConfigMapInterface, revision string) (bool, error) {
	children, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "child=true", ResourceVersion: revision})
	if err != nil {
		return false, err
	}
	return len(children.Items) > 0, nil
}

func createSingleton(ctx context.Context, maps typedv1.ConfigMapInterface) error {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "child-", Labels: map[string]string{"child": "true"}}}
	_, err := maps.Create(ctx, child, metav1.CreateOptions{})
	return err
}
