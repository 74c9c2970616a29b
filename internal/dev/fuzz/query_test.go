package fuzz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// newSelectableObjects returns objects with different labels and fields in two namespaces.
func newSelectableObjects() []runtime.Object {
	object := func(namespace, name string, set map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set}
	}
	return []runtime.Object{
		&corev1.Namespace{ObjectMeta: object("", "other", map[string]string{"app": "x"})},
		&corev1.ConfigMap{ObjectMeta: object("default", "a", map[string]string{"app": "x", "tier": "1"})},
		&corev1.ConfigMap{ObjectMeta: object("default", "b", map[string]string{"app": "y", "example.com/n": "10"})},
		&corev1.ConfigMap{ObjectMeta: object("default", "c", map[string]string{"app": "", "example.com/n": "9"})},
		&corev1.ConfigMap{ObjectMeta: object("default", "d", nil)},
		&corev1.ConfigMap{ObjectMeta: object("other", "a", map[string]string{"app": "x"})},
		&corev1.ConfigMap{ObjectMeta: object("other", "z", map[string]string{"tier": "1"})},
		newPod("p", func(p *corev1.Pod) {
			p.Labels, p.Spec.NodeName, p.Status.Phase = map[string]string{"app": "x"}, "n", corev1.PodRunning
		}),
		newPod("q", func(p *corev1.Pod) { p.Labels, p.Status.Phase = nil, corev1.PodPending }),
	}
}

// queryPaths are the collections of FuzzQuery.
var queryPaths = []string{configMapsPath, "/api/v1/configmaps", "/api/v1/namespaces/default/pods", "/api/v1/namespaces", "/api/v1/watch/configmaps"}

// A list, a watch or a deletecollection with any query fails with a Status, or it applies to
// exactly the objects that the selectors of apimachinery select.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		"", "labelSelector=app%3Dx", "labelSelector=app+in+(x,),!tier", "labelSelector=example.com/n>9,example.com/n<11", "labelSelector=app!=x&labelSelector=app=y",
		"fieldSelector=metadata.name=a", "fieldSelector=metadata.name!=a,metadata.namespace=default", "fieldSelector=status.phase=Running,spec.nodeName!=m", "fieldSelector=a=b",
		"fieldSelector=metadata.name=a%5C,", "limit=2&labelSelector=app", "limit=-1", "limit=x", "limit=2&continue=e30", "resourceVersion=0&limit=1", "resourceVersion=1",
		"resourceVersion=1004&resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "resourceVersion=1011", "resourceVersion=99999999", "resourceVersion=-1",
		"watch=1&labelSelector=app=x", "watch=1&fieldSelector=metadata.name!=a&resourceVersion=0", "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1",
		"watch=1&sendInitialEvents=false", "watch=1&resourceVersion=1004&timeoutSeconds=1", "watch=1&timeoutSeconds=99999999999999", "watch=1&limit=1", "watch=0&pretty=1", "watch=1&resourceVersion=x",
		"watch=1&allowWatchBookmarks=true&fieldSelector=status.phase%3DPending", "dryRun=All", "dryRun=x", "gracePeriodSeconds=0&propagationPolicy=Orphan&labelSelector=app", "orphanDependents=1&propagationPolicy=Foreground",
		"timeout=1s", "timeout=x", "%zz", "includeObject=None", "shardSelector=x", "labelSelector=%00", "watch=1&timeout=1ns",
	} {
		for path := range queryPaths {
			f.Add(uint8(path), uint8(path+len(query)), false, query)
		}
		f.Add(uint8(0), uint8(0), true, query)
	}
	base := newFuzzServer(f, newSelectableObjects()...)
	forms := []string{mediaJSON, mediaYAML, mediaProtobuf, mediaCBOR, asTable, mediaJSON + partialParams}
	f.Fuzz(func(t *testing.T, path, form uint8, deletes bool, query string) {
		r, err := http.NewRequest("GET", "http://server"+queryPaths[int(path)%len(queryPaths)]+"?"+query, nil)
		if err != nil {
			return // no client can send it
		}
		r.Header.Set("Accept", forms[int(form)%len(forms)])
		if deletes {
			r.Method = "DELETE"
		}
		synctest.Test(t, func(t *testing.T) {
			q := queryTest{newProbe(t, base, fakeapi.WithoutControllers()), r, strings.Replace(r.URL.Path, "/watch", "", 1)}
			q.run()
		})
	})
}

