package fuzz_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	goruntime "runtime"
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

// The media types of requests and responses.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
	mediaCBOR     = "application/cbor"
	mergeJSON     = "application/merge-patch+json"
	applyYAML     = "application/apply-patch+yaml"
	asTable       = "application/json;as=Table;v=v1;g=meta.k8s.io"
	partialParams = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
)

// probe calls a server's handler and checks each response: it is not a server error, an error is a
// Status, and a failed request has changed nothing.
type probe struct {
	t   testing.TB
	srv *fakeapi.Server
}

// probeResponse is a response. object is its body, decoded from any encoding.
type probeResponse struct {
	code   int
	header http.Header
	body   []byte
	object map[string]any
}

// totalAlloc returns the total number of bytes allocated so far.
func totalAlloc() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.TotalAlloc
}

// universalDecoder returns a decoder for protobuf of all built-in types.
var universalDecoder = sync.OnceValues(func() (runtime.Decoder, error) {
	types := runtime.NewScheme()
	err := errors.Join(scheme.AddToScheme(types), apiextensionsv1.AddToScheme(types), metav1.AddMetaToScheme(types))
	return serializer.NewCodecFactory(types).UniversalDeserializer(), err
})

// newProbe returns a probe of a fork of base.
func newProbe(t testing.TB, base *fakeapi.Server, opts ...fakeapi.Option) probe {
	t.Helper()
	srv, err := base.Fork(append([]fakeapi.Option{fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline(), fakeapi.WithFeature(fakeapi.CBOR, true)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	return probe{t, srv}
}

// knownServerErrors are parts of the messages of 500s that a real server returns as well.
var knownServerErrors = []string{
	"resourceVersion should not be set on objects to be created", // MD-12
	"invalid syntax",                                // OC-07
	"resourceVersion: Invalid value",                // GT-06, WA-22
	"etcdserver: request is too large",              // CR-10
	"etcdserver: mvcc: database space exceeded",     // observed of v0.37.2
	"failed to create typed patch object",           // SA-16
	"field not declared in schema",                  // SA-17
	"the spec replicas field '.spec.replicas' does", // SU-11
	"content is not a list",                         // PM-04
	"unable to find api field in struct",            // strategic merge of the library; its other errors have a code
	"unsupported role reference kind",               // a binding by a user who may not bind; validation is later
}

// do sends a request. sent and wanted are media types. path may have a query.
func (p probe) do(method, path, sent, wanted string, body []byte) probeResponse {
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

func (p probe) send(r *http.Request) probeResponse {
	p.t.Helper()
	before := p.srv.ResourceVersion()
	w := httptest.NewRecorder()
	p.srv.ServeHTTP(w, r)
	return p.check(r, w, before)
}

// check checks the response to a request. before is the resourceVersion before it.
func (p probe) check(r *http.Request, w *httptest.ResponseRecorder, before string) probeResponse {
	p.t.Helper()
	a := probeResponse{code: w.Code, header: w.Header(), body: w.Body.Bytes()}
	what := fmt.Sprintf("%s %s: %d %.500s", r.Method, r.URL, a.code, a.body)
	require.NotContains(p.t, what, "caused apiserver to panic")
	if a.code >= http.StatusInternalServerError && a.code != http.StatusNotImplemented && a.code != http.StatusGatewayTimeout {
		require.True(p.t, slices.ContainsFunc(knownServerErrors, func(text string) bool { return strings.Contains(what, text) }), what)
	}
	if a.code >= http.StatusBadRequest && !strings.Contains(r.Header.Get("Accept"), "as=") { // a response that has no such format fails after the write
		require.Equal(p.t, before, p.srv.ResourceVersion(), "a failed request has changed something: %s", what)
	}
	if strings.HasPrefix(r.URL.Path, "/api") && r.Method != http.MethodHead && a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		a.object = p.decode(a.header.Get("Content-Type"), a.body)
		if a.code >= http.StatusBadRequest {
			require.Equal(p.t, []any{"Status", "Failure", float64(a.code)}, []any{a.object["kind"], a.object["status"], a.object["code"]}, what)
			require.NotEmpty(p.t, a.object["message"], what)
		}
	}
	return a
}

// decode decodes an object in any encoding into the form that JSON decodes to.
func (p probe) decode(media string, body []byte) (object map[string]any) {
	p.t.Helper()
	data := body
	var err error
	switch media {
	case mediaYAML:
		data, err = yaml.YAMLToJSON(body)
	case mediaProtobuf:
		decoder, unknown := universalDecoder()
		require.NoError(p.t, unknown)
		typed, _, decodeErr := decoder.Decode(body, nil, nil)
		require.NoError(p.t, decodeErr)
		data, err = json.Marshal(typed)
	case mediaCBOR:
		types := runtime.NewScheme()
		var found unstructured.Unstructured
		_, _, decodeErr := cbor.NewSerializer(types, types).Decode(body, nil, &found)
		require.NoError(p.t, decodeErr)
		data, err = json.Marshal(found.Object)
	default:
		require.Equal(p.t, mediaJSON, media)
	}
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(data, &object), "%s %.500s", media, body)
	return object
}

// revision returns the resourceVersion of the server.
func (p probe) revision() string { return p.srv.ResourceVersion() }

// metadata returns the metadata of the object, or an empty map.
func (a probeResponse) metadata() map[string]any {
	meta, _ := a.object["metadata"].(map[string]any)
	return meta
}

// checkEncodings reads the object at a path in every encoding and format, and writes it in each.
// All must be the same, and nothing may change.
func (p probe) checkEncodings(collection, name string, custom bool) probeResponse {
	p.t.Helper()
	path := collection + "/" + url.PathEscape(name)
	plain := p.do("GET", path, "", mediaJSON, nil)
	require.Equal(p.t, http.StatusOK, plain.code, "%s", plain.body)
	medias := []string{mediaJSON, mediaYAML, mediaCBOR, mediaProtobuf}
	if custom {
		medias = medias[:3]
	}
	before := p.revision()
	for _, media := range medias {
		alone := p.do("GET", path, "", media, nil)
		require.Equal(p.t, media, alone.header.Get("Content-Type"))
		require.Equal(p.t, plain.object, alone.object, "in %s", media)
		again := p.do("PUT", path, media, mediaJSON, alone.body)
		require.Equal(p.t, http.StatusOK, again.code, "PUT %s in %s: %s", path, media, again.body)
		require.Equal(p.t, plain.object, again.object, "response to PUT in %s", media)
	}
	require.Equal(p.t, before, p.revision(), "the PUTs change nothing")
	for _, media := range []string{mediaJSON, mediaYAML, mediaCBOR, mediaProtobuf} {
		partial := p.do("GET", path, "", media+partialParams, nil)
		require.Equal(p.t, plain.metadata(), partial.metadata(), "in %s", media)
	}
	table := p.do("GET", path, "", asTable, nil)
	rows, _ := table.object["rows"].([]any)
	require.Len(p.t, rows, 1, "%s", table.body)
	shown, _ := rows[0].(map[string]any)["object"].(map[string]any)
	require.Equal(p.t, plain.metadata(), shown["metadata"])
	p.checkList(collection, plain, custom)
	return plain
}

// checkList checks that the object is the same in a list.
func (p probe) checkList(collection string, plain probeResponse, custom bool) {
	p.t.Helper()
	list := p.do("GET", collection, "", mediaJSON, nil)
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
