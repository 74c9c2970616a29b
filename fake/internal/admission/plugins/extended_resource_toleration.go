package plugins

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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
		addToleration(&pod.Spec, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return nil
}

// addToleration adds a toleration that the pod does not have. It replaces those that differ from it
// only in tolerationSeconds, which its effect cannot have.
func addToleration(spec *corev1.PodSpec, added corev1.Toleration) {
	known := false
	for i := range spec.Tolerations {
		if spec.Tolerations[i].MatchToleration(&added) {
			spec.Tolerations[i], known = added, true
		}
	}
	if !known {
		spec.Tolerations = append(spec.Tolerations, added)
	}
}

// isExtendedResource reports whether a resource has a valid name with a domain other than
// kubernetes.io, which a quota can have as well.
func isExtendedResource(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(name, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+name)) == 0
}
