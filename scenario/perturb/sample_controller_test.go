package perturb_test

import (
	"context"
	"fmt"
	"os"
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

// A controller in the shape of the sample controller of Kubernetes, which acts on its caches, has
// one kind of finding in all 143 perturbations: a loop. If the owner is deleted and its cache is
// late, the garbage collector deletes the Deployment, whose event makes the controller create it
// again, and so on until the cache has caught up. On virtual time that is a loop without end, as
// the garbage collector takes no time. In a cluster it is some ten Deployments, with their Pods,
// for each second of lag. The final state is right, so it is a weakness rather than a bug. Built-in
// controllers have it to a lesser degree, as they wait for the events of their own writes.
//
// The shape is safe otherwise: names and owner references are derived from the owner, and a key
// that fails is tried again.
func TestSampleController(t *testing.T) {
	config := sampleConfig(false, operatorBudget(t, 143))
	config.Parallel = 1 // one run with a loop at a time
	report, err := perturb.Search(config)
	require.NoError(t, err)
	t.Log(report)
	require.NotEmpty(t, report.Findings)
	for _, f := range report.Findings {
		require.Contains(t, f.Name, "loop sample")
	}
	require.Empty(t, report.Inconclusive)
}

// A controller that asks the server before it creates something has no finding.
func TestSampleControllerThatAsks(t *testing.T) {
	report := perturb.Run(t, sampleConfig(true, operatorBudget(t, 40)))
	require.Empty(t, report.Inconclusive)
}

// sampleConfig returns the configuration for the controller. If asks is true, the controller reads
// the owner from the server before it creates something.
func sampleConfig(asks bool, budget int) perturb.Config {
	foo := func(name string, replicas int) scenario.Step {
		return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {kind: foo}}
data: {replicas: "%d"}
`, name, replicas))
	}
	scale := func(name, replicas string) scenario.Step {
		ref := scenario.Ref{Kind: "configmap", Name: name}
		return scenario.Patch(ref, types.MergePatchType, fmt.Sprintf(`{data: {replicas: %q}}`, replicas))
	}
	return perturb.Config{
		Controllers: map[string]scenario.Client{"sample": sampleController(asks)},
		Workload: []scenario.Step{
			foo("a", 1), foo("b", 2), scale("a", "3"), scale("b", "4"),
			scenario.Delete(scenario.Ref{Kind: "configmap", Name: "a"}), foo("a", 2),
		},
		Budget:  budget,
		FindOne: os.Getenv("FAKEAPI_PERTURB_BUDGET") == "",
	}
}

// sampleController keeps a Deployment for each ConfigMap with the label kind=foo, in the shape of
// the sample controller of Kubernetes: informers, whose handlers only add keys to a queue, and a
// worker that compares the objects in the caches and writes. If asks is true, it reads the owner
// from the server before it creates a Deployment.
func sampleController(asks bool) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error { return runSample(ctx, config, asks) }
}

func runSample(ctx context.Context, config *rest.Config, asks bool) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 30*time.Second)
	foos, deployments := factory.Core().V1().ConfigMaps(), factory.Apps().V1().Deployments()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	context.AfterFunc(ctx, queue.ShutDown)
	s := sample{client, foos.Lister(), deployments.Lister(), queue, asks}
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
	asks        bool
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
		if s.asks {
			if err := s.checkExists(ctx, foo); err != nil {
				return err
			}
		}
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

// checkExists returns an error if a foo in the cache does not exist any more.
func (s sample) checkExists(ctx context.Context, foo *corev1.ConfigMap) error {
	is, err := s.client.CoreV1().ConfigMaps(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
	if err == nil && is.UID != foo.UID {
		err = fmt.Errorf("%s is another object", foo.Name)
	}
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
