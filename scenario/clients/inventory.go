package clients

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// inventory keeps an inventory with informers. It writes nothing before all of them have synced.
func inventory(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	queue := newQueue(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	kinds := map[string]cache.SharedIndexInformer{
		"configmaps": factory.Core().V1().ConfigMaps().Informer(),
		"secrets":    factory.Core().V1().Secrets().Informer(),
	}
	changed := func(any) { queue.Add("inventory") }
	for _, informer := range kinds {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed,
		})
		if err != nil {
			return err
		}
	}
	defer factory.Shutdown()
	factory.Start(ctx.Done())
	for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil // ctx is done
		}
	}
	changed(nil) // also if there are no objects
	processQueue(ctx, queue, func(ctx context.Context, _ string) error {
		names := map[string][]string{}
		for kind, informer := range kinds {
			for _, key := range informer.GetStore().ListKeys() {
				names[kind] = append(names[kind], strings.TrimPrefix(key, "default/"))
			}
		}
		return writeInventory(ctx, client, names)
	})
	return nil
}

// carelessInventory lists both kinds every ten seconds. A kind that it cannot list counts as empty.
func carelessInventory(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	core := client.CoreV1()
	for {
		names := map[string][]string{}
		if list, err := core.ConfigMaps("default").List(ctx, metav1.ListOptions{}); err == nil {
			for _, o := range list.Items {
				names["configmaps"] = append(names["configmaps"], o.Name)
			}
		}
		if list, err := core.Secrets("default").List(ctx, metav1.ListOptions{}); err == nil {
			for _, o := range list.Items {
				names["secrets"] = append(names["secrets"], o.Name)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		_ = writeInventory(ctx, client, names) // again in ten seconds
		if !sleep(ctx, 10*time.Second) {
			return nil
		}
	}
}

// writeInventory writes the names of the objects of each kind.
func writeInventory(ctx context.Context, client kubernetes.Interface, names map[string][]string) error {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inventory"}, Data: map[string]string{}}
	for _, kind := range []string{"configmaps", "secrets"} {
		slices.Sort(names[kind])
		o.Data[kind] = strings.Join(names[kind], ",")
	}
	return updateOrCreate(ctx, client.CoreV1().ConfigMaps("mirror"), o)
}
