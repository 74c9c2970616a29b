package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Subresources that only a kubelet can serve return a Status with that reason.
func TestKubeletSubresources(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(newPod("p", makeRunning, addAddress),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		newEndpointSlice("s", "web", nil)))
	const pods, services = "/api/v1/namespaces/default/pods/", "/api/v1/namespaces/default/services/"
	for _, tc := range []struct {
		method, path string
		code         int
		message      string
	}{
		{"GET", pods + "p/log?follow=true", 501, "there is no kubelet behind this test server and nothing runs on it: pods/log cannot be answered"},
		{"GET", pods + "p/exec?command=ls", 501, "pods/exec cannot be answered"},
		{"POST", pods + "p/exec?command=ls", 501, "pods/exec cannot be answered"},
		{"POST", pods + "p/attach", 501, "pods/attach cannot be answered"},
		{"POST", pods + "p/portforward", 501, "pods/portforward cannot be answered"},
		{"GET", pods + "p/proxy", 501, "pods/proxy cannot be answered"},
		{"DELETE", pods + "https:p:8443/proxy/some/path?x=y", 501, "pods/proxy cannot be answered"},
		{"OPTIONS", pods + "p/proxy", 501, "pods/proxy cannot be answered"},
		{"PATCH", services + "s:web/proxy/", 501, "services/proxy cannot be answered"},
		{"PUT", "/api/v1/nodes/n/proxy/metrics", 501, "nodes/proxy cannot be answered"},
		{"GET", pods + "none/log", 404, `pods "none" not found`},
		{"POST", pods + "none/exec", 404, `pods "none" not found`},
		{"POST", pods + "a%25b/exec", 400, `Name parameter invalid: "a%b": may not contain '%'`},
		{"GET", services + "%25:80/proxy", 400, `Name parameter invalid: "%": may not contain '%'`},
		{"GET", services + "http:none:80/proxy", 404, `services "none" not found`},
		{"GET", services + "none/proxy", 503, `no endpoints available for service "none"`},
		{"GET", services + "a:b:c:d/proxy", 400, `invalid service request "a:b:c:d"`},
		{"POST", pods + "p/exec?dryRun=All", 400, "dryRun is not supported"},
		{"POST", pods + "none/attach?dryRun=All", 400, "dryRun is not supported"},
		{"POST", pods + "p/log", 405, "the server does not allow this method on the requested resource"},
		{"PUT", pods + "p/exec", 405, "the server does not allow this method on the requested resource"},
		{"GET", pods + "p/exec/deeper", 404, "the server could not find the requested resource"},
		{"GET", pods + "p/nothing", 404, "the server could not find the requested resource"},
	} {
		code, status := sendForStatus(t, srv, tc.method, tc.path, "", "")
		require.Equal(t, tc.code, code, "%s %s: %s", tc.method, tc.path, status.Message)
		require.Contains(t, status.Message, tc.message)
	}

	_, err := client.CoreV1().Pods("default").GetLogs("p", &corev1.PodLogOptions{}).Stream(t.Context())
	require.ErrorContains(t, err, "there is no kubelet")
}

