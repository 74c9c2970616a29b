package scenario_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/fakeapi/scenario"
)

// workers starts Pods until a ReplicaSet has the requested number, whenever it changes. missing
// returns the metadata of the Pods that are not in the cache.
func workers(missing func(set *appsv1.ReplicaSet, cached []*corev1.Pod) []metav1.ObjectMeta) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		context.AfterFunc(ctx, queue.ShutDown)
		factory := informers.NewSharedInformerFactory(client, 0)
		sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
		setLister, podLister := sets.Lister().ReplicaSets("default"), pods.Lister().Pods("default")
		enqueue := func(obj any) { queue.Add(obj.(*appsv1.ReplicaSet).Name) }
		_, err := sets.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) },
		})
		if err != nil {
			return err
		}
		reconcile := func(name string) error {
			set, err := setLister.Get(name)
			if err != nil {
				return nil // It is deleted.
			}
			cached, err := podLister.List(labels.Set{"set": name}.AsSelector())
			if err != nil {
				return err
			}
			for _, meta := range missing(set, cached) {
				meta.Labels = map[string]string{"set": name}
				pod := &corev1.Pod{ObjectMeta: meta, Spec: set.Spec.Template.Spec}
				_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
				if err != nil && !apierrors.IsAlreadyExists(err) {
					return err
				}
			}
			return nil
		}
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		factory.WaitForCacheSync(ctx.Done())
		for {
			name, shutDown := queue.Get()
			if shutDown {
				return nil
			}
			if err := reconcile(name); err != nil {
				utilruntime.HandleError(err)
				queue.AddRateLimited(name)
			} else {
				queue.Forget(name)
			}
			queue.Done(name)
		}
	}
}

// generateNames counts the Pods in the cache, and lets the server choose the names of the others.
func generateNames(set *appsv1.ReplicaSet, cached []*corev1.Pod) (missing []metav1.ObjectMeta) {
	for range int(*set.Spec.Replicas) - len(cached) {
		missing = append(missing, metav1.ObjectMeta{GenerateName: set.Name + "-"})
	}
	return missing
}

// deriveNames derives the names from that of the ReplicaSet, so that no Pod can be created twice.
func deriveNames(set *appsv1.ReplicaSet, cached []*corev1.Pod) (missing []metav1.ObjectMeta) {
	for n := range int(*set.Spec.Replicas) {
		name := fmt.Sprintf("%s-%d", set.Name, n)
		if !slices.ContainsFunc(cached, func(pod *corev1.Pod) bool { return pod.Name == name }) {
			missing = append(missing, metav1.ObjectMeta{Name: name})
		}
	}
	return missing
}

const workersScenario = `
apply web.yaml
# Events of Pods are late, and the ReplicaSet changes before the first is there.
fault late: when verb(watch) && resource(pods) && userAgent(workers) && event(ADDED) do delay(5s)
run workers
advance 1s
apply labelled.yaml
advance 1m
expect requests workers "POST /api/v1/namespaces/default/pods 201" 1
expect hits late 1
-- web.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
-- labelled.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, labels: {tier: front}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
`

// A controller starts too many Pods, because those that it has just started are not in its cache
// yet. In production surplus Pods are created and deleted under load, with their state:
// https://github.com/ray-project/kuberay/issues/715. If names are derived from the owner, a second
// create fails. The ReplicaSet controller has expectations instead: it remembers its writes until
// they are in the cache. These do not help after a restart, or if the response to a create is lost.
func ExamplePlay_overshoot() {
	for _, missing := range []func(*appsv1.ReplicaSet, []*corev1.Pod) []metav1.ObjectMeta{generateNames, deriveNames} {
		_, err := scenario.Play("workers.txtar", workersScenario, scenario.Config{
			Clients: map[string]scenario.Client{"workers": workers(missing)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// workers.txtar:9: expect requests workers "POST /api/v1/namespaces/default/pods 201" 1
	//     expected 1 requests of client workers with "POST /api/v1/namespaces/default/pods 201"; saw 2
	// <nil>
}
