package fakeapi_test

import (
	"bytes"
	"context"
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

// selectable are objects to choose from, in two namespaces.
func selectable() []runtime.Object {
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
		&corev1.Pod{ObjectMeta: object("default", "p", map[string]string{"app": "x"}), Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		&corev1.Pod{ObjectMeta: object("default", "q", nil), Status: corev1.PodStatus{Phase: corev1.PodPending}},
	}
}

// inquired are the collections that FuzzQuery asks for.
var inquired = []string{limitMaps, "/api/v1/configmaps", "/api/v1/namespaces/default/pods", "/api/v1/namespaces", "/api/v1/watch/configmaps"}

// Whatever the query of a list, a watch or a deletion of a collection is, it is refused with a Status,
// or what it shows, tells of or deletes is what apimachinery's own selectors select, and nothing else.
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
		for path := range inquired {
			f.Add(uint8(path), uint8(path+len(query)), false, query)
		}
		f.Add(uint8(0), uint8(0), true, query)
	}
	base := baseOf(f, selectable()...)
	forms := []string{inJSON, inYAML, inProtobuf, inCBOR, asTable, inJSON + asPartial}
	f.Fuzz(func(t *testing.T, path, form uint8, deletes bool, query string) {
		r, err := http.NewRequest("GET", "http://server"+inquired[int(path)%len(inquired)]+"?"+query, nil)
		if err != nil {
			return // no client can send it
		}
		r.Header.Set("Accept", forms[int(form)%len(forms)])
		if deletes {
			r.Method = "DELETE"
		}
		synctest.Test(t, func(t *testing.T) {
			q := inquiry{forkOf(t, base, fakeapi.WithoutControllers()), r, strings.Replace(r.URL.Path, "/watch", "", 1)}
			q.ask()
		})
	})
}

// inquiry is a request for a collection, and where that is.
type inquiry struct {
	probe
	r          *http.Request
	collection string
}

// ask makes the request, and writes while it is being answered, if it takes that long.
func (q inquiry) ask() {
	ctx, cancel := context.WithTimeout(q.t.Context(), 3*time.Hour)
	defer cancel()
	before, selected := q.revision(), q.selected()
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		q.srv.ServeHTTP(w, q.r.WithContext(ctx))
	}()
	synctest.Wait()
	select {
	case <-done:
	default: // it is a watch, or waits for a revision
		q.change()
		<-done
		before, selected = q.revision(), q.selected()
	}
	if q.watches() && w.Code == http.StatusOK {
		q.told(w.Body, selected)
		return
	}
	a := q.judge(q.r, w, before)
	switch {
	case a.code != http.StatusOK:
	case q.r.Method == "DELETE":
		q.deleted(selected)
	default:
		q.listed(a, selected, q.r.Header.Get("Accept") == asTable)
	}
}

// change is what happens meanwhile.
func (q inquiry) change() {
	for _, write := range [][3]string{
		{"POST", limitMaps, `{"metadata":{"name":"new","labels":{"app":"x"}}}`},
		{"POST", "/api/v1/namespaces/other/configmaps", `{"metadata":{"name":"new","labels":{"app":"x"}}}`},
		{"PATCH", limitMaps + "/a", `{"metadata":{"labels":{"app":"y","tier":null}}}`},
		{"PATCH", limitMaps + "/d", `{"metadata":{"labels":{"app":"x","example.com/n":"10"}}}`},
		{"DELETE", limitMaps + "/b", ""},
		{"PATCH", "/api/v1/namespaces/default/pods/q/status", `{"status":{"phase":"Running"}}`},
		{"PATCH", "/api/v1/namespaces/other", `{"metadata":{"labels":{"app":null}}}`},
	} {
		sent := ""
		if write[0] == "PATCH" {
			sent = mergeJSON
		}
		a := q.probe.ask(write[0], write[1], sent, inJSON, []byte(write[2]))
		require.Less(q.t, a.code, http.StatusBadRequest, "%s", a.body)
	}
}

// watches reports whether the request is a watch.
func (q inquiry) watches() bool {
	asked, given := q.r.URL.Query()["watch"]
	return q.r.Method == "GET" && (q.r.URL.Path != q.collection || given && !slices.Contains([]string{"false", "0"}, strings.ToLower(asked[0])))
}

