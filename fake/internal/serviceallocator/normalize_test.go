package serviceallocator

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// newService returns a Service with a spec in JSON.
func newService(t *testing.T, spec string) *corev1.Service {
	t.Helper()
	service := &corev1.Service{}
	require.NoError(t, json.Unmarshal([]byte(spec), &service.Spec))
	return service
}

func TestPatchAllocatedValues(t *testing.T) {
	const old = `{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30009,"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],
		"ports":[{"name":"a","port":1,"nodePort":30001},{"name":"b","port":2,"nodePort":30002}]}`
	for name, test := range map[string]struct{ sent, want string }{
		"all": {`{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"name":"b","port":7},{"name":"c","port":8}]}`,
			`{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30009,"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],
			"ports":[{"name":"b","port":7,"nodePort":30002},{"name":"c","port":8}]}`},
		"a port that was moved": {`{"type":"NodePort","ports":[{"name":"a","port":1},{"name":"c","port":2,"nodePort":30001}]}`,
			`{"type":"NodePort","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"name":"a","port":1},{"name":"c","port":2,"nodePort":30001}]}`},
		"another address": {`{"type":"ClusterIP","clusterIP":"10.0.0.2","ports":[{"name":"a","port":1}]}`,
			`{"type":"ClusterIP","clusterIP":"10.0.0.2","clusterIPs":["10.0.0.1"],"ports":[{"name":"a","port":1}]}`},
		"no new node ports": {`{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"name":"a","port":1},{"name":"b","port":2,"nodePort":30002}]}`,
			`{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],
			"ports":[{"name":"a","port":1},{"name":"b","port":2,"nodePort":30002}]}`},
		"no address": {`{"type":"ExternalName","ports":[{"name":"a","port":1}]}`, `{"type":"ExternalName","ports":[{"name":"a","port":1}]}`},
	} {
		service := newService(t, test.sent)
		patchAllocatedValues(service, newService(t, old))
		require.Equal(t, newService(t, test.want), service, name)
	}
}

func TestNormalizeClusterIPs(t *testing.T) {
	for name, test := range map[string]struct{ old, sent, want string }{
		"new, one field":        {"", `{"clusterIP":"1"}`, `{"clusterIP":"1","clusterIPs":["1"]}`},
		"new, none":             {"", `{}`, `{}`},
		"new, only the plural":  {"", `{"clusterIPs":["1"]}`, `{"clusterIPs":["1"]}`},
		"plural is missing":     {`{"clusterIP":"1","clusterIPs":["1","2"]}`, `{"clusterIP":"1"}`, `{"clusterIP":"1","clusterIPs":["1","2"]}`},
		"only the old changed":  {`{"clusterIP":"1","clusterIPs":["1","2"]}`, `{"clusterIP":"3","clusterIPs":["1","2"]}`, `{"clusterIP":"3","clusterIPs":["3"]}`},
		"only the old is empty": {`{"clusterIP":"1","clusterIPs":["1"]}`, `{"clusterIPs":["1"]}`, `{}`},
		"both changed":          {`{"clusterIP":"1","clusterIPs":["1"]}`, `{"clusterIP":"3","clusterIPs":["4"]}`, `{"clusterIP":"3","clusterIPs":["4"]}`},
	} {
		service := newService(t, test.sent)
		var old *corev1.Service
		if test.old != "" {
			old = newService(t, test.old)
		}
		normalizeClusterIPs(service, old)
		require.Equal(t, newService(t, test.want), service, name)
	}
}