// Requests for a container that a pod does not have, for a pod on a node that does not exist, or
// for a pending pod without a node, do not reach a kubelet. The log of the last is empty.
func TestKubeletSubresourcesOfContainers(t *testing.T) {
	addContainers := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i:1"}}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d", Image: "i:1"})
	}
	onMissingNode := func(p *corev1.Pod) { p.Spec.NodeName = "none" }
	srv, client := startClient(t, fakeapi.WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		newPod("one", makeRunning), newPod("many", makeRunning, addContainers), newPod("lost", makeRunning, addContainers, onMissingNode),
		newPod("pending", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		newPod("running", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))) // a fixture without a node
	for path, want := range map[string]struct {
		code    int
		message string
	}{
		"one/exec?container=c":       {501, "pods/exec cannot be answered"},
		"one/exec?container=none":    {400, "container none is not valid for pod one"},
		"one/log?container=none":     {400, "container none is not valid for pod one"},
		"many/log":                   {400, "a container name must be specified for pod many, choose one of: [i c d]"},
		"many/attach":                {400, "a container name must be specified for pod many, choose one of: [i c d]"},
		"many/log?container=i":       {501, "pods/log cannot be answered"},
		"many/portforward":           {501, "pods/portforward cannot be answered"},
		"running/log":                {501, "pods/log cannot be answered"},
		"running/exec":               {501, "pods/exec cannot be answered"},
		"lost/log":                   {400, "a container name must be specified for pod lost, choose one of: [i c d]"},
		"lost/log?container=c":       {404, `nodes "none" not found`},
		"lost/exec?container=c":      {404, `nodes "none" not found`},
		"lost/attach?container=c":    {404, `nodes "none" not found`},
		"lost/portforward":           {404, `nodes "none" not found`},
		"pending/exec?container=a":   {400, "container a is not valid for pod pending"},
		"pending/exec?command=ls":    {400, "pod pending does not have a host assigned"},
		"pending/attach":             {400, "pod pending does not have a host assigned"},
		"pending/portforward":        {400, "pod pending does not have a host assigned"},
		"pending/log?container=none": {400, "container none is not valid for pod pending"},
	} {
		code, status := sendForStatus(t, srv, "GET", "/api/v1/namespaces/default/pods/"+path, "", "")
		require.Equal(t, want.code, code, path)
		require.Contains(t, status.Message, want.message, path)
	}
	log, err := client.CoreV1().Pods("default").GetLogs("pending", &corev1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	require.Empty(t, log)
}

// A proxy sends requests only to addresses of pods that are global.
func TestProxyAddresses(t *testing.T) {
	withAddress := func(name string, phase corev1.PodPhase, addresses ...string) *corev1.Pod {
		return newPod(name, func(p *corev1.Pod) {
			p.Status.Phase = phase
			for _, a := range addresses {
				p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: a})
			}
		})
	}
	srv, _ := startClient(t, fakeapi.WithObjects(withAddress("pending", corev1.PodPending), withAddress("running", corev1.PodRunning),
		withAddress("ready", corev1.PodRunning, "10.0.0.1", "fd00::1"), withAddress("loopback", corev1.PodRunning, "127.0.0.1"),
		withAddress("metadata", corev1.PodRunning, "169.254.169.254"), withAddress("first", corev1.PodPending, "::1", "10.0.0.1")))
	for pod, want := range map[string]int{"running": 501, "ready": 501, "ready:80": 501, "pending": 400, "https:pending:80": 400, "loopback": 400, "metadata": 400, "first": 400} {
		code, status := sendForStatus(t, srv, "GET", "/api/v1/namespaces/default/pods/"+pod+"/proxy/", "", "")
		require.Equal(t, want, code, pod)
		if want == 400 {
			require.Equal(t, "address not allowed", status.Message)
			require.Equal(t, metav1.StatusReasonBadRequest, status.Reason)
		}
	}
}

