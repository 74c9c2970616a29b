package perturb_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/perturb"
)

func TestSampleController(t *testing.T) {
	foo := func(name string, replicas int) scenario.Step {
		return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {kind: foo}}
data: {replicas: "%d"}
`, name, replicas))
	}
	ref := scenario.Ref{Kind: "configmap", Name: "a"}
	report := perturb.Run(t, perturb.Config{
		Controllers: map[string]scenario.Client{"sample": sampleController},
		Workload: []scenario.Step{
			foo("a", 1), foo("b", 2),
			scenario.Patch(ref, types.MergePatchType, `{data: {replicas: "3"}}`),
			scenario.Patch(scenario.Ref{Kind: "configmap", Name: "b"}, types.MergePatchType, `{data: {replicas: "4"}}`),
			scenario.Delete(ref), foo("a", 2),
		},
		Budget: operatorBudget(t, 40),
	})
	require.Empty(t, report.Inconclusive)
}

// sampleController keeps a Deployment for each ConfigMap with the label kind=foo, in the shape of
// the sample controller of Kubernetes: informers, whose handlers only add keys to a queue, and a
// worker that compares the objects in the caches and writes.
func sampleController(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 30*time.Second)
	foos, deployments := factory.Core().V1().ConfigMaps(), factory.Apps().V1().Deployments()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	context.AfterFunc(ctx, queue.ShutDown)
	s := sample{client, foos.Lister(), deployments.Lister(), queue}
	if _, err := foos.Informer().AddEventHandler(handlers(s.enqueueFoo)); err != nil {
		return err
	}
	if _, err := deployments.Informer().AddEventHandler(handlers(s.enqueueOwner)); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	for {
		name, down := queue.Get()
		if down {
			return nil
		}
		if err := s.sync(ctx, name); err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// handlers returns the handlers that call enqueue for each object, also for one in a tombstone.
func handlers(enqueue func(metav1.Object)) cache.ResourceEventHandler {
	add := func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		if o, ok := obj.(metav1.Object); ok {
			enqueue(o)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}
}

type sample struct {
	client      kubernetes.Interface
	foos        corelisters.ConfigMapLister
	deployments appslisters.DeploymentLister
	queue       workqueue.TypedRateLimitingInterface[string]
}

func (s sample) enqueueFoo(o metav1.Object) {
	if o.GetLabels()["kind"] == "foo" {
		s.queue.Add(o.GetName())
	}
}

func (s sample) enqueueOwner(o metav1.Object) {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "ConfigMap" {
		s.queue.Add(owner.Name)
	}
}

// sync compares a foo with its Deployment. Both are read from the caches.
func (s sample) sync(ctx context.Context, name string) error {
	foo, err := s.foos.ConfigMaps("default").Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	replicas, err := strconv.ParseInt(foo.Data["replicas"], 10, 32)
	if err != nil {
		return nil // until it changes
	}
	want := int32(replicas)
	is, err := s.deployments.Deployments("default").Get(name)
	if apierrors.IsNotFound(err) {
		is, err = s.client.AppsV1().Deployments("default").Create(ctx, sampleDeployment(foo, want), metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(is, foo) {
		return fmt.Errorf("Deployment %s has another owner", name)
	}
	if *is.Spec.Replicas == want {
		return nil
	}
	_, err = s.client.AppsV1().Deployments("default").Update(ctx, sampleDeployment(foo, want), metav1.UpdateOptions{})
	return err
}

func sampleDeployment(foo *corev1.ConfigMap, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
			},
		},
	}
}
