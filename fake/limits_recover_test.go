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

// A server that is full says so as a real one whose etcd is full (observed on v0.37.2): 500, without a
// reason. Nothing is half done, reads and dry runs and deletes go on, and when there is room again writes do.
func TestQuota(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithQuota(300<<10), fakeapi.WithCRDs(fakeapi.CRDsFromObjects(definitionOf(t, widgetCRD))))
	p := probe{t, srv}
	require.Equal(t, 201, p.ask("POST", limitMaps, inJSON, inJSON, []byte(`{"metadata":{"name":"held","finalizers":["a/b"]}}`)).code)
	require.Equal(t, 201, p.ask("POST", "/api/v1/namespaces", inJSON, inJSON, []byte(`{"metadata":{"name":"team"}}`)).code)
	body := func(name string) []byte {
		return []byte(`{"metadata":{"name":"` + name + `"},"data":{"k":"` + strings.Repeat("x", 10<<10) + `"}}`)
	}
	stored := 0
	for ; stored < 100 && p.ask("POST", limitMaps, inJSON, inJSON, body(fmt.Sprint("m", stored))).code == 201; stored++ {
	}
	require.Greater(t, stored, 10)
	require.Less(t, stored, 100)
	before := p.everything()
	watch := openWatch(t, t.Context(), srv, "/api/v1/configmaps?watch=1&resourceVersion="+srv.ResourceVersion())
	full := []said{
		p.ask("POST", limitMaps, inJSON, inJSON, body("more")),
		p.ask("PATCH", limitMaps+"/m0", mergeJSON, inJSON, []byte(`{"data":{"l":"`+strings.Repeat("x", 20<<10)+`"}}`)),
		p.ask("PATCH", limitMaps+"/more?fieldManager=m", applyYAML, inJSON, append([]byte(`{"apiVersion":"v1","kind":"ConfigMap",`), body("more")[1:]...)),
		p.ask("POST", limitWidgets, inJSON, inJSON, []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w","annotations":{"a":"`+strings.Repeat("x", 20<<10)+`"}}}`)),
	}
	for _, a := range full {
		require.Equal(t, 500, a.code, "%s", a.body)
		require.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: mvcc: database space exceeded","code":500}`, string(a.body))
	}
	require.Equal(t, 201, p.ask("POST", limitMaps+"?dryRun=All", inJSON, inJSON, body("more")).code)
	require.Equal(t, before, p.everything())
	require.Error(t, srv.Load(configMap("fixture", strings.Repeat("x", 20<<10))))

	require.Equal(t, 200, p.ask("DELETE", limitMaps+"/m0", "", inJSON, nil).code)
	require.Equal(t, 201, p.ask("POST", limitMaps, inJSON, inJSON, body("m0")).code, "there is room")
	require.Equal(t, 200, p.ask("DELETE", limitMaps, "", inJSON, nil).code)
	require.Equal(t, 200, p.ask("DELETE", "/api/v1/namespaces/team", "", inJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Equal(t, 404, p.ask("GET", "/api/v1/namespaces/team", "", inJSON, nil).code, "controllers go on")
	require.Equal(t, 201, p.ask("POST", limitMaps, inJSON, inJSON, body("last")).code)
	var told []string
	for events := json.NewDecoder(watch.Body); len(told) == 0 || told[len(told)-1] != "ADDED last"; {
		var e event
		require.NoError(t, events.Decode(&e))
		told = append(told, e.Type+" "+e.Object.Metadata.Name)
	}
	require.Equal(t, []string{"DELETED m0", "ADDED m0"}, told[:2], "of what was refused nobody hears")
}

// A namespace ends in a store that has no room for the conditions that tell of its end.
func TestNamespaceEndsInFullStore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithQuota(30<<10))
	p := probe{t, srv}
	require.Equal(t, 201, p.ask("POST", "/api/v1/namespaces", inJSON, inJSON, []byte(`{"metadata":{"name":"team"}}`)).code)
	spare := `{"metadata":{"name":"spare","annotations":{"a":"` + strings.Repeat("x", 200) + `"}}}`
	require.Equal(t, 201, p.ask("POST", limitMaps, inJSON, inJSON, []byte(spare)).code)
	for i := 0; p.ask("POST", limitMaps, inJSON, inJSON, []byte(fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))).code == 201; i++ {
	}
	require.Equal(t, 200, p.ask("PATCH", limitMaps+"/spare", mergeJSON, inJSON, []byte(`{"metadata":{"annotations":{"a":null}}}`)).code)
	require.Equal(t, 200, p.ask("DELETE", "/api/v1/namespaces/team", "", inJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Equal(t, 404, p.ask("GET", "/api/v1/namespaces/team", "", inJSON, nil).code)
}

// Watches are limited by themselves; one too many is told to come again, and client-go does.
func TestMaxWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithMaxWatches(2))
		ctx, cancel := context.WithCancel(t.Context())
		openWatch(t, ctx, srv, limitMaps+"?watch=1")
		openWatch(t, t.Context(), srv, "/api/v1/watch/pods")
		code, header, body := send(t, srv, "GET", "/api/v1/namespaces?watch=1", "", nil)
		require.Equal(t, http.StatusTooManyRequests, code)
		require.Equal(t, tooMany, string(body))
		require.Equal(t, "1", header.Get("Retry-After"))
		code, _, _ = send(t, srv, "GET", limitMaps, "", nil)
		require.Equal(t, http.StatusOK, code, "a list is no watch")
		time.AfterFunc(1500*time.Millisecond, cancel)
		begin := time.Now()
		w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(begin), "it asked each second")
		w.Stop()
	})
	_, err := fakeapi.New(fakeapi.WithMaxWatches(-1))
	require.ErrorContains(t, err, "a limit is not negative")
}

