package builtin

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What the strategies of a real server give new objects of the core group, and
// what decoding one of them does. Of the defaults, those of Namespaces and Secrets
// are here; the other types have none yet.

// prepareNamespaceForCreate gives a new namespace the finalizer and the phase that every
// one has (NS-05), and the label, as its name may have been generated just now.
func prepareNamespaceForCreate(obj runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	canonicalizeNamespace(ns)
}

// canonicalizeNamespace gives a namespace its name as a label, whatever was sent
// (NS-11).
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

func preparePodForCreate(obj runtime.Object) { obj.(*corev1.Pod).Status.Phase = corev1.PodPending }

// podGracePeriod is the grace period of a pod (DL-22): what the delete asks for, or what
// the pod has, or 30 seconds; nothing for one that no node runs, or that has run.
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

func preparePersistentVolumeForCreate(obj runtime.Object) {
	obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
}

func preparePersistentVolumeClaimForCreate(obj runtime.Object) {
	obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
}

// canonicalizeSecret moves the stringData of a Secret, which is never stored, into its
// data, where it wins, and gives it the type that one has which says none.
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
