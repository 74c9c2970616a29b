package discovery

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
)

func setEndpointSliceDefaults(s *discoveryv1.EndpointSlice) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if p.Name == nil {
			p.Name = new("")
		}
		if p.Protocol == nil {
			p.Protocol = new(corev1.ProtocolTCP)
		}
	}
}

func prepareEndpointSliceForCreate(_ context.Context, s *discoveryv1.EndpointSlice) {
	dropTopology(s)
}

// prepareEndpointSliceForUpdate counts a change of labels in the generation, because kube-proxy
// reads them. Topology that is sent counts too, although it is dropped.
func prepareEndpointSliceForUpdate(_ context.Context, s, old *discoveryv1.EndpointSlice) {
	sameEndpoints := equality.Semantic.DeepEqual(s.Endpoints, old.Endpoints)
	if !sameEndpoints || !maps.Equal(s.Labels, old.Labels) {
		s.Generation = old.Generation + 1
	}
	if !sameEndpoints {
		moveNodeNames(s, old)
		dropTopology(s)
	}
}

// moveNodeNames sets the nodeName of endpoints that have none to the node in their topology, where
// clients of v1beta1 stored it. Only nodes that the topology of old has count.
func moveNodeNames(s, old *discoveryv1.EndpointSlice) {
	stored := map[string]bool{}
	for i := range old.Endpoints {
		stored[old.Endpoints[i].DeprecatedTopology[corev1.LabelHostname]] = true
	}
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		node := e.DeprecatedTopology[corev1.LabelHostname]
		if e.NodeName == nil && stored[node] && len(validation.NameIsDNSSubdomain(node, false)) == 0 {
			e.NodeName = &node
		}
	}
}

// dropTopology clears the fields of v1beta1 that requests of v1 cannot set.
func dropTopology(s *discoveryv1.EndpointSlice) {
	for i := range s.Endpoints {
		s.Endpoints[i].DeprecatedTopology = nil
	}
}
