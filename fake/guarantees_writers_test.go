package fakeapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	jsonMedia     = "application/json"
	protobufMedia = "application/vnd.kubernetes.protobuf"
)

// kind is a type that the writers write. Its DELETE is one write, not two as with the
// grace of pods.
type kind struct {
	name, plural string
	version      string // as in apiVersion; "" is v1
	object       func(namespace, name string, labels map[string]string) runtime.Object
	scaled       bool // it has status and scale, and replicas
	custom       bool
}

// kinds are those whose DELETE answers with the object at the revision of the
// deletion, or nobody would know what that was.
func kinds() []kind {
	return []kind{
		{name: "PodTemplate", plural: "podtemplates", object: func(namespace, name string, labels map[string]string) runtime.Object {
			return &corev1.PodTemplate{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
				ObjectMeta: metaOf(namespace, name, labels),
				Template:   corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
			}
		}},
		{name: "ServiceAccount", plural: "serviceaccounts", object: func(namespace, name string, labels map[string]string) runtime.Object {
			return &corev1.ServiceAccount{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
				ObjectMeta: metaOf(namespace, name, labels),
			}
		}},
	}
}

func metaOf(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
}

// apiVersion is what the objects of the kind have as such.
func (k kind) apiVersion() string { return cmp.Or(k.version, "v1") }

// collection is the path of all objects of the kind, or of those of a namespace.
func (k kind) collection(namespace string) string {
	root := "/api/v1/"
	if k.version != "" {
		root = "/apis/" + k.version + "/"
	}
	if namespace != "" {
		root += "namespaces/" + namespace + "/"
	}
	return root + k.plural
}

// thingOf makes a thing of an object, in whatever encoding it came. It changes the object.
func thingOf(obj runtime.Object) (o thing, err error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return o, err
	}
	if o.rev, err = strconv.ParseUint(m.GetResourceVersion(), 10, 64); err != nil {
		return o, fmt.Errorf("resourceVersion: %w", err)
	}
	o.key, o.labels = m.GetNamespace()+"/"+m.GetName(), m.GetLabels()
	m.SetResourceVersion("")
	obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(""))
	content, err := json.Marshal(obj)
	o.content = string(content)
	return o, err
}

// see is thingOf where it must be one.
func (w *world) see(obj runtime.Object) thing {
	o, err := thingOf(obj)
	require.NoError(w.t, err)
	return o
}

func (w *world) revision() uint64 {
	rev, err := strconv.ParseUint(w.srv.ResourceVersion(), 10, 64)
	require.NoError(w.t, err)
	return rev
}

// list reads a collection; nil if what it asks for is forgotten.
func (w *world) list(path, media string, query url.Values) []thing {
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.srv.URL()+path+"?"+query.Encode(), nil)
	require.NoError(w.t, err)
	r.Header.Set("Accept", media)
	code, body := w.do(r)
	if code == http.StatusGone {
		return nil
	}
	obj, _, err := tongue{w.kind, media}.decode(body)
	require.NoError(w.t, err)
	items, err := meta.ExtractList(obj)
	require.NoError(w.t, err)
	list := []thing{}
	for _, item := range items {
		list = append(list, w.see(item))
	}
	return list
}

func (w *world) do(r *http.Request) (int, []byte) {
	resp, err := w.srv.Client().Do(r)
	require.NoError(w.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp.StatusCode, body
}

func (w *world) record(kind, verb string, o thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, write{kind: kind, verb: verb, thing: o})
	w.committed = max(w.committed, o.rev)
}

// known is the newest revision that a writer was told of.
func (w *world) known() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.committed
}

// makeNoise writes objects of another type, whose revisions the watchers see in
// bookmarks only.
func (w *world) makeNoise(rng *rand.Rand, n int) {
	for i := range n {
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
		code, body := w.request("POST", "/api/v1/namespaces/n/configmaps", jsonMedia, fmt.Sprintf(`{"metadata":{"name":"noise-%d","labels":{"app":"x"}}}`, i))
		require.Equal(w.t, http.StatusCreated, code)
		w.record("ConfigMap", "create", w.decode(body))
	}
}

func (w *world) request(method, path, contentType, body string) (int, []byte) {
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.srv.URL()+path, bytes.NewReader([]byte(body)))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", contentType)
	return w.do(r)
}

func (w *world) decode(body []byte) thing {
	obj, _, err := tongue{w.kind, jsonMedia}.decode(body)
	require.NoError(w.t, err)
	return w.see(obj)
}

// author is one of the writers.
type author struct {
	*world
	rng    *rand.Rand
	name   string
	serial int
	ns     string // where the current write goes
	object string
}

func (a *author) work(n int) {
	acts := []func(){a.create, a.create, a.create, a.patch, a.patch, a.patch, a.put, a.put, a.stale, a.noop, a.invalid, a.delete, a.delete, a.wrongDelete}
	namespaces, names := places()
	for range n {
		time.Sleep(time.Duration(a.rng.IntN(30)) * 5 * time.Millisecond) // coarse, so that writers meet
		a.ns, a.object = namespaces[a.rng.IntN(len(namespaces))], names[a.rng.IntN(len(names))]
		acts[a.rng.IntN(len(acts))]()
	}
}

