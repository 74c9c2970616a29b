package clients

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// mirror copies ConfigMaps. Its queue has the names of those that may have changed.
type mirror struct {
	source configMapReader
	target typedv1.ConfigMapInterface
	queue  workqueue.TypedRateLimitingInterface[string]
}

// configMapReader reads the ConfigMaps to copy.
type configMapReader interface {
	List(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// newMirror returns a mirror, and a client for the requests in which the mirrors of this package
// differ.
func newMirror(ctx context.Context, config *rest.Config) (*mirror, kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	core := client.CoreV1()
	return &mirror{source: core.ConfigMaps("default"), target: core.ConfigMaps("mirror"), queue: newQueue(ctx)}, client, nil
}

// write makes the copies equal to the sources until ctx is done. source returns the current state
// of a source, or nil. write starts with the existing copies, so that it deletes those whose
// sources were deleted before.
func (m *mirror) write(ctx context.Context, source func(name string) *corev1.ConfigMap) {
	for {
		there, err := m.target.List(ctx, metav1.ListOptions{})
		if err == nil {
			for _, o := range there.Items {
				m.queue.Add(o.Name)
			}
			break
		}
		if !sleep(ctx, retryDelay) {
			return
		}
	}
	processQueue(ctx, m.queue, func(ctx context.Context, name string) error { return m.copy(ctx, name, source(name)) })
}

func (m *mirror) copy(ctx context.Context, name string, source *corev1.ConfigMap) error {
	if source == nil {
		err := m.target.Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	replica := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: source.Data}
	return updateOrCreate(ctx, m.target, replica)
}

// updateOrCreate updates an object, or creates it if it does not exist.
func updateOrCreate(ctx context.Context, maps typedv1.ConfigMapInterface, o *corev1.ConfigMap) error {
	_, err := maps.Update(ctx, o, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(ctx, o, metav1.CreateOptions{})
	}
	return err
}

// objectCache has the ConfigMaps that a mirror without an informer has received.
type objectCache struct {
	queue workqueue.TypedRateLimitingInterface[string]

	mu     sync.Mutex // guards all below
	byName map[string]*corev1.ConfigMap
}

// get returns the last state of an object, or nil.
func (c *objectCache) get(name string) *corev1.ConfigMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// replace replaces the objects by those of a list.
func (c *objectCache) replace(items []corev1.ConfigMap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.byName
	c.byName = map[string]*corev1.ConfigMap{}
	for _, o := range items {
		c.byName[o.Name] = &o
		c.queue.Add(o.Name)
	}
	for name := range maps.Keys(before) {
		c.queue.Add(name)
	}
}

// set adds, replaces or removes an object.
func (c *objectCache) set(o *corev1.ConfigMap, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there {
		c.byName[o.Name] = o
	} else {
		delete(c.byName, o.Name)
	}
	c.queue.Add(o.Name)
}

// followFunc updates the cache of a mirror without an informer until ctx is done. It calls ready
// when it has the first list.
type followFunc func(ctx context.Context, m *mirror, s *objectCache, ready func())

// runMirror runs a mirror without an informer.
func runMirror(ctx context.Context, config *rest.Config, follow followFunc) error {
	m, _, err := newMirror(ctx, config)
	if err != nil {
		return err
	}
	m.run(ctx, follow)
	return nil
}

// run runs a mirror without an informer.
func (m *mirror) run(ctx context.Context, follow followFunc) {
	c := &objectCache{queue: m.queue, byName: map[string]*corev1.ConfigMap{}}
	listed := make(chan struct{})
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		select {
		case <-listed:
			m.write(ctx, c.get)
		case <-ctx.Done():
		}
	})
	follow(ctx, m, c, sync.OnceFunc(func() { close(listed) }))
}
