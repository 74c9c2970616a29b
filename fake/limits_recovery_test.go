package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Writes to a full server fail like those to a real one whose etcd is full (recorded of v0.37.2):
// 500 without a reason. They change nothing. Reads, dry runs and deletes succeed, and so do writes
// once there is space.
func TestQuota(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 300 << 10}), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"held","finalizers":["a/b"]}}`)
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`)
	body := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"data":{"k":"` + strings.Repeat("x", 10<<10) + `"}}`
	}
	stored := createUntilRefused(t, srv, body)
	require.Greater(t, stored, 10)
	require.Less(t, stored, 100)
	before, err := srv.Dump()
	require.NoError(t, err)
	revision := srv.ResourceVersion()
	watch := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&resourceVersion="+srv.ResourceVersion())
	for _, w := range []struct{ method, path, body string }{
		{"POST", configMapsPath, body("more")},
		{"PATCH", configMapsPath + "/m0", `{"data":{"l":"` + strings.Repeat("x", 20<<10) + `"}}`},
		{"PATCH", configMapsPath + "/more?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap",` + body("more")[1:]},
		{"POST", widgetsPath, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w","annotations":{"a":"` + strings.Repeat("x", 20<<10) + `"}}}`},
	} {
		require.Equal(t, map[string]any{
			"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
			"message": "etcdserver: mvcc: database space exceeded", "code": int64(500),
		}, requireCode(t, srv, 500, w.method, w.path, w.body).Object)
	}
	requireCode(t, srv, 201, "POST", configMapsPath+"?dryRun=All", body("more"))
	after, err := srv.Dump()
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, revision, srv.ResourceVersion())
	require.Error(t, srv.Load(configMap("fixture", strings.Repeat("x", 20<<10))))

	requireCode(t, srv, 200, "DELETE", configMapsPath+"/m0", "")
	requireCode(t, srv, 201, "POST", configMapsPath, body("m0")) // there is space after the delete
	requireCode(t, srv, 200, "DELETE", configMapsPath, "")
	requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/team", "")
	require.NoError(t, srv.RunControllers(t.Context()))
	requireCode(t, srv, 404, "GET", "/api/v1/namespaces/team", "") // controllers can write
	requireCode(t, srv, 201, "POST", configMapsPath, body("last"))
	var got []string
	for events := json.NewDecoder(watch.Body); len(got) == 0 || got[len(got)-1] != "ADDED last"; {
		var e watchEvent
		require.NoError(t, events.Decode(&e))
		got = append(got, e.Type+" "+e.Object.Metadata.Name)
	}
	require.Equal(t, []string{"DELETED m0", "ADDED m0"}, got[:2], "failed writes have no events")
}

// createUntilRefused creates ConfigMaps m0, m1 and so on with the body of each name, until the
// server has no more space. It returns their number. The create that is refused changes nothing.
func createUntilRefused(t *testing.T, srv *fakeapi.Server, body func(name string) string) (stored int) {
	t.Helper()
	for {
		before := srv.ResourceVersion()
		code, _, response := send(t, srv, "POST", configMapsPath, mediaJSON, []byte(body(fmt.Sprint("m", stored))))
		if code != http.StatusCreated {
			require.Equal(t, http.StatusInternalServerError, code, "%s", response)
			require.Equal(t, before, srv.ResourceVersion())
			return stored
		}
		stored++
		require.Less(t, stored, 1000)
	}
}

