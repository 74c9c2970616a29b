package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// report writes the status if it has changed.
func (r *SiteReconciler) report(ctx context.Context, site *hostingv1.Site) error {
	var deployment appsv1.Deployment
	if err := r.Get(ctx, client.ObjectKeyFromObject(site), &deployment); err != nil {
		return client.IgnoreNotFound(err) // the cache is stale; the event of the deletion triggers another reconcile
	}
	before := site.DeepCopy()
	status := &site.Status
	status.ObservedGeneration = site.Generation
	status.ReadyReplicas = deployment.Status.ReadyReplicas
	status.Selector = selector(site)
	status.Phase = hostingv1.PhasePending
	ready := metav1.Condition{
		Type: hostingv1.Ready, Status: metav1.ConditionFalse, Reason: "PodsMissing", ObservedGeneration: site.Generation,
		Message: fmt.Sprintf("%d of %d pods are ready", status.ReadyReplicas, *site.Spec.Replicas),
	}
	if status.ReadyReplicas >= *site.Spec.Replicas {
		status.Phase, ready.Status, ready.Reason = hostingv1.PhaseReady, metav1.ConditionTrue, "PodsReady"
	}
	turned := meta.SetStatusCondition(&status.Conditions, ready)
	if equality.Semantic.DeepEqual(before.Status, site.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, site, client.MergeFrom(before)); err != nil {
		return err
	}
	if turned && ready.Status == metav1.ConditionTrue {
		r.Recorder.Eventf(site, &deployment, corev1.EventTypeNormal, ready.Reason, "Report", "%s", ready.Message)
	}
	return nil
}
