package resource

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What the strategies of a real server give new objects of the core group, and
// what decoding one of them does. Of the defaults, those of Namespaces and Secrets
// are here; the other types have none yet.

// beginNamespace gives a new namespace the finalizer and the phase that every
// one has (NS-05), and the label, as its name may have been generated just now.
func beginNamespace(obj runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	labelNamespace(ns)
}

// labelNamespace gives a namespace its name as a label, whatever was sent
// (NS-11).
func labelNamespace(obj runtime.Object) {
	ns := obj.(*corev1.Namespace)
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

func beginPod(obj runtime.Object) { obj.(*corev1.Pod).Status.Phase = corev1.PodPending }

// podGrace is the grace period of a pod (DL-22): what the delete asks for, or what
// the pod has, or 30 seconds; nothing for one that no node runs, or that has run.
func podGrace(obj runtime.Object, asked *int64) int64 {
	pod := obj.(*corev1.Pod)
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil {
		period = *own
	}
	if asked != nil {
		period = *asked
	}
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return 0
	case period < 0:
		return 1 // DL-25
	}
	return period
}

func beginVolume(obj runtime.Object) {
	obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
}

func beginClaim(obj runtime.Object) {
	obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
}

// completeSecret moves the stringData of a Secret, which is never stored, into its
// data, where it wins, and gives it the type that one has which says none.
func completeSecret(obj runtime.Object) {
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