// A namespace can be deleted if there is no space for its conditions.
func TestDeleteNamespaceInFullStore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 30 << 10}))
	requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`)
	requireCode(t, srv, 201, "POST", configMapsPath, `{"metadata":{"name":"spare","annotations":{"a":"`+strings.Repeat("x", 200)+`"}}}`)
	createUntilRefused(t, srv, func(name string) string { return `{"metadata":{"name":"` + name + `"}}` })
	requireCode(t, srv, 200, "PATCH", configMapsPath+"/spare", `{"metadata":{"annotations":{"a":null}}}`)
	requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/team", "")
	require.NoError(t, srv.RunControllers(t.Context()))
	requireCode(t, srv, 404, "GET", "/api/v1/namespaces/team", "")
}

// The number of watches is limited separately. A watch beyond it returns 429, and client-go retries
// it.
func TestMaxWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{MaxWatches: 2}))
		ctx, cancel := context.WithCancel(t.Context())
		openWatch(t, ctx, srv, configMapsPath+"?watch=1")
		openWatch(t, t.Context(), srv, "/api/v1/watch/pods")
		code, header, body := send(t, srv, "GET", "/api/v1/namespaces?watch=1", "", nil)
		require.Equal(t, http.StatusTooManyRequests, code)
		require.Equal(t, tooManyRequestsBody, string(body))
		require.Equal(t, "1", header.Get("Retry-After"))
		code, _, _ = send(t, srv, "GET", configMapsPath, "", nil)
		require.Equal(t, http.StatusOK, code, "lists are not limited")
		time.AfterFunc(1500*time.Millisecond, cancel)
		start := time.Now()
		w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(start), "client-go retries each second")
		w.Stop()
	})
	_, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{MaxWatches: -1}))
	require.ErrorContains(t, err, "MaxWatches is negative: -1")
}

// History is limited in bytes: older watches and pages return 410, newer ones continue.
func TestHistoryBytes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{HistoryBytes: 1 << 20}), fakeapi.WithObjects(configMap("a", "1"), configMap("b", "1")))
	first := srv.ResourceVersion()
	token := func(list *unstructured.Unstructured) string {
		token, _, err := unstructured.NestedString(list.Object, "metadata", "continue")
		require.NoError(t, err)
		return token
	}
	page := requireCode(t, srv, 200, "GET", configMapsPath+"?limit=1", "")
	for i := range 30 {
		requireCode(t, srv, 200, "PATCH", configMapsPath+"/a", fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, strings.Repeat("x", 100<<10)))
	}
	events := readEvents(openWatch(t, t.Context(), srv, configMapsPath+"?watch=1&resourceVersion="+first).Body)
	require.Len(t, events, 1)
	require.Equal(t, []any{"ERROR", 410, metav1.StatusReasonExpired}, []any{events[0].Type, events[0].Object.Code, events[0].Object.Reason})
	expired := requireCode(t, srv, 410, "GET", configMapsPath+"?limit=1&continue="+token(page), "")
	requireCode(t, srv, 200, "GET", configMapsPath+"?limit=1&continue="+token(expired), "") // in the newest state
}

// After many concurrent requests have reached a limit, the failed ones have changed nothing, and
// the server serves as many as before.
func TestLimitsRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: 3, MaxMutatingRequestsInFlight: 3}), fakeapi.WithFaults(
			faults.Rule{Name: "slow", When: faults.Verb("create", "list"), Do: []faults.Effect{faults.Delay(time.Second)}}))
		for round := range 3 {
			codes := make(chan int, 20)
			for i := range 10 {
				go func() {
					code, _, _ := send(t, srv, "POST", configMapsPath, mediaJSON, []byte(fmt.Sprintf(`{"metadata":{"name":"r%d-%d"}}`, round, i)))
					codes <- code
				}()
				go func() {
					code, _, _ := send(t, srv, "GET", "/api/v1/pods", "", nil)
					codes <- code
				}()
			}
			counts := map[int]int{}
			for range 20 {
				counts[<-codes]++
			}
			require.Equal(t, map[int]int{201: 3, 200: 3, 429: 14}, counts)
		}
		srv.Faults().Clear()
		_, _, body := send(t, srv, "GET", configMapsPath, "", nil)
		var list metav1.PartialObjectMetadataList
		require.NoError(t, json.Unmarshal(body, &list))
		require.Len(t, list.Items, 9)
	})
}

// With many CRDs, all are served.
func TestManyCRDs(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	var definition map[string]any
	crdJSON, err := json.Marshal(decodeCRD(t, widgetCRD))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(crdJSON, &definition))
	many := 300
	if testing.Short() {
		many = 50
	}
	for i := range many {
		group := fmt.Sprintf("g%d.example.com", i)
		definition["metadata"] = map[string]any{"name": "widgets." + group}
		definition["spec"].(map[string]any)["group"] = group
		body, err := json.Marshal(definition)
		require.NoError(t, err)
		requireCode(t, srv, 201, "POST", crdsPath, string(body))
	}
	for _, i := range []int{0, many / 2, many - 1} {
		group := fmt.Sprintf("g%d.example.com", i)
		requireCode(t, srv, 201, "POST", "/apis/"+group+"/v1/namespaces/default/widgets", `{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`)
	}
	groups, _ := requireCode(t, srv, 200, "GET", "/apis", "").Object["groups"].([]any)
	require.GreaterOrEqual(t, len(groups), many)
	require.Len(t, requireCode(t, srv, 200, "GET", crdsPath, "").Object["items"], many)
	requireCode(t, srv, 200, "DELETE", crdsPath, "")
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Empty(t, requireCode(t, srv, 200, "GET", crdsPath, "").Object["items"])
}
