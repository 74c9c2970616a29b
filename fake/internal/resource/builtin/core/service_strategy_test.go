package core

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestPrepareServiceForUpdate(t *testing.T) {
	const balanced = `"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster",
		"externalTrafficPolicy":"Local","healthCheckNodePort":30009,"allocateLoadBalancerNodePorts":true,"loadBalancerClass":"example.com/a",
		"ports":[{"port":1,"nodePort":30001}]`
	for name, test := range map[string]struct{ sent, want string }{
		"the same type": {`{"type":"LoadBalancer",` + balanced + `}`, `{"type":"LoadBalancer",` + balanced + `}`},
		"node port": {`{"type":"NodePort",` + balanced + `}`, `{"type":"NodePort","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],
			"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Local","ports":[{"port":1,"nodePort":30001}]}`},
		"cluster IP": {`{"type":"ClusterIP",` + balanced + `}`, `{"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],
			"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","ports":[{"port":1}]}`},
		"external IP": {`{"type":"ClusterIP","externalIPs":["198.51.100.7"],"externalTrafficPolicy":"Local"}`,
			`{"type":"ClusterIP","externalIPs":["198.51.100.7"],"externalTrafficPolicy":"Local"}`},
		"external name": {`{"type":"ExternalName",` + balanced + `}`, `{"type":"ExternalName","internalTrafficPolicy":"Cluster","ports":[{"port":1}]}`},
		"changed fields are left to validation": {
			`{"type":"ExternalName","clusterIP":"10.0.0.2","ipFamilies":["IPv6"],"ipFamilyPolicy":"PreferDualStack","externalTrafficPolicy":"Cluster",
			"healthCheckNodePort":30008,"allocateLoadBalancerNodePorts":false,"loadBalancerClass":"example.com/b","ports":[{"port":1,"nodePort":30002}]}`,
			`{"type":"ExternalName","clusterIP":"10.0.0.2","ipFamilies":["IPv6"],"ipFamilyPolicy":"PreferDualStack","externalTrafficPolicy":"Cluster",
			"healthCheckNodePort":30008,"allocateLoadBalancerNodePorts":false,"loadBalancerClass":"example.com/b","ports":[{"port":1,"nodePort":30002}]}`},
	} {
		var old, service, want corev1.Service
		require.NoError(t, json.Unmarshal([]byte(`{"type":"LoadBalancer",`+balanced+`}`), &old.Spec))
		require.NoError(t, json.Unmarshal([]byte(test.sent), &service.Spec))
		require.NoError(t, json.Unmarshal([]byte(test.want), &want.Spec))
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.6"}}
		if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
			want.Status = service.Status
		}
		prepareServiceForUpdate(context.Background(), &service, &old)
		require.Equal(t, want, service, name)
	}
}