// queryTest is a request with the path of its collection.
type queryTest struct {
	probe
	r          *http.Request
	collection string
}

// run sends the request and writes while it is running, if it does not return immediately.
func (q queryTest) run() {
	ctx, cancel := context.WithTimeout(q.t.Context(), 3*time.Hour)
	defer cancel()
	before, selected := q.revision(), q.selectedKeys()
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		q.srv.ServeHTTP(w, q.r.WithContext(ctx))
	}()
	synctest.Wait()
	select {
	case <-done:
	default: // it is a watch, or waits for a revision
		q.makeChanges()
		<-done
		before, selected = q.revision(), q.selectedKeys()
	}
	if q.isWatch() && w.Code == http.StatusOK {
		q.checkEvents(w.Body, selected)
		return
	}
	a := q.check(q.r, w, before)
	switch {
	case a.code != http.StatusOK:
	case q.r.Method == "DELETE":
		q.checkDeleted(selected)
	default:
		q.checkListed(a, selected, q.r.Header.Get("Accept") == asTable)
	}
}

// makeChanges creates, patches and deletes objects.
func (q queryTest) makeChanges() {
	for _, write := range [][3]string{
		{"POST", configMapsPath, `{"metadata":{"name":"new","labels":{"app":"x"}}}`},
		{"POST", "/api/v1/namespaces/other/configmaps", `{"metadata":{"name":"new","labels":{"app":"x"}}}`},
		{"PATCH", configMapsPath + "/a", `{"metadata":{"labels":{"app":"y","tier":null}}}`},
		{"PATCH", configMapsPath + "/d", `{"metadata":{"labels":{"app":"x","example.com/n":"10"}}}`},
		{"DELETE", configMapsPath + "/b", ""},
		{"PATCH", "/api/v1/namespaces/default/pods/q/status", `{"status":{"phase":"Running"}}`},
		{"PATCH", "/api/v1/namespaces/other", `{"metadata":{"labels":{"app":null}}}`},
	} {
		sent := ""
		if write[0] == "PATCH" {
			sent = mergeJSON
		}
		a := q.probe.do(write[0], write[1], sent, mediaJSON, []byte(write[2]))
		require.Less(q.t, a.code, http.StatusBadRequest, "%s", a.body)
	}
}

// isWatch reports whether the request is a watch.
func (q queryTest) isWatch() bool {
	values, ok := q.r.URL.Query()["watch"]
	return q.r.Method == "GET" && (q.r.URL.Path != q.collection || ok && !slices.Contains([]string{"false", "0"}, strings.ToLower(values[0])))
}

// selectedKeys returns the keys of the objects that apimachinery's selectors select, in order. An
// invalid selector selects a key that does not exist.
func (q queryTest) selectedKeys() []string {
	query := q.r.URL.Query()
	byLabels, labelErr := labels.Parse(query.Get("labelSelector"))
	byFields, fieldErr := fields.ParseSelector(query.Get("fieldSelector"))
	if labelErr != nil || fieldErr != nil {
		return []string{"invalid selector"}
	}
	keys := []string{}
	for _, item := range listItems(q.probe.do("GET", q.collection, "", mediaJSON, nil).object) {
		if byLabels.Matches(labels.Set(stringsAt(item, "metadata", "labels"))) && byFields.Matches(fieldSet(item)) {
			keys = append(keys, objectKey(item))
		}
	}
	return keys
}

// fieldSet returns the fields that the test uses in selectors.
func fieldSet(item map[string]any) fields.Set {
	set := fields.Set{"spec.hostNetwork": "false"} // not a string
	for _, part := range []string{"metadata", "spec", "status"} {
		for name, value := range stringsAt(item, part) {
			set[part+"."+name] = value
		}
	}
	return set
}

// stringsAt returns the string fields of the object at a path.
func stringsAt(object map[string]any, path ...string) map[string]string {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	found := map[string]string{}
	for name, value := range object {
		if text, is := value.(string); is {
			found[name] = text
		}
	}
	return found
}

