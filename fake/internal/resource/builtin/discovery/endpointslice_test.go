package discovery

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEndpointSliceDefaults(t *testing.T) {
	s := &discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{
		{Port: new(int32(80))}, {Name: new("dns"), Protocol: new(corev1.ProtocolUDP)},
	}}
	setEndpointSliceDefaults(s)
	require.Equal(t, []discoveryv1.EndpointPort{
		{Name: new(""), Protocol: new(corev1.ProtocolTCP), Port: new(int32(80))},
		{Name: new("dns"), Protocol: new(corev1.ProtocolUDP)},
	}, s.Ports)
}

func TestEndpointSliceTopologyAndGeneration(t *testing.T) {
	topology := map[string]string{"rack": "4"}
	slice := func(label, address string, topology map[string]string) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Generation: 1, Labels: map[string]string{"l": label}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}, DeprecatedTopology: topology}},
		}
	}
	created := slice("a", "10.0.0.1", topology)
	prepareEndpointSliceForCreate(t.Context(), created)
	require.Empty(t, created.Endpoints[0].DeprecatedTopology)

	for name, c := range map[string]struct {
		slice, old *discoveryv1.EndpointSlice
		generation int64
		topology   map[string]string
	}{
		"nothing":         {slice("a", "10.0.0.1", nil), slice("a", "10.0.0.1", nil), 1, nil},
		"labels":          {slice("b", "10.0.0.1", nil), slice("a", "10.0.0.1", nil), 2, nil},
		"address":         {slice("a", "10.0.0.2", topology), slice("a", "10.0.0.1", topology), 2, nil},
		"topology":        {slice("a", "10.0.0.1", topology), slice("a", "10.0.0.1", nil), 2, nil},
		"stored topology": {slice("a", "10.0.0.1", topology), slice("a", "10.0.0.1", topology), 1, topology},
	} {
		t.Run(name, func(t *testing.T) {
			prepareEndpointSliceForUpdate(t.Context(), c.slice, c.old)
			require.Equal(t, c.generation, c.slice.Generation)
			require.Equal(t, c.topology, c.slice.Endpoints[0].DeprecatedTopology)
		})
	}
}

// An update keeps the node of an endpoint that is stored in its topology.
func TestEndpointSliceNodesInTopology(t *testing.T) {
	slice := func(address string, nodes ...string) *discoveryv1.EndpointSlice {
		s := &discoveryv1.EndpointSlice{}
		for _, node := range nodes {
			s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{address}, DeprecatedTopology: map[string]string{corev1.LabelHostname: node},
			})
		}
		return s
	}
	old, updated := slice("10.0.0.1", "a", "b", "c/d", ""), slice("10.0.0.2", "a", "b", "c/d", "", "new")
	updated.Endpoints[1].NodeName = new("other")
	updated.Endpoints = append(updated.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.0.0.3"}})
	prepareEndpointSliceForUpdate(t.Context(), updated, old)
	for i, want := range []*string{new("a"), new("other"), nil, nil, nil, nil} {
		require.Equal(t, want, updated.Endpoints[i].NodeName, i)
		require.Empty(t, updated.Endpoints[i].DeprecatedTopology)
	}
}
