package controller_test

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// site is the label of the Deployments and ConfigMaps that the controller caches.
	site = "example.com/site"
	// finalizer delays the deletion of a Deployment until its ConfigMap is deleted.
	finalizer = "example.com/settings"
	// written is the condition of a Deployment whose ConfigMap is up to date.
	written appsv1.DeploymentConditionType = "SettingsWritten"
	// passwords is the name of the Secret that the controller reads and does not watch.
	passwords = "passwords"
)

// settings reconciles a ConfigMap of the same name for each Deployment of a site. The Deployment
// owns the ConfigMap, has a condition for it in its status, and is deleted after it.
type settings struct {
	client.Client               // reads from the cache
	secrets       client.Reader // reads from the server
}

// Reconcile creates or updates the ConfigMap of one Deployment and writes the status. If the Secret
// does not exist, it returns an error, and is retried with back-off, because the Secret is not
// watched.
func (s *settings) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var d appsv1.Deployment
	if err := s.Get(ctx, req.NamespacedName, &d); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !d.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, s.finish(ctx, &d)
	}
	if err := s.hold(ctx, &d); err != nil {
		return ctrl.Result{}, err
	}
	if err := s.secrets.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: passwords}, &corev1.Secret{}); err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the Secret for %s: %w", d.Name, err)
	}
	if err := s.write(ctx, &d); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.report(ctx, &d)
}

// hold adds the finalizer with a merge patch that has the resourceVersion of the object read.
func (s *settings) hold(ctx context.Context, d *appsv1.Deployment) error {
	before := d.DeepCopy()
	if !controllerutil.AddFinalizer(d, finalizer) {
		return nil
	}
	return s.Patch(ctx, d, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// write creates or updates the ConfigMap.
func (s *settings) write(ctx context.Context, d *appsv1.Deployment) error {
	c := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, &c, func() error {
		c.Labels = map[string]string{site: d.Labels[site]}
		c.Data = wanted(d)
		return controllerutil.SetControllerReference(d, &c, s.Scheme())
	})
	return err
}

// wanted returns the data of the ConfigMap of a Deployment.
func wanted(d *appsv1.Deployment) map[string]string {
	return map[string]string{
		"image":    d.Spec.Template.Spec.Containers[0].Image,
		"replicas": strconv.Itoa(int(*d.Spec.Replicas)),
	}
}

// report writes the condition with Update and the observed generation with Patch, so that both are
// tested.
func (s *settings) report(ctx context.Context, d *appsv1.Deployment) error {
	if len(d.Status.Conditions) == 0 {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: written, Status: corev1.ConditionTrue}}
		if err := s.Status().Update(ctx, d); err != nil {
			return err
		}
	}
	if d.Status.ObservedGeneration == d.Generation {
		return nil
	}
	before := d.DeepCopy()
	d.Status.ObservedGeneration = d.Generation
	return s.Status().Patch(ctx, d, client.MergeFrom(before))
}

// finish deletes the ConfigMap and removes the finalizer from the Deployment.
func (s *settings) finish(ctx context.Context, d *appsv1.Deployment) error {
	c := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	if err := s.Delete(ctx, &c); client.IgnoreNotFound(err) != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(d, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(s.Update(ctx, d))
}
