package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// defaultTolerationSeconds is how long a pod stays on a node that is not ready or not reachable.
type defaultTolerationSeconds struct{}

func newDefaultTolerationSeconds(Dependencies) admission.Interface { return defaultTolerationSeconds{} }

func (defaultTolerationSeconds) Name() string { return "DefaultTolerationSeconds" }

func (defaultTolerationSeconds) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create, admissionv1.Update)
}

// Admit adds tolerations for 300 seconds to a pod that has none for the same taints.
func (defaultTolerationSeconds) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	tolerations := pod.Spec.Tolerations // without those that are added here
	for _, key := range [...]string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerates := slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerates {
			seconds := int64(300)
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
	return nil
}
