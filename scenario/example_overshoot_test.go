package scenario_test

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/scenario"
)

// workers starts Pods until a ReplicaSet has the requested number, whenever it changes. count
// returns the number of Pods from those in the cache and those started here.
func workers(count func(cached []*corev1.Pod, started map[types.UID]bool) int) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		client := kubernetes.NewForConfigOrDie(config)
		factory := informers.NewSharedInformerFactory(client, 0)
		pods := factory.Core().V1().Pods()
		podsSynced := pods.Informer().HasSynced
		started := map[types.UID]bool{}
		reconcile := func(obj any) {
			set := obj.(*appsv1.ReplicaSet)
			cached, err := pods.Lister().Pods("default").List(labels.Set{"set": set.Name}.AsSelector())
			for n := count(cached, started); err == nil && n < int(*set.Spec.Replicas); n++ {
				pod := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{GenerateName: set.Name + "-", Labels: map[string]string{"set": set.Name}},
					Spec:       set.Spec.Template.Spec,
				}
				if pod, err = client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err == nil {
					started[pod.UID] = true
				}
			}
			if err != nil {
				utilruntime.HandleError(err)
			}
		}
		factory.Start(ctx.Done())
		defer factory.Shutdown()
		if !cache.WaitForCacheSync(ctx.Done(), podsSynced) {
			return ctx.Err()
		}
		_, err := factory.Apps().V1().ReplicaSets().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: reconcile, UpdateFunc: func(_, obj any) { reconcile(obj) },
		})
		factory.Start(ctx.Done())
		<-ctx.Done()
		return err
	}
}

// countCached counts the Pods in the cache.
func countCached(cached []*corev1.Pod, _ map[types.UID]bool) int { return len(cached) }

// countCachedAndStarted also counts the Pods that were started here and are not in the cache yet.
func countCachedAndStarted(cached []*corev1.Pod, started map[types.UID]bool) int {
	for _, pod := range cached {
		delete(started, pod.UID)
	}
	return len(cached) + len(started)
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
// https://github.com/ray-project/kuberay/issues/715. The ReplicaSet controller has expectations for
// this: it remembers its writes until they are in the cache. Names derived from the owner are the
// other solution.
func ExamplePlay_overshoot() {
	for _, count := range []func([]*corev1.Pod, map[types.UID]bool) int{countCached, countCachedAndStarted} {
		_, err := scenario.Play("workers.txtar", workersScenario, scenario.Config{
			Clients: map[string]scenario.Client{"workers": workers(count)},
		})
		what, _, _ := strings.Cut(fmt.Sprint(err), "\ntranscript so far:")
		fmt.Println(what)
	}
	// Output:
	// workers.txtar:9: expect requests workers "POST /api/v1/namespaces/default/pods 201" 1
	//     expected 1 requests of client workers with "POST /api/v1/namespaces/default/pods 201"; saw 2
	// <nil>
}
