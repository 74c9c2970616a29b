package aggregator

import (
	"testing"

	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Subresources are in the resource before the slash, which need not be listed. All have a kind.
func TestConvertResources(t *testing.T) {
	got, err := convertResources([]metav1.APIResource{
		{Name: "a/status", Namespaced: true, Group: "g", Version: "v1", Kind: "A", Verbs: []string{"get"}},
		{Name: "a", SingularName: "one", Namespaced: true, Group: "g", Version: "v1", Kind: "A", Verbs: []string{"list"}, ShortNames: []string{"s"}, Categories: []string{"c"}},
		{Name: "b/run", Verbs: []string{"create"}},
	})
	require.NoError(t, err)
	kind, none := &metav1.GroupVersionKind{Group: "g", Version: "v1", Kind: "A"}, &metav1.GroupVersionKind{}
	require.Equal(t, []apidiscoveryv2.APIResourceDiscovery{
		{
			Resource: "a", SingularResource: "one", Scope: apidiscoveryv2.ScopeNamespace, ResponseKind: kind,
			Verbs: []string{"list"}, ShortNames: []string{"s"}, Categories: []string{"c"},
			Subresources: []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "status", ResponseKind: kind, Verbs: []string{"get"}}},
		},
		{
			Resource: "b", Scope: apidiscoveryv2.ScopeCluster, ResponseKind: none,
			Subresources: []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "run", ResponseKind: none, Verbs: []string{"create"}}},
		},
	}, got)
	_, err = convertResources([]metav1.APIResource{{Name: "a"}, {Name: "a/status", Namespaced: true}})
	require.Error(t, err, "the scopes differ")

	found := []apidiscoveryv2.APIResourceDiscovery{{ResponseKind: kind, Subresources: make([]apidiscoveryv2.APISubresourceDiscovery, 1)}, {}}
	setKinds(found)
	require.Equal(t, []apidiscoveryv2.APIResourceDiscovery{
		{ResponseKind: kind, Subresources: []apidiscoveryv2.APISubresourceDiscovery{{ResponseKind: none}}}, {ResponseKind: none},
	}, found)
}

func TestHasEndpoint(t *testing.T) {
	for _, one := range []struct {
		endpoint discoveryv1.EndpointConditions
		port     discoveryv1.EndpointPort
		want     bool
	}{
		{discoveryv1.EndpointConditions{}, discoveryv1.EndpointPort{Name: new("p"), Port: new(int32(1))}, true},
		{discoveryv1.EndpointConditions{Ready: new(true)}, discoveryv1.EndpointPort{Name: new("p"), Port: new(int32(1))}, true},
		{discoveryv1.EndpointConditions{Ready: new(false)}, discoveryv1.EndpointPort{Name: new("p"), Port: new(int32(1))}, false},
		{discoveryv1.EndpointConditions{}, discoveryv1.EndpointPort{Name: new("other"), Port: new(int32(1))}, false},
		{discoveryv1.EndpointConditions{}, discoveryv1.EndpointPort{Port: new(int32(1))}, false},
		{discoveryv1.EndpointConditions{}, discoveryv1.EndpointPort{Name: new("p")}, false},
	} {
		got := hasEndpoint(&discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{{Conditions: one.endpoint}}, Ports: []discoveryv1.EndpointPort{one.port}}, "p")
		require.Equal(t, one.want, got, "%+v", one)
	}
}
