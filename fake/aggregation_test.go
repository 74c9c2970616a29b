package fakeapi_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/certs"
)

// metricsGroup is the group of the aggregated API of the tests.
const metricsGroup = "metrics.k8s.io"

// metricsServer is an API server for metricsGroup, which counts requests.
type metricsServer struct {
	*httptest.Server
	requests atomic.Int64
	// last is the latest request that is not for discovery.
	last atomic.Pointer[http.Request]
	ca   []byte
}

// startMetricsServer starts a server whose certificate is for a Service.
func startMetricsServer(t *testing.T, service string) *metricsServer {
	t.Helper()
	authority, err := certs.NewAuthority()
	require.NoError(t, err)
	certificate, err := authority.IssueServer(service)
	require.NoError(t, err)
	m := &metricsServer{ca: authority.PEM()}
	m.Server = httptest.NewUnstartedServer(m)
	m.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}
	m.Config.ErrorLog = log.New(io.Discard, "", 0)
	m.StartTLS()
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP implements http.Handler.
func (m *metricsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.requests.Add(1)
	reply := func(value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
	switch path := r.URL.Path; {
	case path == "/apis/"+metricsGroup+"/v1beta1":
		reply(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: metricsGroup + "/v1beta1",
			APIResources: []metav1.APIResource{
				{Name: "nodes", SingularName: "node", Kind: "NodeMetrics", Verbs: []string{"get", "list"}},
				{Name: "pods", SingularName: "pod", Kind: "PodMetrics", Namespaced: true, Verbs: []string{"get", "list"}},
			},
		})
	case strings.HasSuffix(path, "/redirect"):
		http.Redirect(w, r, "https://example.com/", http.StatusFound)
	case strings.HasPrefix(path, "/apis/"+metricsGroup+"/v1beta1/"):
		m.last.Store(r)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		reply(map[string]any{"kind": "NodeMetricsList", "apiVersion": metricsGroup + "/v1beta1", "metadata": map[string]any{}, "items": []any{}})
	default:
		http.NotFound(w, r)
	}
}

// objects returns the Service of a server, its EndpointSlice and its APIService.
func (m *metricsServer) objects() (*corev1.Service, *discoveryv1.EndpointSlice, *apiregistrationv1.APIService) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "metrics-server", Namespace: "kube-system"}}
	service.Spec.Type, service.Spec.Ports = corev1.ServiceTypeClusterIP, []corev1.ServicePort{{Name: "https", Port: 443}}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "metrics-server-1", Namespace: "kube-system", Labels: map[string]string{discoveryv1.LabelServiceName: "metrics-server"}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.1"}}},
		Ports: []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(443))}},
	}
	return service, slice, m.apiService()
}

func (m *metricsServer) apiService() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1beta1." + metricsGroup},
		Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: "metrics-server"},
			Group:   metricsGroup, Version: "v1beta1", GroupPriorityMinimum: 100, VersionPriority: 100,
			CABundle: m.ca,
		},
	}
}

// network returns the option by which a server finds m.
func (m *metricsServer) network() fakeapi.Option {
	return fakeapi.WithServiceResolver(func(string, string, int32) (string, error) { return m.Listener.Addr().String(), nil })
}

// load stores the Service and its EndpointSlice, and registers the APIService.
func (m *metricsServer) load(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	service, slice, apiService := m.objects()
	require.NoError(t, srv.Load(service, slice, apiService))
}

// waitForCondition waits for the condition Available of an APIService, and returns it.
func waitForCondition(t *testing.T, srv *fakeapi.Server, name, reason string) (c apiregistrationv1.APIServiceCondition) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		s := &apiregistrationv1.APIService{}
		require.NoError(t, srv.Get("", name, s))
		found := helper.GetAPIServiceConditionByType(s, apiregistrationv1.Available)
		require.NotNil(t, found)
		require.Equal(t, reason, found.Reason, found.Message)
		c = *found
	}, 2*time.Minute, time.Millisecond, name)
	return c
}

const (
	metricsAPIService = "v1beta1." + metricsGroup
	metricsPath       = "/apis/" + metricsGroup + "/v1beta1"
)

