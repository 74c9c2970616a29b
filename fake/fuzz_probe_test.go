package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// The media types of bodies and answers.
const (
	inJSON     = "application/json"
	inYAML     = "application/yaml"
	inProtobuf = "application/vnd.kubernetes.protobuf"
	inCBOR     = "application/cbor"
	asPartial  = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
)

// probe asks a server past the network, and judges each answer: whatever was asked, it is none of a
// server that has failed, a refusal is a Status that says so, and has changed nothing.
type probe struct {
	t   testing.TB
	srv *fakeapi.Server
}

// said is what a probe was told; object is its body, whatever that was encoded in.
type said struct {
	code   int
	header http.Header
	body   []byte
	object map[string]any
}

// universal reads protobuf of all built-in types.
var universal = sync.OnceValues(func() (runtime.Decoder, error) {
	types := runtime.NewScheme()
	err := errors.Join(scheme.AddToScheme(types), apiextensionsv1.AddToScheme(types), metav1.AddMetaToScheme(types))
	return serializer.NewCodecFactory(types).UniversalDeserializer(), err
})

// forkOf is a server of its own that begins as base does.
func forkOf(t testing.TB, base *fakeapi.Server, opts ...fakeapi.Option) probe {
	t.Helper()
	srv, err := base.Fork(append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline(), fakeapi.WithCBOR()}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	return probe{t, srv}
}

// failures are the words of the 500s that a real server answers as well.
var failures = []string{
	"resourceVersion should not be set on objects to be created", // MD-12
	"invalid syntax",                                // OC-07
	"resourceVersion: Invalid value",                // GT-06, WA-22
	"etcdserver: request is too large",              // CR-10
	"etcdserver: mvcc: database space exceeded",     // observed of v0.37.2
	"failed to create typed patch object",           // SA-16
	"field not declared in schema",                  // SA-17
	"the spec replicas field '.spec.replicas' does", // SU-11
	"content is not a list",                         // PM-04
	"unable to find api field in struct",            // the library's strategic merge, whose other errors have a code
}

// ask makes a request. What is sent and wanted are media types; path may have a query.
func (p probe) ask(method, path, sent, wanted string, body []byte) said {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, "http://server"+path, bytes.NewReader(body))
	require.NoError(p.t, err)
	if sent != "" {
		r.Header.Set("Content-Type", sent)
	}
	if wanted != "" {
		r.Header.Set("Accept", wanted)
	}
	return p.send(r)
}

func (p probe) send(r *http.Request) said {
	p.t.Helper()
	before := p.srv.ResourceVersion()
	w := httptest.NewRecorder()
	p.srv.ServeHTTP(w, r)
	return p.judge(r, w, before)
}

// judge looks at an answer to a request that was made at a revision.
func (p probe) judge(r *http.Request, w *httptest.ResponseRecorder, before string) said {
	p.t.Helper()
	a := said{code: w.Code, header: w.Header(), body: w.Body.Bytes()}
	what := fmt.Sprintf("%s %s: %d %.500s", r.Method, r.URL, a.code, a.body)
	require.NotContains(p.t, what, "caused apiserver to panic")
	if a.code >= http.StatusInternalServerError && a.code != http.StatusNotImplemented && a.code != http.StatusGatewayTimeout {
		require.True(p.t, slices.ContainsFunc(failures, func(text string) bool { return strings.Contains(what, text) }), what)
	}
	if a.code >= http.StatusBadRequest && !strings.Contains(r.Header.Get("Accept"), "as=") { // that an answer has no such form is found when the write is done
		require.Equal(p.t, before, p.srv.ResourceVersion(), "was refused and changed something: %s", what)
	}
	if strings.HasPrefix(r.URL.Path, "/api") && r.Method != http.MethodHead && a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		a.object = p.decoded(a.header.Get("Content-Type"), a.body)
		if a.code >= http.StatusBadRequest {
			require.Equal(p.t, []any{"Status", "Failure", float64(a.code)}, []any{a.object["kind"], a.object["status"], a.object["code"]}, what)
			require.NotEmpty(p.t, a.object["message"], what)
		}
	}
	return a
}