func objectKey(item map[string]any) string {
	meta := stringsAt(item, "metadata")
	return meta["namespace"] + "/" + meta["name"]
}

func listItems(list map[string]any) (items []map[string]any) {
	all, _ := list["items"].([]any)
	for _, item := range all {
		items = append(items, item.(map[string]any))
	}
	return items
}

// checkListed checks the items of a list.
func (q queryTest) checkListed(a probeResponse, selected []string, rows bool) {
	keys := []string{}
	for _, item := range listItems(a.object) {
		keys = append(keys, objectKey(item))
	}
	if all, is := a.object["rows"].([]any); is && rows {
		for _, row := range all {
			if object, is := row.(map[string]any)["object"].(map[string]any); is {
				keys = append(keys, objectKey(object))
			}
		}
	}
	query := q.r.URL.Query()
	switch {
	case rows && query.Get("includeObject") == "None":
		return
	case query.Get("continue") == "" && query.Get("limit") == "" && (query.Get("resourceVersion") == "" || query.Get("resourceVersion") == "0"):
		require.Equal(q.t, selected, keys, "%s", q.r.URL)
		return
	case query.Get("limit") != "" && query.Get("resourceVersion") != "0" && stringsAt(a.object, "metadata")["continue"] != "":
		require.Positive(q.t, len(keys))
	}
	require.Subset(q.t, selected, keys, "%s", q.r.URL)
}

// checkDeleted checks which objects were deleted.
func (q queryTest) checkDeleted(selected []string) {
	existing := map[string]bool{}
	for _, item := range listItems(q.probe.do("GET", q.collection, "", mediaJSON, nil).object) {
		existing[objectKey(item)] = stringsAt(item, "metadata")["deletionTimestamp"] == ""
	}
	query := q.r.URL.Query()
	unlimited := query.Get("limit") == "" && query.Get("continue") == "" && query.Get("resourceVersion") == ""
	for _, object := range newSelectableObjects() {
		meta := object.(metav1.Object)
		key := meta.GetNamespace() + "/" + meta.GetName()
		switch chosen := slices.Contains(selected, key); {
		case !strings.Contains(q.collection, collectionPath(object)) || q.collection == configMapsPath && meta.GetNamespace() != "default":
		case !chosen || query.Get("dryRun") != "":
			require.True(q.t, existing[key], "%s was not selected and is deleted", key)
		case unlimited:
			require.False(q.t, existing[key], "%s was selected and is not deleted", key)
		}
	}
}

func collectionPath(object runtime.Object) string {
	switch object.(type) {
	case *corev1.Pod:
		return "/pods"
	case *corev1.ConfigMap:
		return "/configmaps"
	}
	return "namespaces have no deletecollection"
}

// checkEvents checks that the objects that a client knows after the events of a watch are those of
// the server.
func (q queryTest) checkEvents(stream *bytes.Buffer, selected []string) {
	if accept := q.r.Header.Get("Accept"); accept != mediaJSON && accept != mediaJSON+partialParams {
		return
	}
	query := q.r.URL.Query()
	rv := query.Get("resourceVersion")
	complete := (rv == "" || rv == "0") && !query.Has("sendInitialEvents") || query.Get("sendInitialEvents") == "true"
	complete = complete && !query.Has("timeout")
	known := map[string]bool{}
	for events := json.NewDecoder(stream); events.More(); {
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		require.NoError(q.t, events.Decode(&e))
		switch key := e.Object.Namespace + "/" + e.Object.Name; e.Type {
		case "ADDED", "MODIFIED":
			require.True(q.t, !complete || known[key] == (e.Type == "MODIFIED"), "%s %s", e.Type, key)
			known[key] = true
		case "DELETED":
			require.True(q.t, !complete || known[key], key)
			delete(known, key)
		case "ERROR":
			return
		default:
			require.Equal(q.t, "BOOKMARK", e.Type)
		}
	}
	if !complete {
		require.Subset(q.t, append(selected, "default/b"), slices.Collect(maps.Keys(known))) // it was deleted before the watch
		return
	}
	keys := []string{}
	for key := range known {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	slices.Sort(selected)
	require.Equal(q.t, selected, keys, "%s", q.r.URL)
}