// A request for an aggregated API is forwarded with the user, by a client with the certificate of
// the front proxy, and without the credentials of the client.
func TestAggregatedAPI(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), m.network())
	m.load(t, srv)
	c := waitForCondition(t, srv, metricsAPIService, "Passed")
	require.Equal(t, apiregistrationv1.ConditionTrue, c.Status)
	require.Equal(t, "all checks passed", c.Message)

	code, header, body := getWithAccept(t, srv, "GET", metricsPath+"/nodes?b=1&a=x", "application/json", "X-Remote-User", "eve", "X-Remote-Extra-A", "b")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, "NodeMetricsList")
	require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	r := m.last.Load()
	require.Equal(t, "a=x&b=1", r.URL.RawQuery)
	require.Equal(t, []string{"system:admin"}, r.Header["X-Remote-User"])
	require.Equal(t, []string{"system:masters", "system:authenticated"}, r.Header["X-Remote-Group"])
	require.Empty(t, r.Header.Get("X-Remote-Extra-A"))
	require.Empty(t, r.Header.Get("Authorization"))
	require.Equal(t, "https", r.Header.Get("X-Forwarded-Proto"))
	require.Equal(t, metricsPath+"/nodes", r.Header.Get("X-Forwarded-Uri"))
	require.Equal(t, "127.0.0.1", r.Header.Get("X-Forwarded-For"))
	require.Equal(t, header.Get("Audit-Id"), r.Header.Get("Audit-Id"))
	require.Equal(t, r.Header.Get("X-Forwarded-Host"), r.Host)
	require.Equal(t, "front-proxy-client", r.TLS.PeerCertificates[0].Subject.CommonName)

	// The server authorizes requests before it forwards them.
	ann, err := srv.RESTConfigWithCertificate("ann", "team-a")
	require.NoError(t, err)
	_, err = dynamic.NewForConfigOrDie(ann).Resource(schema.GroupVersionResource{Group: metricsGroup, Version: "v1beta1", Resource: "nodes"}).List(t.Context(), metav1.ListOptions{})
	require.EqualError(t, err, `nodes.metrics.k8s.io is forbidden: User "ann" cannot list resource "nodes" in API group "metrics.k8s.io" at the cluster scope`)

	code, _, body = getWithAccept(t, srv, "GET", metricsPath+"/redirect", "application/json")
	require.Equal(t, http.StatusBadGateway, code)
	require.Equal(t, "the backend attempted to redirect this request, which is not permitted", body)
}