// decoded reads an object in any encoding as if it had been JSON.
func (p probe) decoded(media string, body []byte) (object map[string]any) {
	p.t.Helper()
	data := body
	var err error
	switch media {
	case inYAML:
		data, err = yaml.YAMLToJSON(body)
	case inProtobuf:
		decoder, unknown := universal()
		require.NoError(p.t, unknown)
		typed, _, unread := decoder.Decode(body, nil, nil)
		require.NoError(p.t, unread)
		data, err = json.Marshal(typed)
	case inCBOR:
		types := runtime.NewScheme()
		var found unstructured.Unstructured
		_, _, unread := cbor.NewSerializer(types, types).Decode(body, nil, &found)
		require.NoError(p.t, unread)
		data, err = json.Marshal(found.Object)
	default:
		require.Equal(p.t, inJSON, media)
	}
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(data, &object), "%s %.500s", media, body)
	return object
}

// revision is the server's.
func (p probe) revision() string { return p.srv.ResourceVersion() }

// metadata is the object's, or an empty one.
func (a said) metadata() map[string]any {
	meta, _ := a.object["metadata"].(map[string]any)
	return meta
}

// readInEveryWay reads the object at a path in every encoding and form that there is, and writes it
// back in each: all say the same, and nothing changes.
func (p probe) readInEveryWay(collection, name string, custom bool) said {
	p.t.Helper()
	path := collection + "/" + url.PathEscape(name)
	plain := p.ask("GET", path, "", inJSON, nil)
	require.Equal(p.t, http.StatusOK, plain.code, "%s", plain.body)
	medias := []string{inJSON, inYAML, inCBOR, inProtobuf}
	if custom {
		medias = medias[:3]
	}
	before := p.revision()
	for _, media := range medias {
		alone := p.ask("GET", path, "", media, nil)
		require.Equal(p.t, media, alone.header.Get("Content-Type"))
		require.Equal(p.t, plain.object, alone.object, "in %s", media)
		again := p.ask("PUT", path, media, inJSON, alone.body)
		require.Equal(p.t, http.StatusOK, again.code, "%s as it was read in %s: %s", path, media, again.body)
		require.Equal(p.t, plain.object, again.object, "written as it was read in %s", media)
	}
	require.Equal(p.t, before, p.revision(), "it was written as it was read")
	for _, media := range []string{inJSON, inYAML, inCBOR, inProtobuf} {
		partial := p.ask("GET", path, "", media+asPartial, nil)
		require.Equal(p.t, plain.metadata(), partial.metadata(), "in %s", media)
	}
	table := p.ask("GET", path, "", asTable, nil)
	rows, _ := table.object["rows"].([]any)
	require.Len(p.t, rows, 1, "%s", table.body)
	shown, _ := rows[0].(map[string]any)["object"].(map[string]any)
	require.Equal(p.t, plain.metadata(), shown["metadata"])
	p.readInList(collection, plain, custom)
	return plain
}

// readInList finds the object among the others as it is alone.
func (p probe) readInList(collection string, plain said, custom bool) {
	p.t.Helper()
	list := p.ask("GET", collection, "", inJSON, nil)
	items, _ := list.object["items"].([]any)
	var found []any
	for _, item := range items {
		item, _ := item.(map[string]any)
		if meta, _ := item["metadata"].(map[string]any); meta["name"] == plain.metadata()["name"] {
			if !custom { // the items of a built-in list have no kind
				item["kind"], item["apiVersion"] = plain.object["kind"], plain.object["apiVersion"]
			}
			found = append(found, item)
		}
	}
	require.Equal(p.t, []any{plain.object}, found)
}
