package plugins

import (
	"context"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// nodeDeclaredFeatures refuses updates of pods that need features which their node does not declare
// (KEP-5328).
type nodeDeclaredFeatures struct {
	objects Objects
	version *version.Version
}

func newNodeDeclaredFeatures(d Dependencies) admission.Interface {
	return &nodeDeclaredFeatures{d.Objects, version.MajorMinor(1, resource.EmulatedMinor)}
}

func (p *nodeDeclaredFeatures) Name() string { return "NodeDeclaredFeatureValidator" }

func (p *nodeDeclaredFeatures) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Update) || isUpdateOf(attrs, pods, "resize")
}

func (p *nodeDeclaredFeatures) Validate(_ context.Context, attrs *admission.Attributes) error {
	pod, old := attrs.Object.(*corev1.Pod), attrs.OldObject.(*corev1.Pod)
	if !isChangeOnNode(pod, old) {
		return nil
	}
	framework := nodedeclaredfeatures.DefaultFramework
	required, err := framework.InferForPodUpdate(&nodedeclaredfeatures.PodInfo{Spec: &old.Spec, Status: &old.Status},
		&nodedeclaredfeatures.PodInfo{Spec: specToCompare(&pod.Spec, &old.Spec), Status: &pod.Status}, p.version)
	if err != nil {
		return forbiddenf(attrs, "failed to infer pod capability requirements: %w", err)
	}
	if required.IsEmpty() {
		return nil
	}
	node, err := nodeOf(p.objects, attrs, pod)
	if err != nil {
		return err
	}
	result, err := framework.MatchNode(required, node)
	switch {
	case err != nil:
		return forbiddenf(attrs, "failed to match pod requirements against node %q: %w", node.Name, err)
	case !result.IsMatch:
		return forbiddenf(attrs, "pod update requires features %s which are not available on node %q",
			strings.Join(result.UnsatisfiedRequirements, ", "), node.Name)
	}
	return nil
}

// specToCompare returns the new spec of a pod with the volumes of the old one, which do not change,
// and with its init containers unless their resources change: the library does not see that 1 and
// 1000m are the same.
func specToCompare(spec, old *corev1.PodSpec) *corev1.PodSpec {
	compared := *spec
	compared.Volumes = old.Volumes
	if len(spec.InitContainers) != len(old.InitContainers) || slices.EqualFunc(spec.InitContainers, old.InitContainers, haveSameResources) {
		compared.InitContainers = old.InitContainers
	}
	return &compared
}

func haveSameResources(a, b corev1.Container) bool {
	return equality.Semantic.DeepEqual(a.Resources, b.Resources)
}
