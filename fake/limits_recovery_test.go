package fakeapi_test

import (
	"bytes"
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
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Writes to a full server fail like those to a real one whose etcd is full (recorded of v0.37.2):
// 500 without a reason. They change nothing. Reads, dry runs and deletes succeed, and so do writes
// once there is space.
func TestQuota(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 300 << 10}), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	p := probe{t, srv}
	require.Equal(t, 201, p.do("POST", configMapsPath, mediaJSON, mediaJSON, []byte(`{"metadata":{"name":"held","finalizers":["a/b"]}}`)).code)
	require.Equal(t, 201, p.do("POST", "/api/v1/namespaces", mediaJSON, mediaJSON, []byte(`{"metadata":{"name":"team"}}`)).code)
	body := func(name string) []byte {
		return []byte(`{"metadata":{"name":"` + name + `"},"data":{"k":"` + strings.Repeat("x", 10<<10) + `"}}`)
	}
	stored := 0
	for ; stored < 100 && p.do("POST", configMapsPath, mediaJSON, mediaJSON, body(fmt.Sprint("m", stored))).code == 201; stored++ {
	}
	require.Greater(t, stored, 10)
	require.Less(t, stored, 100)
	before := p.listEverything()
	watch := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&resourceVersion="+srv.ResourceVersion())
	full := []probeResponse{
		p.do("POST", configMapsPath, mediaJSON, mediaJSON, body("more")),
		p.do("PATCH", configMapsPath+"/m0", mergeJSON, mediaJSON, []byte(`{"data":{"l":"`+strings.Repeat("x", 20<<10)+`"}}`)),
		p.do("PATCH", configMapsPath+"/more?fieldManager=m", applyYAML, mediaJSON, append([]byte(`{"apiVersion":"v1","kind":"ConfigMap",`), body("more")[1:]...)),
		p.do("POST", widgetsPath, mediaJSON, mediaJSON, []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w","annotations":{"a":"`+strings.Repeat("x", 20<<10)+`"}}}`)),
	}
	for _, a := range full {
		require.Equal(t, 500, a.code, "%s", a.body)
		require.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: mvcc: database space exceeded","code":500}`, string(a.body))
	}
	require.Equal(t, 201, p.do("POST", configMapsPath+"?dryRun=All", mediaJSON, mediaJSON, body("more")).code)
	require.Equal(t, before, p.listEverything())
	require.Error(t, srv.Load(configMap("fixture", strings.Repeat("x", 20<<10))))

	require.Equal(t, 200, p.do("DELETE", configMapsPath+"/m0", "", mediaJSON, nil).code)
	require.Equal(t, 201, p.do("POST", configMapsPath, mediaJSON, mediaJSON, body("m0")).code, "there is space after the delete")
	require.Equal(t, 200, p.do("DELETE", configMapsPath, "", mediaJSON, nil).code)
	require.Equal(t, 200, p.do("DELETE", "/api/v1/namespaces/team", "", mediaJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Equal(t, 404, p.do("GET", "/api/v1/namespaces/team", "", mediaJSON, nil).code, "controllers can write")
	require.Equal(t, 201, p.do("POST", configMapsPath, mediaJSON, mediaJSON, body("last")).code)
	var got []string
	for events := json.NewDecoder(watch.Body); len(got) == 0 || got[len(got)-1] != "ADDED last"; {
		var e watchEvent
		require.NoError(t, events.Decode(&e))
		got = append(got, e.Type+" "+e.Object.Metadata.Name)
	}
	require.Equal(t, []string{"DELETED m0", "ADDED m0"}, got[:2], "failed writes have no events")
}

// A namespace can be deleted if there is no space for its conditions.
func TestDeleteNamespaceInFullStore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutSystemObjects(), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 30 << 10}))
	p := probe{t, srv}
	require.Equal(t, 201, p.do("POST", "/api/v1/namespaces", mediaJSON, mediaJSON, []byte(`{"metadata":{"name":"team"}}`)).code)
	spare := `{"metadata":{"name":"spare","annotations":{"a":"` + strings.Repeat("x", 200) + `"}}}`
	require.Equal(t, 201, p.do("POST", configMapsPath, mediaJSON, mediaJSON, []byte(spare)).code)
	for i := 0; p.do("POST", configMapsPath, mediaJSON, mediaJSON, []byte(fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))).code == 201; i++ {
	}
	require.Equal(t, 200, p.do("PATCH", configMapsPath+"/spare", mergeJSON, mediaJSON, []byte(`{"metadata":{"annotations":{"a":null}}}`)).code)
	require.Equal(t, 200, p.do("DELETE", "/api/v1/namespaces/team", "", mediaJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Equal(t, 404, p.do("GET", "/api/v1/namespaces/team", "", mediaJSON, nil).code)
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
	p := probe{t, srv}
	first := srv.ResourceVersion()
	page := p.do("GET", configMapsPath+"?limit=1", "", mediaJSON, nil)
	for i := range 30 {
		a := p.do("PATCH", configMapsPath+"/a", mergeJSON, mediaJSON, []byte(fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, bytes.Repeat([]byte("x"), 100<<10))))
		require.Equal(t, 200, a.code)
	}
	events := readEvents(openWatch(t, t.Context(), srv, configMapsPath+"?watch=1&resourceVersion="+first).Body)
	require.Len(t, events, 1)
	require.Equal(t, []any{"ERROR", 410, metav1.StatusReasonExpired}, []any{events[0].Type, events[0].Object.Code, events[0].Object.Reason})
	deleted := p.do("GET", configMapsPath+"?limit=1&continue="+stringsAt(page.object, "metadata")["continue"], "", mediaJSON, nil)
	require.Equal(t, 410, deleted.code, "%s", deleted.body)
	on := p.do("GET", configMapsPath+"?limit=1&continue="+stringsAt(deleted.object, "metadata")["continue"], "", mediaJSON, nil)
	require.Equal(t, 200, on.code, "the token of the 410 continues in the newest state")
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

// With many CRDs, all are served, and a write of one takes no longer.
func TestManyCRDs(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	p := probe{t, srv}
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
		require.Equal(t, 201, p.do("POST", crdsPath, mediaJSON, mediaJSON, body).code)
	}
	for _, i := range []int{0, many / 2, many - 1} {
		group := fmt.Sprintf("g%d.example.com", i)
		a := p.do("POST", "/apis/"+group+"/v1/namespaces/default/widgets", mediaJSON, mediaJSON, []byte(`{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`))
		require.Equal(t, 201, a.code, "%s", a.body)
	}
	groups, _ := p.do("GET", "/apis", "", mediaJSON, nil).object["groups"].([]any)
	require.GreaterOrEqual(t, len(groups), many)
	require.Len(t, listItems(p.do("GET", crdsPath, "", mediaJSON, nil).object), many)
	require.Equal(t, 200, p.do("DELETE", crdsPath, "", mediaJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Empty(t, listItems(p.do("GET", crdsPath, "", mediaJSON, nil).object))
}
