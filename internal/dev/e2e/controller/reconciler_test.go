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
	// site is the label of the Deployments and ConfigMaps that the controller
	// sees; its cache selects by it.
	site = "example.com/site"
	// finalizer keeps a Deployment until its settings are gone.
	finalizer = "example.com/settings"
	// written is the condition of a Deployment whose settings are up to date.
	written appsv1.DeploymentConditionType = "SettingsWritten"
	// passwords is the Secret that every site needs and that nobody watches.
	passwords = "passwords"
)

// settings keeps a ConfigMap of the same name for each Deployment of a site:
// owned by it, told of in its status, and gone before it.
type settings struct {
	client.Client               // reads from the cache
	secrets       client.Reader // reads from the server
}

// Reconcile makes one Deployment's settings right. Without its Secret it fails,
// and is called again after a back-off: that is the only way to learn of it.
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
		return ctrl.Result{}, fmt.Errorf("the passwords of %s: %w", d.Name, err)
	}
	if err := s.write(ctx, &d); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.report(ctx, &d)
}

// hold puts the finalizer on, with a merge patch that names the version it saw.
func (s *settings) hold(ctx context.Context, d *appsv1.Deployment) error {
	before := d.DeepCopy()
	if !controllerutil.AddFinalizer(d, finalizer) {
		return nil
	}
	return s.Patch(ctx, d, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// write creates the ConfigMap or brings it up to date.
func (s *settings) write(ctx context.Context, d *appsv1.Deployment) error {
	c := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, &c, func() error {
		c.Labels = map[string]string{site: d.Labels[site]}
		c.Data = wanted(d)
		return controllerutil.SetControllerReference(d, &c, s.Scheme())
	})
	return err
}

// wanted is what the settings of a Deployment say.
func wanted(d *appsv1.Deployment) map[string]string {
	return map[string]string{
		"image":    d.Spec.Template.Spec.Containers[0].Image,
		"replicas": strconv.Itoa(int(*d.Spec.Replicas)),
	}
}

// report writes the status, the condition with Update and the generation with
// Patch, so that both ways are gone.
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

// finish deletes the settings and lets the Deployment go.
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
