package clients

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// mirror is the half of a mirror that writes: it has a queue of the names of
// ConfigMaps that may have changed.
type mirror struct {
	source, target typedv1.ConfigMapInterface
	queue          workqueue.TypedRateLimitingInterface[string]
}

// newMirror connects a mirror; its further requests are those that the mirrors
// in this package differ in.
func newMirror(ctx context.Context, config *rest.Config) (*mirror, kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	core := client.CoreV1()
	return &mirror{core.ConfigMaps("default"), core.ConfigMaps("mirror"), newQueue(ctx)}, client, nil
}

// write makes the replicas like the sources, as source has them (nil: there is
// none), until ctx ends. It begins with the replicas that are there already, so
// that those do not stay whose source went away before.
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
	_, err := m.target.Update(ctx, replica, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = m.target.Create(ctx, replica, metav1.CreateOptions{})
	}
	return err
}

// objectCache are the ConfigMaps that a mirror without an informer has seen.
type objectCache struct {
	queue workqueue.TypedRateLimitingInterface[string]

	mu     sync.Mutex // guards all below
	byName map[string]*corev1.ConfigMap
}

// get gives what was seen last, nil if there is none.
func (s *objectCache) get(name string) *corev1.ConfigMap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

// replace takes over a list.
func (s *objectCache) replace(items []corev1.ConfigMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.byName
	s.byName = map[string]*corev1.ConfigMap{}
	for _, o := range items {
		s.byName[o.Name] = &o
		s.queue.Add(o.Name)
	}
	for name := range maps.Keys(before) {
		s.queue.Add(name)
	}
}

// set takes over an object; there tells whether it is still there.
func (s *objectCache) set(o *corev1.ConfigMap, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.byName[o.Name] = o
	} else {
		delete(s.byName, o.Name)
	}
	s.queue.Add(o.Name)
}

// runMirror runs a mirror without an informer. follow sees to the sources until
// ctx ends, and calls ready as soon as it has a first list of them.
func runMirror(ctx context.Context, config *rest.Config, follow func(ctx context.Context, m *mirror, s *objectCache, ready func())) error {
	m, _, err := newMirror(ctx, config)
	if err != nil {
		return err
	}
	s := &objectCache{queue: m.queue, byName: map[string]*corev1.ConfigMap{}}
	listed := make(chan struct{})
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		select {
		case <-listed:
			m.write(ctx, s.get)
		case <-ctx.Done():
		}
	})
	follow(ctx, m, s, sync.OnceFunc(func() { close(listed) }))
	return nil
}
