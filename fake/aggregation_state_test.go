package fakeapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	fakeapi "example.com/fakeapi/fake"
)

const apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"

// apiServiceRows returns the rows of kubectl get apiservices by name: the service and the
// availability.
func apiServiceRows(t *testing.T, srv *fakeapi.Server) map[string]string {
	t.Helper()
	_, body := fetch(t, srv, "GET", apiServicesPath, asTable)
	_, rows := decodeTable(t, body)
	all := make(map[string]string)
	for _, row := range rows {
		all[row[0].(string)] = fmt.Sprint(row[1], " ", row[2])
	}
	return all
}

// Each group and version that the server has, also those of custom resources, has an APIService,
// with and without controllers, in forks, and after a restore.
func TestLocalAPIServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
		rows := apiServiceRows(t, srv)
		for _, name := range []string{"v1.", "v1.apps", "v2.autoscaling", "v1.autoscaling", "v1.apiextensions.k8s.io"} {
			require.Equal(t, "Local True", rows[name], name)
		}
		require.NotContains(t, rows, "v1.apiregistration.k8s.io")
		before := srv.Snapshot()

		require.NoError(t, srv.LoadYAML(definitionOfGadgets))
		require.Equal(t, "Local True", apiServiceRows(t, srv)["v1.shop.example.com"])
		s := &apiregistrationv1.APIService{}
		require.NoError(t, srv.Get("", "v1.shop.example.com", s))
		require.Equal(t, "true", s.Labels["kube-aggregator.kubernetes.io/automanaged"])
		require.Equal(t, apiregistrationv1.APIServiceSpec{Group: "shop.example.com", Version: "v1", GroupPriorityMinimum: 1000, VersionPriority: 100}, s.Spec)

		// One that is deleted comes back.
		code, _, body := send(t, srv, "DELETE", apiServicesPath+"/v1.shop.example.com", "application/json", nil)
		require.Equal(t, http.StatusOK, code, string(body))
		again := &apiregistrationv1.APIService{}
		require.NoError(t, srv.Get("", "v1.shop.example.com", again))
		require.NotEqual(t, s.UID, again.UID)

		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		require.Contains(t, apiServiceRows(t, fork), "v1.shop.example.com")

		code, _, _ = send(t, srv, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.shop.example.com", "application/json", nil)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, rows, apiServiceRows(t, srv))
		require.NoError(t, fork.Restore(before, 1000))
		require.Equal(t, rows, apiServiceRows(t, fork))
	})
}

const definitionOfGadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// Without system objects there are no APIServices.
func TestNoAPIServicesWithoutSystemObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithYAML(definitionOfGadgets))
		require.Empty(t, apiServiceRows(t, srv))
		code, _, body := getWithAccept(t, srv, "GET", "/apis/shop.example.com", "application/json")
		require.Equal(t, http.StatusOK, code, body)
	})
}

// An APIService is validated with the texts of a real server.
func TestAPIServiceValidation(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, test := range []struct{ body, message string }{
		{`{"metadata":{"name":"v1.a.example.com"},"spec":{"group":"b.example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1}}`,
			"metadata.name: Invalid value: \"v1.a.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.b.example.com\""},
		{`{"metadata":{"name":"v1.b.example.com"},"spec":{"group":"b.example.com","version":"v1","groupPriorityMinimum":20001,"versionPriority":1}}`,
			"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000"},
		{`{"metadata":{"name":"v1.b.example.com"},"spec":{"group":"b.example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"insecureSkipTLSVerify":true}}`,
			"spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"},
	} {
		code, _, body := send(t, srv, "POST", apiServicesPath, "application/json", []byte(test.body))
		require.Equal(t, http.StatusUnprocessableEntity, code)
		require.Contains(t, decodeStatus(t, string(body)).Message, test.message)
	}
	code, _, body := send(t, srv, "POST", apiServicesPath, "application/json",
		[]byte(`{"metadata":{"name":"v1.b.example.com"},"spec":{"group":"b.example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"namespace":"a","name":"b"}},"status":{"conditions":[{"type":"Available","status":"True"}]}}`))
	require.Equal(t, http.StatusCreated, code)
	require.Contains(t, string(body), `"port":443`)
	require.Contains(t, string(body), `"status":{}`)
}

