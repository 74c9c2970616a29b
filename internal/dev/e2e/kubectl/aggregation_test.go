package kubectl_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metricsAPI serves metrics.k8s.io/v1beta1 with the metrics of one node, and its OpenAPI document.
func metricsAPI(w http.ResponseWriter, r *http.Request) {
	const root = "/apis/metrics.k8s.io/v1beta1"
	metrics := map[string]any{
		"kind": "NodeMetrics", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{"name": "worker"},
		"timestamp": "2026-01-02T03:04:05Z", "window": "10s", "usage": map[string]any{"cpu": "250m", "memory": "512Mi"},
	}
	var body any
	switch r.URL.Path {
	case root:
		body = metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "metrics.k8s.io/v1beta1",
			APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", Verbs: []string{"get", "list"}}},
		}
	case root + "/nodes":
		body = map[string]any{"kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": []any{metrics}}
	case root + "/nodes/worker":
		body = metrics
	case "/openapi/v3":
		body = map[string]any{"paths": map[string]any{"apis/metrics.k8s.io/v1beta1": map[string]any{"serverRelativeURL": "/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=1"}}}
	case "/openapi/v3/apis/metrics.k8s.io/v1beta1":
		body = map[string]any{
			"openapi": "3.0.0", "info": map[string]any{"title": "metrics", "version": "1"},
			"paths": map[string]any{"/apis/metrics.k8s.io/v1beta1/nodes": map[string]any{"get": map[string]any{
				"x-kubernetes-group-version-kind": map[string]any{"group": "metrics.k8s.io", "version": "v1beta1", "kind": "NodeMetrics"},
				"responses":                       map[string]any{"200": map[string]any{"description": "OK"}},
			}}},
			"components": map[string]any{"schemas": map[string]any{"NodeMetrics": map[string]any{
				"type": "object", "description": "The metrics of a node.",
				"x-kubernetes-group-version-kind": []any{map[string]any{"group": "metrics.k8s.io", "version": "v1beta1", "kind": "NodeMetrics"}},
				"properties":                      map[string]any{"window": map[string]any{"type": "string", "description": "The time of the measurement."}},
			}}},
		}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// kubectl reads an aggregated API like any other, and says when it is away.
func TestAggregatedAPI(t *testing.T) {
	metrics := httptest.NewUnstartedServer(http.HandlerFunc(metricsAPI))
	metrics.Config.ErrorLog = log.New(io.Discard, "", 0)
	metrics.StartTLS()
	defer metrics.Close()
	_, port, err := net.SplitHostPort(metrics.Listener.Addr().String())
	require.NoError(t, err)

	u := newUser(t)
	require.NoError(t, u.srv.LoadYAML(fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: worker}
status: {allocatable: {cpu: "1", memory: 1Gi}}
---
apiVersion: v1
kind: Service
metadata: {name: metrics, namespace: default}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
  service: {namespace: default, name: metrics, port: %s}}
`, port)))
	u.do("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", waitLong)
	require.Contains(t, collapseSpaces(u.do("get", "apiservices")), "\nv1.apps Local True ")
	require.Contains(t, collapseSpaces(u.do("get", "apiservices", "v1beta1.metrics.k8s.io")), "\nv1beta1.metrics.k8s.io default/metrics True ")
	require.Equal(t, "NAME CPU(cores) CPU(%) MEMORY(bytes) MEMORY(%)\nworker 250m 25% 512Mi 50%", collapseSpaces(u.do("top", "nodes")))
	require.Equal(t, "250m", u.do("get", "nodes.metrics.k8s.io", "worker", "-o", "jsonpath={.usage.cpu}"))
	require.Contains(t, u.do("api-resources", "--api-group=metrics.k8s.io"), "NodeMetrics")
	require.Contains(t, u.do("explain", "nodes.window", "--api-version=metrics.k8s.io/v1beta1"), "The time of the measurement.")

	metrics.Close()
	require.Contains(t, u.doRefused("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"), "the server is currently unable to handle the request")
	u.do("annotate", "service", "metrics", "example.com/checked=yes") // the server is checked again
	u.do("wait", "--for=condition=Available=false", "apiservice/v1beta1.metrics.k8s.io", waitLong)
	require.Contains(t, collapseSpaces(u.do("get", "apiservices", "v1beta1.metrics.k8s.io")), " False (FailedDiscoveryCheck) ")
}

// kubectl get componentstatuses shows a control plane without a scheduler and a controller manager.
func TestComponentStatuses(t *testing.T) {
	r := newUser(t).try("get", "componentstatuses")
	require.Zero(t, r.code)
	require.Equal(t, "Warning: v1 ComponentStatus is deprecated in v1.19+\n", r.err)
	out := collapseSpaces(r.out)
	require.Contains(t, out, "\netcd-0 Healthy ok")
	require.Contains(t, out, "\nscheduler Unhealthy Get \"https://127.0.0.1:10259/healthz\": dial tcp 127.0.0.1:10259: connect: connection refused")
}
