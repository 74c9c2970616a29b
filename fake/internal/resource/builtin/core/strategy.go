package core

import (
	"context"

	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Defaults are set for Namespaces and Secrets only.

// prepareNamespaceForCreate sets the finalizer and the phase of a new namespace (NS-05), and its
// label, because the name may have been generated after canonicalizeNamespace.
func prepareNamespaceForCreate(_ context.Context, obj runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	canonicalizeNamespace(ns)
}

// canonicalizeNamespace sets the label with the name of a namespace (NS-11).
func canonicalizeNamespace(obj runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

func preparePodForCreate(_ context.Context, obj runtime.Object) {
	obj.(*corev1.Pod).Status.Phase = corev1.PodPending
}

// podGracePeriod returns the grace period of a pod (DL-22): the requested one, or that of the pod,
// or 30 seconds. It is 0 for a pod that is not scheduled or has terminated.
func podGracePeriod(obj runtime.Object, requested *int64) int64 {
	pod := obj.(*corev1.Pod)
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		period = *seconds
	}
	if requested != nil {
		period = *requested
	}
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return 0
	case period < 0:
		return 1 // DL-25
	}
	return period
}

func preparePersistentVolumeForCreate(_ context.Context, obj runtime.Object) {
	obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
}

func preparePersistentVolumeClaimForCreate(_ context.Context, obj runtime.Object) {
	obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
}

// canonicalizeSecret moves stringData, which is never stored, into data, where it overrides equal
// keys. It sets the default type.
func canonicalizeSecret(obj runtime.Object) {
	secret := obj.(*corev1.Secret)
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	secret.Type = cmp.Or(secret.Type, corev1.SecretTypeOpaque)
}
