package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/workqueue"
)

// clients are the clients under test of the files in testdata.
func clients() map[string]Client {
	return map[string]Client{
		"mirror":  mirror,
		"pager":   pages,
		"counter": addOnce,
		"creator": createOnce,
	}
}

// mirror is a controller on client-go's informer: it keeps a copy of each
// ConfigMap of "default" in the namespace "mirror".
func mirror(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	maps := factory.Core().V1().ConfigMaps()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(name.Name)
		}
	}
	_, err = maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), maps.Informer().HasSynced) {
		return errors.New("the cache did not get ready")
	}
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	for {
		name, down := queue.Get()
		if down {
			return nil
		}
		source, err := maps.Lister().ConfigMaps("default").Get(name)
		if apierrors.IsNotFound(err) {
			source, err = nil, nil
		}
		if err == nil {
			err = copyTo(ctx, client.CoreV1().ConfigMaps("mirror"), name, source)
		}
		if err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// copyTo makes the object of that name like source, or deletes it if there is
// none.
func copyTo(ctx context.Context, to typedv1.ConfigMapInterface, name string, source *corev1.ConfigMap) error {
	if source == nil {
		err := to.Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	replica := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: source.Data}
	_, err := to.Update(ctx, replica, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = to.Create(ctx, replica, metav1.CreateOptions{})
	}
	return err
}

// pages lists the ConfigMaps of "default" with client-go's pager, two at a time,
// and writes their names into the ConfigMap "report" of "mirror".
func pages(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().ConfigMaps("default").List(ctx, opts)
	})
	list.PageSize = 2
	all, _, err := list.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var names []string
	err = meta.EachListItem(all, func(obj runtime.Object) error {
		names = append(names, obj.(metav1.Object).GetName())
		return nil
	})
	if err != nil {
		return err
	}
	return writeReport(ctx, client, strings.Join(names, ","))
}

func writeReport(ctx context.Context, client kubernetes.Interface, text string) error {
	report := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "report"}, Data: map[string]string{"text": text}}
	_, err := client.CoreV1().ConfigMaps("mirror").Create(ctx, report, metav1.CreateOptions{})
	return err
}

// addOnce adds one to data.value of the ConfigMap "count". It has a bug: it takes an
// error to mean that nothing was done.
func addOnce(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps("default")
	for attempt := range 5 {
		if err = add(ctx, maps); err == nil {
			return nil
		}
		time.Sleep(time.Duration(attempt) * time.Second)
	}
	return err
}

func add(ctx context.Context, maps typedv1.ConfigMapInterface) error {
	count, err := maps.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(count.Data["value"])
	if err != nil {
		return err
	}
	count.Data["value"] = strconv.Itoa(n + 1)
	_, err = maps.Update(ctx, count, metav1.UpdateOptions{})
	return err
}

// createOnce creates the ConfigMap "only". It is right: the name is its own, and
// that it exists already is no error after a reply was lost.
func createOnce(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	only := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "only"}}
	for range 5 {
		_, err = client.CoreV1().ConfigMaps("default").Create(ctx, only, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		time.Sleep(time.Second)
	}
	return fmt.Errorf("gave up: %w", err)
}
