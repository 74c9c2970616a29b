package clients

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// carefulDeletionHandler gets an object from the server to check whether it was deleted.
func carefulDeletionHandler(ctx context.Context, config *rest.Config) error {
	name := func(obj any) (string, bool) {
		name, err := cache.DeletionHandlingObjectToName(obj)
		return name.Name, err == nil
	}
	return runDeletionHandler(ctx, config, name, func(ctx context.Context, client kubernetes.Interface, name string) (bool, error) {
		_, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

// carelessDeletionHandler trusts DELETED events and ignores tombstones.
func carelessDeletionHandler(ctx context.Context, config *rest.Config) error {
	name := func(obj any) (string, bool) {
		o, ok := obj.(*corev1.ConfigMap) // not a cache.DeletedFinalStateUnknown
		if !ok {
			return "", false
		}
		return o.Name, true
	}
	return runDeletionHandler(ctx, config, name, func(context.Context, kubernetes.Interface, string) (bool, error) { return true, nil })
}

// runDeletionHandler runs a deletion handler with an informer that has a selector. name returns the
// name of an object that the informer has removed, or false to ignore it. gone reports whether the
// object was deleted.
func runDeletionHandler(ctx context.Context, config *rest.Config, name func(obj any) (string, bool), gone func(context.Context, kubernetes.Interface, string) (bool, error)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	queue := newQueue(ctx)
	informer := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "watch-deletes=true" }),
	).Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if lost, ok := name(obj); ok {
			queue.Add(lost)
		}
	}})
	if err != nil {
		return err
	}
	return runSynced(ctx, informer, func() {
		processQueue(ctx, queue, func(ctx context.Context, name string) error {
			yes, err := gone(ctx, client, name)
			if err != nil || !yes {
				return err
			}
			marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err = client.CoreV1().ConfigMaps("mirror").Create(ctx, marker, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	})
}