// On virtual time the server of an aggregated API is checked every 30 seconds. One that does not
// answer is stale in discovery, and keeps namespaces from being deleted, until it does again.
func TestAggregatedAPIOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		handler := &metricsServer{Server: &httptest.Server{}}
		listener, caBundle := serveWebhook(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if away.Load() {
				http.Error(w, "starting", http.StatusServiceUnavailable)
				return
			}
			handler.ServeHTTP(w, r)
		}), "metrics-server.kube-system.svc")
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(listener.DialContext))
		service, slice, _ := handler.objects()
		require.NoError(t, srv.Load(service, slice, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
		require.NoError(t, srv.LoadYAML(fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  service: {namespace: kube-system, name: metrics-server}
  group: metrics.k8s.io
  version: v1beta1
  caBundle: %s
  groupPriorityMinimum: 100
  versionPriority: 100
`, caBundle)))
		synctest.Wait()
		require.Equal(t, "kube-system/metrics-server True", apiServiceRows(t, srv)[metricsAPIService])
		require.Empty(t, staleVersions(t, srv))

		away.Store(true)
		time.Sleep(31 * time.Second)
		require.Equal(t, "kube-system/metrics-server False (FailedDiscoveryCheck)", apiServiceRows(t, srv)[metricsAPIService])
		require.Equal(t, []string{"metrics.k8s.io/v1beta1"}, staleVersions(t, srv))
		code, _, body := getWithAccept(t, srv, "GET", metricsPath+"/nodes", "application/json")
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.Equal(t, "service unavailable\n", body)

		namespaces := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces()
		require.NoError(t, namespaces.Delete(t.Context(), "team", metav1.DeleteOptions{}))
		time.Sleep(10 * time.Second)
		team, err := namespaces.Get(t.Context(), "team", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, corev1.NamespaceDeletionDiscoveryFailure, team.Status.Conditions[0].Type)
		require.Equal(t, corev1.ConditionTrue, team.Status.Conditions[0].Status)
		require.Equal(t, "DiscoveryFailed", team.Status.Conditions[0].Reason)
		require.Equal(t, "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "+
			"metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1", team.Status.Conditions[0].Message)

		away.Store(false)
		time.Sleep(2 * time.Minute)
		require.Equal(t, "kube-system/metrics-server True", apiServiceRows(t, srv)[metricsAPIService])
		_, err = namespaces.Get(t.Context(), "team", metav1.GetOptions{})
		require.EqualError(t, err, `namespaces "team" not found`)
	})
}

// Watches and upgraded connections are forwarded as they are.
func TestAggregatedAPIStreams(t *testing.T) {
	m := startMetricsServer(t, "metrics-server.kube-system.svc")
	frames := make(chan string)
	m.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Upgrade") != "":
			conn, buffer, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			line, _ := buffer.ReadString('\n')
			_, _ = io.WriteString(conn, strings.ToUpper(line))
		case r.URL.Query().Get("watch") != "":
			for frame := range frames {
				_, _ = io.WriteString(w, frame+"\n")
				_ = http.NewResponseController(w).Flush()
			}
		default:
			m.ServeHTTP(w, r)
		}
	})
	srv := fakeapi.Start(t, m.network())
	m.load(t, srv)
	waitForCondition(t, srv, metricsAPIService, "Passed")

	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+metricsPath+"/nodes?watch=1", nil)
	require.NoError(t, err)
	go func() { frames <- "first" }()
	response, err := srv.Client().Do(r)
	require.NoError(t, err)
	lines := bufio.NewReader(response.Body)
	for _, want := range []string{"first", "second"} {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\n", line)
		if want == "first" {
			frames <- "second"
		}
	}
	close(frames)
	require.NoError(t, response.Body.Close())

	r, err = http.NewRequestWithContext(t.Context(), "GET", srv.URL()+metricsPath+"/nodes/a/exec", nil)
	require.NoError(t, err)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	response, err = srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	stream := response.Body.(io.ReadWriter)
	_, err = io.WriteString(stream, "echo this\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(stream).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ECHO THIS\n", line)
}

func TestComponentStatuses(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ComponentStatuses()
	list, err := client.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 3)
	etcd, err := client.Get(t.Context(), "etcd-0", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}}, etcd.Conditions)
	_, err = client.Get(t.Context(), "none", metav1.GetOptions{})
	require.ErrorContains(t, err, "Component not found: none")
	selected, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=scheduler"})
	require.NoError(t, err)
	require.Len(t, selected.Items, 1)
	_, body := fetch(t, srv, "GET", "/api/v1/componentstatuses", asTable)
	_, rows := decodeTable(t, body)
	require.Equal(t, [][]any{
		{"scheduler", "Unhealthy", `Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused`, ""},
		{"controller-manager", "Unhealthy", `Get "https://127.0.0.1:10257/healthz": dial tcp 127.0.0.1:10257: connect: connection refused`, ""},
		{"etcd-0", "Healthy", "ok", ""},
	}, rows)
}
