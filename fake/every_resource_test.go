package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// codecs returns the serializers of the two encodings by media type.
func codecs() map[string]runtime.Serializer {
	return map[string]runtime.Serializer{
		"application/json":                    kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{}),
		"application/vnd.kubernetes.protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
	}
}

// resourceTest tests a type in one encoding.
type resourceTest struct {
	*testing.T
	srv   *fakeapi.Server
	res   *resource.Resource
	media string
	codec runtime.Serializer
	name  string
}

// Every stored built-in type supports every verb that discovery lists for it, in JSON and in
// protobuf.
func TestEveryResource(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers()) // one writes the status of new policies
	for _, res := range storedResources() {
		for media, codec := range codecs() {
			t.Run(strings.ReplaceAll(res.GroupVersionResource().String(), "/", " ")+" "+media, func(t *testing.T) {
				w := &resourceTest{T: t, srv: srv, res: res, media: media, codec: codec, name: validNameFor(res)}
				w.run()
			})
		}
	}
}

// validNameFor returns a name that is valid for the type.
func validNameFor(res *resource.Resource) string {
	if len(res.ValidateName("walked", false)) > 0 {
		return "10.9.8.7" // IPAddresses are named by their address
	}
	return "walked"
}

func (w *resourceTest) run() {
	events, stop := w.watch()
	defer stop()

	obj := newTypedObject(w, w.res, w.name)
	m, err := meta.Accessor(obj)
	require.NoError(w, err)
	m.SetLabels(map[string]string{"step": "create"})
	created := w.object(http.MethodPost, w.collection(), obj, http.StatusCreated)
	require.NotEmpty(w, created.GetUID())

	got := w.object(http.MethodGet, w.item(), nil, http.StatusOK)
	require.Equal(w, created.GetResourceVersion(), got.GetResourceVersion())
	w.list(created)

	updated := w.update(w.item(), "update")
	require.NotEqual(w, created.GetResourceVersion(), updated.GetResourceVersion())
	patched := w.patch(`{"metadata":{"labels":{"step":"patch"}}}`)
	require.Equal(w, "patch", patched.GetLabels()["step"])
	if w.res.Status {
		w.object(http.MethodGet, w.item()+"/status", nil, http.StatusOK)
		w.update(w.item()+"/status", "status")
	}
	if len(patched.GetFinalizers()) > 0 { // those of an admission plugin, which keep the object
		w.patch(`{"metadata":{"finalizers":null}}`)
	}
	deleteVerb := "delete"
	if w.res.HasVerb("deletecollection") && w.media == "application/json" {
		deleteVerb = "deletecollection"
		w.do(http.MethodDelete, w.collection()+"?labelSelector=step", "", nil, http.StatusOK)
	} else {
		w.do(http.MethodDelete, w.item(), "", nil, http.StatusOK)
	}
	require.NoError(w, w.srv.RunControllers(w.Context())) // a controller removes namespaces
	w.do(http.MethodGet, w.item(), "", nil, http.StatusNotFound)
	w.requireEvents(events, deleteVerb)
}

// requireEvents checks the events up to the deletion.
func (w *resourceTest) requireEvents(events func() (string, metav1.Object), deleteVerb string) {
	var types []string
	for len(types) == 0 || types[len(types)-1] != "DELETED" {
		kind, obj := events()
		require.Equal(w, w.name, obj.GetName())
		types = append(types, kind)
	}
	require.Equal(w, "ADDED", types[0], deleteVerb)
	require.GreaterOrEqual(w, len(types), 4)
	require.False(w, slices.Contains(types[1:len(types)-1], "ADDED"))
}

func (w *resourceTest) root() string {
	if w.res.Group == "" {
		return w.srv.URL() + "/api/" + w.res.Version
	}
	return w.srv.URL() + "/apis/" + w.res.Group + "/" + w.res.Version
}

func (w *resourceTest) collection() string {
	if w.res.Namespaced {
		return w.root() + "/namespaces/default/" + w.res.Plural
	}
	return w.root() + "/" + w.res.Plural
}

func (w *resourceTest) item() string { return w.collection() + "/" + w.name }

// do sends a request, checks the code and returns the body of the response.
func (w *resourceTest) do(method, url, contentType string, body []byte, want int) []byte {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, url, bytes.NewReader(body))
	require.NoError(w, err)
	r.Header.Set("Accept", w.media)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	resp, err := w.srv.Client().Do(r)
	require.NoError(w, err)
	defer func() { _ = resp.Body.Close() }()
	response, err := io.ReadAll(resp.Body)
	require.NoError(w, err)
	require.Equal(w, want, resp.StatusCode, "%s %s: %s", method, url, response)
	require.Equal(w, w.media, resp.Header.Get("Content-Type"))
	return response
}

