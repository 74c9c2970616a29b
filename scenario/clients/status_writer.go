package clients

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// statusPatcher patches the status, and again with a back-off after an error.
func statusPatcher(ctx context.Context, config *rest.Config) error {
	return writeStatus(ctx, config, patchObservedGeneration)
}

// statusUpdater updates the status, and again with a back-off after an error.
func statusUpdater(ctx context.Context, config *rest.Config) error {
	return writeStatus(ctx, config, func(ctx context.Context, deployments typedappsv1.DeploymentInterface, o *appsv1.Deployment) error {
		o = o.DeepCopy()
		o.Status.ObservedGeneration = o.Generation
		_, err := deployments.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		return err
	})
}

// carelessStatusPatcher patches the status once for each change of the object.
func carelessStatusPatcher(ctx context.Context, config *rest.Config) error {
	return writeStatus(ctx, config, func(ctx context.Context, deployments typedappsv1.DeploymentInterface, o *appsv1.Deployment) error {
		_ = patchObservedGeneration(ctx, deployments, o)
		return nil
	})
}

func patchObservedGeneration(ctx context.Context, deployments typedappsv1.DeploymentInterface, o *appsv1.Deployment) error {
	patch := fmt.Appendf(nil, `{"status":{"observedGeneration":%d}}`, o.Generation)
	_, err := deployments.Patch(ctx, o.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// writeStatus watches Deployment web and calls write for each of its generations until it succeeds.
func writeStatus(ctx context.Context, config *rest.Config, write func(context.Context, typedappsv1.DeploymentInterface, *appsv1.Deployment) error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	queue := newQueue(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, "web").String()
		}))
	deployments := factory.Apps().V1().Deployments()
	_, err = deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { queue.Add("web") }, UpdateFunc: func(any, any) { queue.Add("web") },
	})
	if err != nil {
		return err
	}
	defer factory.Shutdown()
	factory.Start(ctx.Done())
	processQueue(ctx, queue, func(ctx context.Context, name string) error {
		o, err := deployments.Lister().Deployments("default").Get(name)
		if err != nil || o.Status.ObservedGeneration == o.Generation {
			return err
		}
		return write(ctx, client.AppsV1().Deployments("default"), o)
	})
	return nil
}
