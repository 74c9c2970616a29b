package catalogue_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	sourceNamespace = "default"
	copyNamespace   = "mirror"
)

// mirror is a mirror based on a manager, with a cache of the ConfigMaps of one namespace and a
// reconciler that copies them.
func mirror(ctx context.Context, cfg *rest.Config) error {
	options := managerOptions()
	options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{sourceNamespace: {}}}
	return runManagers(ctx, options, cfg, func(_ context.Context, mgr ctrl.Manager) error {
		copies, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
		if err != nil {
			return err
		}
		leftovers := make(chan event.GenericEvent)
		if err := mgr.Add(enqueueCopies(copies, leftovers)); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).
			For(&corev1.ConfigMap{}).
			WatchesRawSource(source.Channel(leftovers, &handler.EnqueueRequestForObject{})).
			Complete(&copier{sources: mgr.GetCache(), copies: copies})
	})
}

// enqueueCopies enqueues the existing copies, so that the reconciler deletes those whose sources
// were deleted before.
func enqueueCopies(copies client.Client, found chan<- event.GenericEvent) manager.RunnableFunc {
	return func(ctx context.Context) error {
		var list corev1.ConfigMapList
		if err := copies.List(ctx, &list, client.InNamespace(copyNamespace)); err != nil {
			return err
		}
		for _, o := range list.Items {
			o.Namespace = sourceNamespace
			select {
			case found <- event.GenericEvent{Object: &o}:
			case <-ctx.Done():
				return nil
			}
		}
		<-ctx.Done()
		return nil
	}
}

// copier reconciles one copy.
type copier struct {
	sources client.Reader // the cache
	copies  client.Client // the server
}

// Reconcile makes one copy equal to its source.
func (c *copier) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	replica := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: copyNamespace, Name: req.Name}}
	var original corev1.ConfigMap
	err := c.sources.Get(ctx, req.NamespacedName, &original)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, client.IgnoreNotFound(c.copies.Delete(ctx, replica))
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	replica.Data = original.Data
	if err = c.copies.Update(ctx, replica); apierrors.IsNotFound(err) {
		err = c.copies.Create(ctx, replica)
	}
	return reconcile.Result{}, err
}
