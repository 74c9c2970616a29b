package clients

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// informer is a mirror based on client-go's informer.
func informer(ctx context.Context, config *rest.Config) error {
	return runInformerMirror(ctx, config, func(client kubernetes.Interface) cache.SharedIndexInformer {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
		return factory.Core().V1().ConfigMaps().Informer()
	})
}

// informerList is informer without streaming lists.
func informerList(ctx context.Context, config *rest.Config) error {
	return runInformerMirror(ctx, config, func(client kubernetes.Interface) cache.SharedIndexInformer {
		return newListInformer(client.CoreV1().ConfigMaps("default"))
	})
}

// newListInformer returns an informer of the ConfigMaps of source, without streaming lists.
func newListInformer(source configMapReader) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(listsAndWatches{&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return source.List(ctx, o) },
		WatchFuncWithContext: source.Watch,
	}}, &corev1.ConfigMap{}, 0, cache.Indexers{})
}

// listsAndWatches disables streaming lists in the informer.
type listsAndWatches struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is called by client-go.
func (listsAndWatches) IsWatchListSemanticsUnSupported() bool { return true }

// runInformerMirror runs a mirror with the informer that newInformer returns.
func runInformerMirror(ctx context.Context, config *rest.Config, newInformer func(kubernetes.Interface) cache.SharedIndexInformer) error {
	m, client, err := newMirror(ctx, config)
	if err != nil {
		return err
	}
	return m.runInformer(ctx, newInformer(client))
}

// runInformer runs a mirror of the ConfigMaps of an informer.
func (m *mirror) runInformer(ctx context.Context, sources cache.SharedIndexInformer) error {
	add := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			m.queue.Add(name.Name)
		}
	}
	_, err := sources.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}
	return runSynced(ctx, sources, func() {
		m.write(ctx, func(name string) *corev1.ConfigMap {
			obj, exists, err := sources.GetStore().GetByKey("default/" + name)
			if err != nil || !exists {
				return nil
			}
			return obj.(*corev1.ConfigMap)
		})
	})
}

// runSynced runs an informer, and work as soon as it has all objects. It returns when both have
// ended.
func runSynced(ctx context.Context, informer cache.SharedIndexInformer, work func()) error {
	ended := runAsync(func() { informer.RunWithContext(ctx) })
	defer func() { <-ended }()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		if ctx.Err() != nil {
			return nil
		}
		return errors.New("the cache was not synced")
	}
	work()
	return nil
}