// History is bounded in bytes: a watch from before what is remembered gets its 410, a page its own, and
// those that are up to date go on.
func TestHistoryBytes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithHistoryBytes(1<<20), fakeapi.WithObjects(configMap("a", "1"), configMap("b", "1")))
	p := probe{t, srv}
	first := srv.ResourceVersion()
	page := p.ask("GET", limitMaps+"?limit=1", "", inJSON, nil)
	for i := range 30 {
		a := p.ask("PATCH", limitMaps+"/a", mergeJSON, inJSON, []byte(fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, bytes.Repeat([]byte("x"), 100<<10))))
		require.Equal(t, 200, a.code)
	}
	events := readEvents(openWatch(t, t.Context(), srv, limitMaps+"?watch=1&resourceVersion="+first).Body)
	require.Len(t, events, 1)
	require.Equal(t, []any{"ERROR", 410, metav1.StatusReasonExpired}, []any{events[0].Type, events[0].Object.Code, events[0].Object.Reason})
	gone := p.ask("GET", limitMaps+"?limit=1&continue="+texts(page.object, "metadata")["continue"], "", inJSON, nil)
	require.Equal(t, 410, gone.code, "%s", gone.body)
	on := p.ask("GET", limitMaps+"?limit=1&continue="+texts(gone.object, "metadata")["continue"], "", inJSON, nil)
	require.Equal(t, 200, on.code, "the token that it was given goes on in the state of now")
}

// When a limit was reached by many at once, those who were refused have left nothing, and the server
// serves as many as before.
func TestLimitsRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithMaxInFlight(3, 3), fakeapi.WithFaults(
			faults.Rule{Name: "slow", When: faults.Verb("create", "list"), Do: []faults.Effect{faults.Delay(time.Second)}}))
		for round := range 3 {
			codes := make(chan int, 20)
			for i := range 10 {
				go func() {
					code, _, _ := send(t, srv, "POST", limitMaps, inJSON, []byte(fmt.Sprintf(`{"metadata":{"name":"r%d-%d"}}`, round, i)))
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
		_, _, body := send(t, srv, "GET", limitMaps, "", nil)
		var list metav1.PartialObjectMetadataList
		require.NoError(t, json.Unmarshal(body, &list))
		require.Len(t, list.Items, 9)
	})
}

// Many definitions are fine: all are served, and a write to one costs no more for the others.
func TestManyDefinitions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	p := probe{t, srv}
	var definition map[string]any
	whole, err := json.Marshal(definitionOf(t, widgetCRD))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(whole, &definition))
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
		require.Equal(t, 201, p.ask("POST", crdsPath, inJSON, inJSON, body).code)
	}
	for _, i := range []int{0, many / 2, many - 1} {
		group := fmt.Sprintf("g%d.example.com", i)
		a := p.ask("POST", "/apis/"+group+"/v1/namespaces/default/widgets", inJSON, inJSON, []byte(`{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`))
		require.Equal(t, 201, a.code, "%s", a.body)
	}
	groups, _ := p.ask("GET", "/apis", "", inJSON, nil).object["groups"].([]any)
	require.GreaterOrEqual(t, len(groups), many)
	require.Len(t, itemsOf(p.ask("GET", crdsPath, "", inJSON, nil).object), many)
	require.Equal(t, 200, p.ask("DELETE", crdsPath, "", inJSON, nil).code)
	require.NoError(t, srv.RunControllers(t.Context()))
	require.Empty(t, itemsOf(p.ask("GET", crdsPath, "", inJSON, nil).object))
}
