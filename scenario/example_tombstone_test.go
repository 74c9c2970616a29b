package scenario_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/fakeapi/scenario"
)

// addresses keeps the ConfigMap "address-NAME" for each Pod. Handlers only put names into a queue.
// podOf returns the Pod for which a delete handler was called, or nil.
func addresses(podOf func(obj any) *corev1.Pod) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		context.AfterFunc(ctx, queue.ShutDown)
		factory := informers.NewSharedInformerFactory(client, 0)
		_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { queue.Add(obj.(*corev1.Pod).Name) },
			DeleteFunc: func(obj any) {
				if pod := podOf(obj); pod != nil {
					queue.Add(pod.Name)
				}
			},
		})
		if err != nil {
			return err
		}
		// There are no events for Pods that were deleted before the start.
		leases, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, lease := range leases.Items {
			if name, ok := strings.CutPrefix(lease.Name, "address-"); ok {
				queue.Add(name)
			}
		}
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		for {
			name, shutDown := queue.Get()
			if shutDown {
				return nil
			}
			if err := keepAddress(ctx, client.CoreV1(), name); err != nil {
				utilruntime.HandleError(err)
				queue.AddRateLimited(name)
			} else {
				queue.Forget(name)
			}
			queue.Done(name)
		}
	}
}

func keepAddress(ctx context.Context, client typedv1.CoreV1Interface, pod string) error {
	leases := client.ConfigMaps("default")
	lease := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "address-" + pod}}
	_, err := client.Pods("default").Get(ctx, pod, metav1.GetOptions{})
	switch {
	case err == nil:
		if _, err = leases.Create(ctx, lease, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			return nil
		}
	case apierrors.IsNotFound(err):
		if err = leases.Delete(ctx, lease.Name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
			return nil
		}
	}
	return err
}

// podOnly ignores all other types, as many handlers do to avoid a panic.
func podOnly(obj any) *corev1.Pod {
	pod, _ := obj.(*corev1.Pod)
	return pod
}

// podOrTombstone also accepts a tombstone and returns its last known state.
func podOrTombstone(obj any) *corev1.Pod {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	pod, _ := obj.(*corev1.Pod)
	return pod
}

const addressesScenario = `
apply web.yaml
run addresses
expect configmap/address-web
# The watch breaks at the delete. The server is away for a while, has no history when
# it is back, and so the client lists: the list does not contain the Pod.
fault cut: when verb(watch) && userAgent(addresses) && event(DELETED) && first(1) do reset
fault away: when verb(list, watch) && userAgent(addresses) && during(before) && !after(10s) do status(503)
delete pod/web
expire
advance 1m
expect absent configmap/address-web
-- web.yaml --
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: nginx}]}
`

// A delete is missed, and the resources of the object are never released. In production a pool of
// addresses is exhausted: after an outage an informer passes a cache.DeletedFinalStateUnknown to
// the delete handler, which ignores it, or panics.
// https://github.com/projectcalico/calico/pull/12793 fixes both in several controllers. Handlers
// that only enqueue keys can use cache.DeletionHandlingMetaNamespaceKeyFunc.
func ExamplePlay_tombstone() {
	for _, podOf := range []func(any) *corev1.Pod{podOnly, podOrTombstone} {
		_, err := scenario.Play("addresses.txtar", addressesScenario, scenario.Config{
			Clients: map[string]scenario.Client{"addresses": addresses(podOf)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "; saw one")
		fmt.Println(what)
	}
	// Output:
	// addresses.txtar:12: expect absent configmap/address-web
	//     expected no configmap/address-web
	// <nil>
}
