package clients

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// customInformer is a mirror of custom resources based on client-go's informer.
func customInformer(ctx context.Context, config *rest.Config) error {
	m, err := newCustomMirror(ctx, config)
	if err != nil {
		return err
	}
	return m.runInformer(ctx, newListInformer(m.source))
}

// customRetryWatcher is a mirror of custom resources based on client-go's RetryWatcher.
func customRetryWatcher(ctx context.Context, config *rest.Config) error {
	return runCustomMirror(ctx, config, followWithRetryWatcher)
}

// customNaive is a hand-written mirror of custom resources that lists once and then only watches.
func customNaive(ctx context.Context, config *rest.Config) error {
	return runCustomMirror(ctx, config, followNaively)
}

func runCustomMirror(ctx context.Context, config *rest.Config, follow followFunc) error {
	m, err := newCustomMirror(ctx, config)
	if err != nil {
		return err
	}
	m.run(ctx, follow)
	return nil
}

// newCustomMirror returns a mirror that copies the data of widgets to ConfigMaps.
func newCustomMirror(ctx context.Context, config *rest.Config) (*mirror, error) {
	m, _, err := newMirror(ctx, config)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	m.source = widgetReader{client.Resource(widgets).Namespace("default")}
	return m, nil
}

// widgetReader reads widgets as ConfigMaps.
type widgetReader struct{ widgets dynamic.ResourceInterface }

// List implements configMapReader.
func (r widgetReader) List(ctx context.Context, options metav1.ListOptions) (*corev1.ConfigMapList, error) {
	all, err := r.widgets.List(ctx, options)
	if err != nil {
		return nil, err
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: all.GetResourceVersion(), Continue: all.GetContinue()}}
	for _, o := range all.Items {
		list.Items = append(list.Items, *asConfigMap(&o))
	}
	return list, nil
}

// Watch implements configMapReader.
func (r widgetReader) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := r.widgets.Watch(ctx, options)
	if err != nil {
		return nil, err
	}
	events := make(chan watch.Event)
	converted := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer w.Stop()
		forwardAsConfigMaps(w.ResultChan(), events, converted.StopChan())
	}()
	return converted, nil
}

// forwardAsConfigMaps sends the events of widgets as those of ConfigMaps, until they end or stop is
// closed.
func forwardAsConfigMaps(from <-chan watch.Event, to chan<- watch.Event, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case event, ok := <-from:
			if !ok {
				return
			}
			if o, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Error {
				event.Object = asConfigMap(o)
			}
			select {
			case to <- event:
			case <-stop:
				return
			}
		}
	}
}

// asConfigMap returns a ConfigMap with the metadata and the data of a widget.
func asConfigMap(widget *unstructured.Unstructured) *corev1.ConfigMap {
	data, _, _ := unstructured.NestedStringMap(widget.Object, "data") // nil if it has another type
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: widget.GetName(), Namespace: widget.GetNamespace(), UID: widget.GetUID(),
			ResourceVersion: widget.GetResourceVersion(), Annotations: widget.GetAnnotations(),
		},
		Data: data,
	}
}
