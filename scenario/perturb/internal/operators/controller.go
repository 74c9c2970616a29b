package operators

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// controller processes the keys of objects that may have changed, one at a time.
type controller struct {
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	queue     workqueue.TypedRateLimitingInterface[string]
}

// newController returns a controller that ends when ctx is done.
func newController(ctx context.Context, config *rest.Config) (*controller, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](10*time.Millisecond, 10*time.Second)
	queue := workqueue.NewTypedRateLimitingQueue(limiter)
	context.AfterFunc(ctx, queue.ShutDown)
	return &controller{client, informers.NewSharedInformerFactory(client, 0), queue}, nil
}

// watch adds the key of an object to the queue when it is added, changed or deleted. An empty key
// stands for an object that does not matter.
func (c *controller) watch(informer cache.SharedIndexInformer, key func(metav1.Object) string) error {
	add := func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		if o, ok := obj.(metav1.Object); ok {
			if k := key(o); k != "" {
				c.queue.Add(k)
			}
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	return err
}

// run starts the informers, waits until they are synced, and calls sync for the keys in the queue,
// with a back-off after an error. It returns when ctx is done.
func (c *controller) run(ctx context.Context, sync func(ctx context.Context, key string) error) error {
	c.informers.Start(ctx.Done())
	defer c.informers.Shutdown()
	c.informers.WaitForCacheSync(ctx.Done())
	c.process(ctx, sync)
	return nil
}

// process calls sync for the keys in the queue until ctx is done.
func (c *controller) process(ctx context.Context, sync func(ctx context.Context, key string) error) {
	for {
		key, down := c.queue.Get()
		if down || ctx.Err() != nil {
			return
		}
		if err := withTimeout(ctx, func(ctx context.Context) error { return sync(ctx, key) }); err != nil {
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

// poll calls do, and again an interval after it has returned, until ctx is done. After an error it
// calls do again after a second.
func poll(ctx context.Context, interval time.Duration, do func(context.Context) error) {
	for {
		next := interval
		if withTimeout(ctx, do) != nil {
			next = time.Second
		}
		if !sleep(ctx, next) {
			return
		}
	}
}

// syncTimeout limits the requests of one call of a function of process or poll, since a response
// may never arrive.
const syncTimeout = 30 * time.Second

func withTimeout(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	return do(ctx)
}

// sleep waits for d and returns false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ownName is a key for controller.watch: the name of the object.
func ownName(o metav1.Object) string { return o.GetName() }

// labelled returns a key for controller.watch: the name of objects with a label.
func labelled(key, value string) func(metav1.Object) string {
	return func(o metav1.Object) string {
		if o.GetLabels()[key] != value {
			return ""
		}
		return o.GetName()
	}
}

// valueOf returns a key for controller.watch: the value of a label.
func valueOf(label string) func(metav1.Object) string {
	return func(o metav1.Object) string { return o.GetLabels()[label] }
}

// onlyThis returns the options of a delete that succeeds only for the state of an object that was
// read.
func onlyThis(o metav1.Object) metav1.DeleteOptions {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}}
}

// ignoreNotFound returns nil for the error of an object that does not exist.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ignoreAlreadyExists returns nil for the error of an object that exists.
func ignoreAlreadyExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
