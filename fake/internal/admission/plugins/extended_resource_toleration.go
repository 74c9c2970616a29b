package plugins

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// extendedResourceToleration adds tolerations for the extended resources that a pod requests.
type extendedResourceToleration struct{}

func newExtendedResourceToleration(Dependencies) admission.Interface {
	return extendedResourceToleration{}
}

func (extendedResourceToleration) Name() string { return "ExtendedResourceToleration" }

func (extendedResourceToleration) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create, admissionv1.Update)
}

func (extendedResourceToleration) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	var names []string
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for name := range c.Resources.Requests {
			if isExtendedResource(string(name)) {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		added := corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.MatchToleration(&added) }) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, added)
		}
	}
	return nil
}

// isExtendedResource reports whether a resource has a domain other than kubernetes.io.
func isExtendedResource(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix)
}
