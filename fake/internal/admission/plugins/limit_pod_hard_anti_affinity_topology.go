package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// limitPodHardAntiAffinityTopology refuses pods that keep others away from more than a node.
type limitPodHardAntiAffinityTopology struct{}

func newLimitPodHardAntiAffinityTopology(Dependencies) admission.Interface {
	return limitPodHardAntiAffinityTopology{}
}

func (limitPodHardAntiAffinityTopology) Name() string { return "LimitPodHardAntiAffinityTopology" }

func (limitPodHardAntiAffinityTopology) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create, admissionv1.Update)
}

func (limitPodHardAntiAffinityTopology) Validate(_ context.Context, attrs *admission.Attributes) error {
	affinity := attrs.Object.(*corev1.Pod).Spec.Affinity
	if affinity == nil || affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname {
			return forbiddenf(attrs, "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %v but only key %v is allowed",
				term.TopologyKey, corev1.LabelHostname)
		}
	}
	return nil
}
