package clients

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// carefulParent looks for its child in a list that is current, before each attempt.
func carefulParent(ctx context.Context, config *rest.Config) error {
	return inDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ensureChild(ctx, maps, "")
	})
}

// cachedParent looks as controllers do that read from a cache: any revision will do.
func cachedParent(ctx context.Context, config *rest.Config) error {
	return inDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		return ensureChild(ctx, maps, "0")
	})
}

// carelessParent looks once, before its first attempt.
func carelessParent(ctx context.Context, config *rest.Config) error {
	there := false
	err := inDefault(ctx, config, func(ctx context.Context, maps typedv1.ConfigMapInterface) (err error) {
		there, err = hasChild(ctx, maps, "")
		return err
	})
	if err != nil || there {
		return err
	}
	return inDefault(ctx, config, createChild)
}

// ensureChild creates a child unless there is one at a revision; "" is the current
// one, "0" any.
func ensureChild(ctx context.Context, maps typedv1.ConfigMapInterface, revision string) error {
	if there, err := hasChild(ctx, maps, revision); err != nil || there {
		return err
	}
	return createChild(ctx, maps)
}

func hasChild(ctx context.Context, maps typedv1.ConfigMapInterface, revision string) (bool, error) {
	children, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "child=true", ResourceVersion: revision})
	if err != nil {
		return false, err
	}
	return len(children.Items) > 0, nil
}

func createChild(ctx context.Context, maps typedv1.ConfigMapInterface) error {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "child-", Labels: map[string]string{"child": "true"}}}
	_, err := maps.Create(ctx, child, metav1.CreateOptions{})
	return err
}