// The options of a log are checked before the pod is looked up.
func TestLogOptions(t *testing.T) {
	srv, _ := startClient(t, fakeapi.WithObjects(newPod("p", makeRunning), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}))
	const log = "/api/v1/namespaces/default/pods/p/log?"
	for query, want := range map[string]string{
		"tailLines=abc":                         `strconv.ParseInt: parsing "abc": invalid syntax`,
		"limitBytes=":                           `strconv.ParseInt: parsing "": invalid syntax`,
		"sinceSeconds=1.5&sinceTime=x":          `strconv.ParseInt: parsing "1.5": invalid syntax`,
		"sinceTime=x&tailLines=abc&stream=None": `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
	} {
		code, status := sendForStatus(t, srv, "GET", log+query, "", "")
		require.Equal(t, 400, code, query)
		require.Equal(t, metav1.StatusReasonBadRequest, status.Reason, query)
		require.Equal(t, want, status.Message, query)
	}
	for query, want := range map[string]string{
		"tailLines=-1":                `tailLines: Invalid value: -1: must be greater than or equal to 0`,
		"limitBytes=0":                `limitBytes: Invalid value: 0: must be greater than 0`,
		"sinceSeconds=0&container=no": `sinceSeconds: Invalid value: 0: must be greater than 0`,
		"sinceSeconds=0&sinceTime=":   "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
		"stream=All":                  `stream: Forbidden: may not be specified`,
		"stream=None&tailLines=-1&limitBytes=-1": `[tailLines: Invalid value: -1: must be greater than or equal to 0, ` +
			`limitBytes: Invalid value: -1: must be greater than 0, stream: Forbidden: may not be specified]`,
	} {
		for _, pod := range []string{"p", "none"} {
			code, status := sendForStatus(t, srv, "GET", strings.Replace(log, "/p/", "/"+pod+"/", 1)+query, "", "")
			require.Equal(t, 422, code, query)
			require.Equal(t, `PodLogOptions "`+pod+`" is invalid: `+want, status.Message, query)
			require.Equal(t, "PodLogOptions", status.Details.Kind)
			require.Empty(t, status.Details.Group)
			require.NotEmpty(t, status.Details.Causes)
		}
	}
	for _, query := range []string{"tailLines=0&limitBytes=1&sinceSeconds=1", "sinceTime=2026-01-02T03:04:05Z&tailLines=1&tailLines=abc", "sinceTime=null"} {
		code, _ := sendForStatus(t, srv, "GET", log+query, "", "")
		require.Equal(t, 501, code, query)
	}
	// The log is text, but what the server itself returns is not.
	for accept, want := range map[string]string{"text/plain": "only the following media types are accepted: application/json", "text/html": "Available representations: text/plain, application/json"} {
		response := sendWith(t, srv, http.MethodGet, log, "", "Accept", accept)
		require.Equal(t, 406, response.code)
		require.Contains(t, string(response.body), want)
	}
}

// addAddress gives a pod the address of the endpoint of newEndpointSlice.
func addAddress(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "fd00::1"}, {IP: "10.0.0.1"}} }

// newEndpointSlice returns a slice of a Service with one endpoint, which is the pod p.
func newEndpointSlice(service, port string, ready *bool, change ...func(*discoveryv1.Endpoint)) *discoveryv1.EndpointSlice {
	endpoint := discoveryv1.Endpoint{
		Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ready},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p"},
	}
	for _, c := range change {
		c(&endpoint)
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-1", Namespace: "default", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{endpoint},
		Ports:       []discoveryv1.EndpointPort{{Name: &port, Port: new(int32(8080))}},
	}
}

// A proxy to a Service needs a ready endpoint for the port in the EndpointSlices of the Service.
// The endpoint must be the address of a pod in the same namespace.
func TestProxyEndpoints(t *testing.T) {
	service := func(name string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}, {Name: "admin", Port: 81}}}}
	}
	srv, _ := startClient(t, fakeapi.WithObjects(newPod("p", addAddress), service("none"), service("s"), newEndpointSlice("s", "web", nil),
		service("unready"), newEndpointSlice("unready", "web", new(false)),
		newEndpointSlice("no-target", "web", nil, func(e *discoveryv1.Endpoint) { e.TargetRef = nil }),
		newEndpointSlice("no-pod", "web", nil, func(e *discoveryv1.Endpoint) { e.TargetRef.Name = "q" }),
		newEndpointSlice("other-namespace", "web", nil, func(e *discoveryv1.Endpoint) { e.TargetRef.Namespace = "other" }),
		newEndpointSlice("other-address", "web", nil, func(e *discoveryv1.Endpoint) { e.Addresses[0] = "10.0.0.2" }),
	))
	noEndpoints := func(name string) string { return `no endpoints available for service "` + name + `"` }
	for id, want := range map[string]string{
		"s:web": "", "s:80": "", "https:s:80": "",
		"s": noEndpoints("s"), "s:81": noEndpoints("s"), "s:8080": `no service port 8080 found for service "s"`,
		"none": noEndpoints("none"), "none:80": noEndpoints("none"), "unready:web": noEndpoints("unready"),
		"https:kubernetes:443": noEndpoints("kubernetes"), "no-target:web": noEndpoints("no-target"), "no-pod:web": noEndpoints("no-pod"),
		"other-namespace:web": noEndpoints("other-namespace"), "other-address:web": noEndpoints("other-address"),
	} {
		code, status := sendForStatus(t, srv, "GET", "/api/v1/namespaces/default/services/"+id+"/proxy/", "", "")
		if want == "" {
			require.Equal(t, 501, code, id)
			continue
		}
		require.Equal(t, 503, code, id)
		require.Equal(t, metav1.StatusReasonServiceUnavailable, status.Reason, id)
		require.Equal(t, want, status.Message, id)
	}
}
