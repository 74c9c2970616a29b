package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// setNamespaceDefaults sets the label with the name (NS-11), and the phase.
func setNamespaceDefaults(ns *corev1.Namespace) {
	if ns.Name != "" {
		if ns.Labels == nil {
			ns.Labels = map[string]string{}
		}
		ns.Labels[corev1.LabelMetadataName] = ns.Name
	}
	if ns.Status.Phase == "" {
		ns.Status.Phase = corev1.NamespaceActive
	}
}

// prepareNamespaceForCreate sets the finalizer and the phase of a new namespace (NS-05), and its
// label, because the name may have been generated after setNamespaceDefaults.
func prepareNamespaceForCreate(_ context.Context, ns *corev1.Namespace) {
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	setNamespaceDefaults(ns)
}

// prepareNamespaceForUpdate keeps spec.finalizers.
func prepareNamespaceForUpdate(_ context.Context, ns, old *corev1.Namespace) {
	ns.Spec.Finalizers = old.Spec.Finalizers
}
