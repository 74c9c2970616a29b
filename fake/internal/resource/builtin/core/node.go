//lint:file-ignore SA1019 nodes of old clients have the field

package core

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// setNodeDefaults makes podCIDR and podCIDRs agree, where podCIDR is right if both are set. A node
// that does not say what can be allocated offers its capacity.
func setNodeDefaults(node *corev1.Node) {
	switch cidrs := node.Spec.PodCIDRs; {
	case node.Spec.PodCIDR != "" && (len(cidrs) == 0 || cidrs[0] != node.Spec.PodCIDR):
		node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	case node.Spec.PodCIDR == "" && len(cidrs) > 0:
		node.Spec.PodCIDR = cidrs[0]
	}
	if node.Status.Allocatable == nil && node.Status.Capacity != nil {
		node.Status.Allocatable = maps.Clone(node.Status.Capacity)
	}
	setResourceListDefaults(node.Status.Capacity)
	setResourceListDefaults(node.Status.Allocatable)
}

// prepareNodeForCreate keeps the status. It removes what nodes do not have any more.
func prepareNodeForCreate(_ context.Context, node *corev1.Node) {
	node.Spec.ConfigSource, node.Status.Config = nil, nil
	node.Spec.PodPreemptionPolicy = nil // InPlacePodVerticalScalingSchedulerPreemption is off
}

func prepareNodeForUpdate(_ context.Context, node, old *corev1.Node) {
	if old.Spec.ConfigSource == nil {
		node.Spec.ConfigSource = nil
	}
	if old.Spec.PodPreemptionPolicy == nil {
		node.Spec.PodPreemptionPolicy = nil
	}
}

// nodeStatusSubresource removes the status of spec.configSource too.
func nodeStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, node, old *corev1.Node) {
		node.Spec = old.Spec
		if old.Status.Config == nil {
			node.Status.Config = nil
		}
	})
	return s
}
