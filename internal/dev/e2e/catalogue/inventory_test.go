package catalogue_test

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// inventory keeps an inventory with a manager, whose reconciler starts when the caches of both
// kinds have synced. A manager whose caches do not sync in time exits, and is restarted.
func inventory(ctx context.Context, cfg *rest.Config) error {
	options := managerOptions()
	options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{sourceNamespace: {}}}
	return runManagers(ctx, options, cfg, func(_ context.Context, mgr ctrl.Manager) error {
		target, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
		if err != nil {
			return err
		}
		all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: copyNamespace, Name: "inventory"}}}
		})
		return ctrl.NewControllerManagedBy(mgr).Named("inventory").
			Watches(&corev1.ConfigMap{}, all).
			Watches(&corev1.Secret{}, all).
			Complete(&inventoryWriter{sources: mgr.GetCache(), target: target})
	})
}

// inventoryWriter reconciles the inventory.
type inventoryWriter struct {
	sources client.Reader // the cache
	target  client.Client // the server
}

// Reconcile writes the names of all objects.
func (w *inventoryWriter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var maps corev1.ConfigMapList
	var secrets corev1.SecretList
	for _, list := range []client.ObjectList{&maps, &secrets} {
		if err := w.sources.List(ctx, list, client.InNamespace(sourceNamespace)); err != nil {
			return reconcile.Result{}, err
		}
	}
	names := map[string][]string{}
	for _, o := range maps.Items {
		names["configmaps"] = append(names["configmaps"], o.Name)
	}
	for _, o := range secrets.Items {
		names["secrets"] = append(names["secrets"], o.Name)
	}
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}, Data: map[string]string{}}
	for kind, all := range names {
		slices.Sort(all)
		o.Data[kind] = strings.Join(all, ",")
	}
	err := w.target.Update(ctx, o)
	if apierrors.IsNotFound(err) {
		err = w.target.Create(ctx, o)
	}
	return reconcile.Result{}, err
}