// object sends a request with obj, unless it is nil, and returns the object in the response.
func (w *resourceTest) object(method, url string, obj runtime.Object, want int) metav1.Object {
	w.Helper()
	var body bytes.Buffer
	if obj != nil {
		require.NoError(w, w.codec.Encode(obj, &body))
	}
	return w.decode(w.do(method, url, w.media, body.Bytes(), want))
}

func (w *resourceTest) decode(body []byte) metav1.Object {
	w.Helper()
	obj, kind, err := w.codec.Decode(body, nil, nil)
	require.NoError(w, err)
	require.Equal(w, w.res.GroupVersionKind(), *kind)
	m, err := meta.Accessor(obj)
	require.NoError(w, err)
	require.Equal(w, w.name, m.GetName())
	return m
}

// update reads the object and updates it with another label.
func (w *resourceTest) update(url, step string) metav1.Object {
	w.Helper()
	m := w.object(http.MethodGet, w.item(), nil, http.StatusOK)
	m.SetLabels(map[string]string{"step": step})
	if migration, ok := m.(*storagemigrationv1.StorageVersionMigration); ok {
		migration.Status.ResourceVersion = "1" // its status requires one
	}
	obj := m.(runtime.Object)
	obj.GetObjectKind().SetGroupVersionKind(w.res.GroupVersionKind())
	return w.object(http.MethodPut, url, obj, http.StatusOK)
}

func (w *resourceTest) patch(body string) metav1.Object {
	w.Helper()
	return w.decode(w.do(http.MethodPatch, w.item(), "application/merge-patch+json", []byte(body), http.StatusOK))
}

// list checks that the collections in the namespace and in all namespaces have the object.
func (w *resourceTest) list(created metav1.Object) {
	w.Helper()
	for _, url := range []string{w.collection(), w.root() + "/" + w.res.Plural} {
		obj, kind, err := w.codec.Decode(w.do(http.MethodGet, url+"?labelSelector=step%3Dcreate", "", nil, http.StatusOK), nil, nil)
		require.NoError(w, err)
		require.Equal(w, w.res.ListKind, kind.Kind)
		items, err := meta.ExtractList(obj)
		require.NoError(w, err)
		require.Len(w, items, 1)
		m, err := meta.Accessor(items[0])
		require.NoError(w, err)
		require.Equal(w, created.GetResourceVersion(), m.GetResourceVersion())
	}
}

// watch opens a watch. It returns a function that reads the next event and one that ends the watch.
func (w *resourceTest) watch() (func() (string, metav1.Object), func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	url := w.root() + "/" + w.res.Plural + "?watch=1&resourceVersion=" + w.srv.ResourceVersion()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(w, err)
	r.Header.Set("Accept", w.media)
	resp, err := w.srv.Client().Do(r)
	require.NoError(w, err)
	require.Equal(w, http.StatusOK, resp.StatusCode)
	next := w.jsonEvents(resp.Body)
	if w.media != "application/json" {
		next = w.protobufEvents(resp.Body)
	}
	return next, func() {
		cancel()
		_ = resp.Body.Close()
	}
}

func (w *resourceTest) jsonEvents(body io.Reader) func() (string, metav1.Object) {
	decoder := json.NewDecoder(body)
	return func() (string, metav1.Object) {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		require.NoError(w, decoder.Decode(&event))
		return event.Type, w.decode(event.Object)
	}
}

func (w *resourceTest) protobufEvents(body io.Reader) func() (string, metav1.Object) {
	frames := protobuf.LengthDelimitedFramer.NewFrameReader(io.NopCloser(body))
	buffer := make([]byte, 1<<20)
	return func() (string, metav1.Object) {
		n, err := frames.Read(buffer)
		require.NoError(w, err)
		var event metav1.WatchEvent
		require.NoError(w, event.Unmarshal(buffer[:n]))
		return event.Type, w.decode(event.Object.Raw)
	}
}

// storedResources returns all stored types except CRDs, which have their own tests.
func storedResources() []*resource.Resource {
	return slices.DeleteFunc(builtin.Table().Stored(), func(r *resource.Resource) bool {
		return resource.IsCRDResource(r) || r.Kind == "APIService"
	})
}