// selected are the keys of what the query selects now, by apimachinery's selectors, in their order; what
// does not parse selects what is not there.
func (q inquiry) selected() []string {
	query := q.r.URL.Query()
	byLabels, wrong := labels.Parse(query.Get("labelSelector"))
	byFields, unread := fields.ParseSelector(query.Get("fieldSelector"))
	if wrong != nil || unread != nil {
		return []string{"nothing: it must be refused"}
	}
	keys := []string{}
	for _, item := range itemsOf(q.probe.ask("GET", q.collection, "", inJSON, nil).object) {
		if byLabels.Matches(labels.Set(texts(item, "metadata", "labels"))) && byFields.Matches(fieldsOf(item)) {
			keys = append(keys, keyOf(item))
		}
	}
	return keys
}

// fieldsOf are the fields that the tests select by.
func fieldsOf(item map[string]any) fields.Set {
	set := fields.Set{"spec.hostNetwork": "false"} // which is no string
	for _, part := range []string{"metadata", "spec", "status"} {
		for name, value := range texts(item, part) {
			set[part+"."+name] = value
		}
	}
	return set
}

// texts are the strings of an object within an object.
func texts(object map[string]any, path ...string) map[string]string {
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

func keyOf(item map[string]any) string {
	meta := texts(item, "metadata")
	return meta["namespace"] + "/" + meta["name"]
}

func itemsOf(list map[string]any) (items []map[string]any) {
	all, _ := list["items"].([]any)
	for _, item := range all {
		items = append(items, item.(map[string]any))
	}
	return items
}

// listed checks what a list shows.
func (q inquiry) listed(a said, selected []string, rows bool) {
	keys := []string{}
	for _, item := range itemsOf(a.object) {
		keys = append(keys, keyOf(item))
	}
	if all, is := a.object["rows"].([]any); is && rows {
		for _, row := range all {
			if object, is := row.(map[string]any)["object"].(map[string]any); is {
				keys = append(keys, keyOf(object))
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
	case query.Get("limit") != "" && query.Get("resourceVersion") != "0" && texts(a.object, "metadata")["continue"] != "":
		require.Positive(q.t, len(keys))
	}
	require.Subset(q.t, selected, keys, "%s", q.r.URL)
}

// deleted checks what is left of those that were selected, and of all others.
func (q inquiry) deleted(selected []string) {
	there := map[string]bool{}
	for _, item := range itemsOf(q.probe.ask("GET", q.collection, "", inJSON, nil).object) {
		there[keyOf(item)] = texts(item, "metadata")["deletionTimestamp"] == ""
	}
	query := q.r.URL.Query()
	whole := query.Get("limit") == "" && query.Get("continue") == "" && query.Get("resourceVersion") == ""
	for _, object := range selectable() {
		meta := object.(metav1.Object)
		key := meta.GetNamespace() + "/" + meta.GetName()
		switch chosen := slices.Contains(selected, key); {
		case !strings.Contains(q.collection, resourceOf(object)) || q.collection == limitMaps && meta.GetNamespace() != "default":
		case !chosen || query.Get("dryRun") != "":
			require.True(q.t, there[key], "%s was not selected, and is gone", key)
		case whole:
			require.False(q.t, there[key], "%s was selected, and is there", key)
		}
	}
}

func resourceOf(object runtime.Object) string {
	switch object.(type) {
	case *corev1.Pod:
		return "/pods"
	case *corev1.ConfigMap:
		return "/configmaps"
	}
	return "no collection of namespaces can be deleted"
}

// told checks that who follows a watch that began with all there was knows in the end what there is.
func (q inquiry) told(stream *bytes.Buffer, selected []string) {
	if accept := q.r.Header.Get("Accept"); accept != inJSON && accept != inJSON+asPartial {
		return
	}
	query := q.r.URL.Query()
	rv := query.Get("resourceVersion")
	whole := (rv == "" || rv == "0") && !query.Has("sendInitialEvents") || query.Get("sendInitialEvents") == "true"
	whole = whole && !query.Has("timeout")
	known := map[string]bool{}
	for _, e := range readEvents(stream) {
		switch key := e.Object.Metadata.Namespace + "/" + e.Object.Metadata.Name; e.Type {
		case "ADDED", "MODIFIED":
			require.True(q.t, !whole || known[key] == (e.Type == "MODIFIED"), "%s %s", e.Type, key)
			known[key] = true
		case "DELETED":
			require.True(q.t, !whole || known[key], key)
			delete(known, key)
		case "ERROR":
			return
		default:
			require.Equal(q.t, "BOOKMARK", e.Type)
		}
	}
	if !whole {
		require.Subset(q.t, append(selected, "default/b"), slices.Collect(maps.Keys(known))) // which was deleted before it was known
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