func (a *author) collection() string { return a.kind.collection(a.ns) }
func (a *author) item() string       { return a.collection() + "/" + a.object }

// dryRun makes a dry run of one write in six.
func (a *author) dryRun() string {
	if a.rng.IntN(6) == 0 {
		return "?dryRun=All"
	}
	return ""
}

// labels are random ones: of three apps or of none.
func (a *author) labels() map[string]string {
	if app := []string{"x", "y", "z", ""}[a.rng.IntN(4)]; app != "" {
		return map[string]string{"app": app}
	}
	return nil
}

// write sends one that may be refused with the given codes, and records it if
// it was not, and was no dry run.
func (a *author) write(verb, method, path, contentType, body, dry string, refusals ...int) {
	code, answer := a.request(method, path+dry, contentType, body)
	switch {
	case slices.Contains(refusals, code):
		a.total.add("refused")
	case code != http.StatusOK && code != http.StatusCreated:
		a.t.Errorf("%s %s: %d %s", method, path+dry, code, answer)
	case dry != "":
		a.total.add("dry run")
	default:
		a.record(a.kind.name, verb, a.decode(answer))
	}
}

func (a *author) create() {
	body, err := json.Marshal(a.kind.object(a.ns, a.object, a.labels()))
	require.NoError(a.t, err)
	a.write("create", "POST", a.collection(), jsonMedia, string(body), a.dryRun(), http.StatusConflict)
}

// patch sets labels, and an annotation that nobody has set before.
func (a *author) patch() {
	body := a.newMetadata(a.labels())
	a.write("update", "PATCH", a.item(), "application/merge-patch+json", body, a.dryRun(), http.StatusNotFound)
}

func (a *author) newMetadata(labels map[string]string) string {
	a.serial++
	app, err := json.Marshal(map[string]any{"app": nil})
	if labels != nil {
		app, err = json.Marshal(labels)
	}
	require.NoError(a.t, err)
	return fmt.Sprintf(`{"metadata":{"labels":%s,"annotations":{"serial":"%s-%d"}}}`, app, a.name, a.serial)
}

// get reads the object that is to be put.
func (a *author) get() map[string]any {
	code, body := a.request("GET", a.item(), jsonMedia, "")
	if code == http.StatusNotFound {
		return nil
	}
	var obj map[string]any
	require.NoError(a.t, json.Unmarshal(body, &obj))
	return obj
}

// put replaces the object, half of the time whatever its revision may be by now.
func (a *author) put() {
	obj := a.get()
	if obj == nil {
		return
	}
	a.serial++
	m := obj["metadata"].(map[string]any)
	m["labels"], m["annotations"] = a.labels(), map[string]string{"serial": fmt.Sprint(a.name, "-", a.serial)}
	if a.rng.IntN(2) == 0 {
		delete(m, "resourceVersion")
		delete(m, "uid")
	}
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	a.write("update", "PUT", a.item(), jsonMedia, string(body), a.dryRun(), http.StatusConflict, http.StatusNotFound)
}

// stale puts an object that has changed since it was read.
func (a *author) stale() {
	obj := a.get()
	if obj == nil {
		return
	}
	a.write("update", "PATCH", a.item(), "application/merge-patch+json", a.newMetadata(a.labels()), "", http.StatusNotFound)
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	a.refused("PUT", a.item(), string(body), http.StatusConflict, http.StatusNotFound)
}

func (a *author) refused(method, path, body string, codes ...int) {
	code, answer := a.request(method, path, jsonMedia, body)
	require.Contains(a.t, codes, code, "%s", answer)
	a.total.add("refused")
}

// noop writes what is there already.
func (a *author) noop() {
	if a.rng.IntN(2) == 0 {
		code, _ := a.request("PATCH", a.item(), "application/merge-patch+json", `{}`)
		require.Contains(a.t, []int{http.StatusOK, http.StatusNotFound}, code)
		return
	}
	obj := a.get()
	if obj == nil {
		return
	}
	body, err := json.Marshal(obj)
	require.NoError(a.t, err)
	code, answer := a.request("PUT", a.item(), jsonMedia, string(body))
	if code != http.StatusOK { // somebody has changed it
		require.Contains(a.t, []int{http.StatusConflict, http.StatusNotFound}, code)
		return
	}
	a.total.add("no-op")
	require.Equal(a.t, obj["metadata"].(map[string]any)["resourceVersion"], fmt.Sprint(a.decode(answer).rev))
}

// invalid sends what validation refuses.
func (a *author) invalid() {
	body, err := json.Marshal(a.kind.object(a.ns, a.object, map[string]string{"app": "not a label"}))
	require.NoError(a.t, err)
	a.refused("POST", a.collection(), string(body), http.StatusUnprocessableEntity, http.StatusConflict)
}

func (a *author) delete() {
	a.write("delete", "DELETE", a.item(), jsonMedia, "", a.dryRun(), http.StatusNotFound)
}

// wrongDelete means another object of the name.
func (a *author) wrongDelete() {
	a.refused("DELETE", a.item(), `{"preconditions":{"uid":"of another"}}`, http.StatusConflict, http.StatusNotFound)
}
