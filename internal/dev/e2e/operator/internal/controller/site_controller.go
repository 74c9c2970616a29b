// Package controller contains the controller of Sites.
package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

const (
	// Finalizer delays the deletion of a site until its hosts are released.
	Finalizer = "hosting.example.com/hosts"
	// Manager is the field manager of the controller's applies.
	Manager = "site-controller"
)

// SiteReconciler creates a Deployment and a Service for each Site, and a ConfigMap with its hosts.
// The ConfigMap stands for a resource outside of the cluster. It has no owner reference and is
// deleted only by the finalizer.
type SiteReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=hosting.example.com,resources=sites,verbs=list;watch;update
// +kubebuilder:rbac:groups=hosting.example.com,resources=sites/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *SiteReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&hostingv1.Site{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Named("site").
		Complete(r)
}

// Reconcile creates or updates the objects of one site and writes its status.
func (r *SiteReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var site hostingv1.Site
	if err := r.Get(ctx, req.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, &site)
	}
	if controllerutil.AddFinalizer(&site, Finalizer) {
		if err := r.Update(ctx, &site); err != nil {
			return ctrl.Result{}, err
		}
		r.Recorder.Eventf(&site, nil, corev1.EventTypeNormal, "Claimed", "Claim", "claimed %d hosts", len(site.Spec.Hosts))
	}
	for _, step := range []func(context.Context, *hostingv1.Site) error{r.hosts, r.deployment, r.service, r.report} {
		if err := step(ctx, &site); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func podLabels(site *hostingv1.Site) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "site", "app.kubernetes.io/instance": site.Name}
}

// hosts creates or updates the ConfigMap with the hosts of a site.
func (r *SiteReconciler) hosts(ctx context.Context, site *hostingv1.Site) error {
	claim := &corev1.ConfigMap{}
	claim.Namespace, claim.Name = site.Namespace, site.Name+"-hosts"
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, claim, func() error {
		claim.Data = map[string]string{}
		for _, host := range site.Spec.Hosts {
			claim.Data[host] = site.Name
		}
		return nil
	})
	return err
}

// deployment applies the Deployment.
func (r *SiteReconciler) deployment(ctx context.Context, site *hostingv1.Site) error {
	container := corev1ac.Container().WithName("site").WithImage(site.Spec.Image)
	for _, port := range site.Spec.Ports {
		container.WithPorts(corev1ac.ContainerPort().WithName(port.Name).WithContainerPort(port.Port).WithProtocol(port.Protocol))
	}
	pod := corev1ac.PodTemplateSpec().WithLabels(site.Spec.Labels).WithLabels(podLabels(site)).
		WithSpec(corev1ac.PodSpec().WithContainers(container))
	config := appsv1ac.Deployment(site.Name, site.Namespace).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(hostingv1.GroupVersion.String()).WithKind("Site").WithName(site.Name).WithUID(site.UID).
			WithController(true).WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(*site.Spec.Replicas).WithTemplate(pod).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(podLabels(site))))
	return r.Apply(ctx, config, client.FieldOwner(Manager), client.ForceOwnership)
}

// service creates or updates the Service.
func (r *SiteReconciler) service(ctx context.Context, site *hostingv1.Site) error {
	service := &corev1.Service{}
	service.Namespace, service.Name = site.Namespace, site.Name
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Spec.Selector = podLabels(site)
		service.Spec.Ports = nil
		for _, port := range site.Spec.Ports {
			service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: port.Name, Port: port.Port, Protocol: port.Protocol})
		}
		return controllerutil.SetControllerReference(site, service, r.Scheme)
	})
	return err
}

// release deletes the ConfigMap with the hosts and removes the finalizer.
func (r *SiteReconciler) release(ctx context.Context, site *hostingv1.Site) error {
	claim := &corev1.ConfigMap{}
	claim.Namespace, claim.Name = site.Namespace, site.Name+"-hosts"
	if err := r.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("releasing the hosts of %s: %w", site.Name, err)
	}
	if !controllerutil.RemoveFinalizer(site, Finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.Update(ctx, site))
}

func selector(site *hostingv1.Site) string { return labels.SelectorFromSet(podLabels(site)).String() }