// Discovery has the groups of other servers in the order of their priorities, and their resources.
func TestAggregatedAPIDiscovery(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	srv := fakeapi.Start(t, m.network())
	m.load(t, srv)
	waitForCondition(t, srv, metricsAPIService, "Passed")
	for name, client := range discoveryClients(t, srv) {
		groups, resources, err := client.ServerGroupsAndResources()
		require.NoError(t, err, name)
		require.Equal(t, metricsGroup, groups[len(groups)-1].Name, name)
		require.Equal(t, metricsGroup+"/v1beta1", groups[len(groups)-1].PreferredVersion.GroupVersion, name)
		found := false
		for _, list := range resources {
			if list.GroupVersion == metricsGroup+"/v1beta1" {
				found = true
				require.Len(t, list.APIResources, 2, name)
				require.Equal(t, "NodeMetrics", list.APIResources[0].Kind, name)
			}
		}
		require.True(t, found, name)
	}
	code, _, body := getWithAccept(t, srv, "GET", "/apis/"+metricsGroup, "application/json")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"kind":"APIGroup","apiVersion":"v1","name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}],
		"preferredVersion":{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}}`, body)
}

// staleVersions returns the groups that are stale in aggregated discovery.
func staleVersions(t *testing.T, srv *fakeapi.Server) (stale []string) {
	t.Helper()
	_, _, body := getWithAccept(t, srv, "GET", "/apis", aggregatedDiscovery)
	var list apidiscoveryv2.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	for _, g := range list.Items {
		for _, v := range g.Versions {
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				stale = append(stale, g.Name+"/"+v.Version)
			}
		}
	}
	return stale
}

// A server that goes away gets 503 with the error of the connection until a check fails, and then
// with the text of an unavailable one.
func TestAggregatedAPIUnavailable(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	srv := fakeapi.Start(t, m.network())
	service, slice, apiService := m.objects()
	require.NoError(t, srv.Load(apiService))
	c := waitForCondition(t, srv, metricsAPIService, "ServiceNotFound")
	require.Equal(t, `service/metrics-server in "kube-system" is not present`, c.Message)
	require.Equal(t, []string{metricsGroup + "/v1beta1"}, staleVersions(t, srv))
	_, _, index := getWithAccept(t, srv, "GET", "/", "application/json")
	require.Regexp(t, `"/apis/metrics.k8s.io",\s+"/apis/metrics.k8s.io/v1beta1",`, index)
	code, header, body := getWithAccept(t, srv, "GET", metricsPath+"/nodes", "application/json")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "service unavailable\n", body)
	require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))

	service.Spec.Ports[0].Port = 444
	require.NoError(t, srv.Load(service))
	c = waitForCondition(t, srv, metricsAPIService, "ServicePortError")
	require.Equal(t, `service/metrics-server in "kube-system" is not listening on port 443`, c.Message)
	kubectl := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
	service.Spec.Ports[0].Port = 443
	stored, err := kubectl.Services("kube-system").Get(t.Context(), "metrics-server", metav1.GetOptions{})
	require.NoError(t, err)
	stored.Spec.Ports = service.Spec.Ports
	_, err = kubectl.Services("kube-system").Update(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err)
	c = waitForCondition(t, srv, metricsAPIService, "EndpointsNotFound")
	require.Equal(t, `cannot find endpointslices for service/metrics-server in "kube-system"`, c.Message)
	require.NoError(t, srv.Load(slice))
	waitForCondition(t, srv, metricsAPIService, "Passed")
	require.Empty(t, staleVersions(t, srv))

	m.Close()
	code, _, body = getWithAccept(t, srv, "GET", metricsPath+"/nodes", "application/json")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Regexp(t, `^error trying to reach service: dial tcp 127.0.0.1:\d+: connect: connection refused\n$`, body)
}

// An APIService may be defined by a Service with an external name.
func TestAggregatedAPIWithExternalName(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	u, err := url.Parse(m.URL)
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(u.Host)
	require.NoError(t, err)
	require.NoError(t, srv.LoadYAML(fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: metrics-server, namespace: kube-system}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  service: {namespace: kube-system, name: metrics-server, port: %s}
  group: metrics.k8s.io
  version: v1beta1
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
`, port)))
	waitForCondition(t, srv, metricsAPIService, "Passed")
	code, _, _ := getWithAccept(t, srv, "GET", metricsPath+"/nodes", "application/json")
	require.Equal(t, http.StatusOK, code)
}

// The OpenAPI documents have those of other servers.
func TestAggregatedAPIInOpenAPI(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	const name = "apis/" + metricsGroup + "/v1beta1"
	m.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/openapi/v3":
			_, _ = io.WriteString(w, `{"paths":{"version":{"serverRelativeURL":"/openapi/v3/version?hash=X"},"`+name+`":{"serverRelativeURL":"/openapi/v3/`+name+`?hash=A"}}}`)
		case "/openapi/v3/" + name:
			_, _ = io.WriteString(w, `{"openapi":"3.0.0","of":"another server"}`)
		case "/openapi/v2":
			_, _ = io.WriteString(w, `{"swagger":"2.0","info":{"title":"metrics","version":"1"},"paths":{"/version/":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/Unused"}}}}},"/`+name+`/nodes":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/NodeMetrics"}}}}}},
				"definitions":{"NodeMetrics":{"type":"object"},"Unused":{"type":"object"}}}`)
		default:
			m.ServeHTTP(w, r)
		}
	})
	srv := fakeapi.Start(t, m.network())
	m.load(t, srv)
	waitForCondition(t, srv, metricsAPIService, "Passed")

	_, _, body := getWithAccept(t, srv, "GET", "/openapi/v3", "application/json")
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &index))
	require.Equal(t, "/openapi/v3/"+name+"?hash=A", index.Paths[name].ServerRelativeURL)
	require.NotContains(t, index.Paths["version"].ServerRelativeURL, "hash=X")
	require.Contains(t, index.Paths, "apis/apiregistration.k8s.io/v1")
	_, _, body = getWithAccept(t, srv, "GET", index.Paths[name].ServerRelativeURL, "application/json")
	require.Contains(t, body, "another server")

	for range 2 { // the merged document is kept
		_, _, body = getWithAccept(t, srv, "GET", "/openapi/v2", "application/json")
		require.Contains(t, body, `"/`+name+`/nodes"`)
		require.Contains(t, body, `"NodeMetrics"`)
		require.NotContains(t, body, `"Unused"`)
		require.Contains(t, body, `"/api/v1/pods"`)
	}
}
