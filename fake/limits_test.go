package fakeapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// excessiveRequest is a request that exceeds a limit, with the expected response.
type excessiveRequest struct {
	name, method, path, media, body string
	code                            int
	message                         string
}

const (
	configMapsPath = "/api/v1/namespaces/default/configmaps"
	widgetsPath    = "/apis/shop.example.com/v1/namespaces/default/widgets"
	applyYAML      = "application/apply-patch+yaml"
	mergeJSON      = "application/merge-patch+json"
	mediaJSON      = "application/json"
	mediaProtobuf  = "application/vnd.kubernetes.protobuf"
	mediaCBOR      = "application/cbor"
)

// yamlAliases are small YAML documents with large content: a billion elements, and a long string
// three thousand times, which the library accepts.
func yamlAliases() map[string]string {
	powers := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'a'; c < 'i'; c++ {
		powers += fmt.Sprintf("%c: &%c [%s]\n", c+1, c+1, strings.TrimSuffix(strings.Repeat("*"+string(c)+", ", 9), ", "))
	}
	long := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 3000) + "]\n"
	return map[string]string{"powers": powers, "long": long}
}

func excessiveAliases() (all []excessiveRequest) {
	for name, text := range yamlAliases() {
		code, message := 400, "yaml: document contains excessive aliasing"
		if name == "long" {
			code, message = 413, "Request entity too large: limit is 3145728"
		}
		for _, to := range []struct{ what, method, path, media string }{
			{"create", "POST", configMapsPath, "application/yaml"},
			{"apply", "PATCH", configMapsPath + "/x?fieldManager=m", applyYAML},
			{"create of a custom resource", "POST", widgetsPath, "application/yaml"},
			{"apply of a custom resource", "PATCH", widgetsPath + "/x?fieldManager=m", applyYAML},
			{"CRD", "POST", crdsPath, "application/yaml"},
			{"delete options", "DELETE", configMapsPath + "/there", "application/yaml"},
		} {
			all = append(all, excessiveRequest{name + ", " + to.what, to.method, to.path, to.media, text, code, message})
		}
	}
	return all
}

func excessiveNesting() (all []excessiveRequest) {
	lists := strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000)
	objects := strings.Repeat(`{"a":`, 400_000) + "1" + strings.Repeat("}", 400_000)
	for name, deep := range map[string]string{"lists": lists, "objects": objects} {
		body := `{"metadata":{"name":"x"},"data":` + deep + `}`
		for _, to := range []struct{ method, path, media, message string }{
			{"POST", configMapsPath, "application/json", "exceeded max depth"},
			{"POST", widgetsPath, "application/json", "exceeded max depth"},
			{"POST", configMapsPath, "application/yaml", "exceeded max depth"},
			{"POST", widgetsPath, "application/yaml", "exceeded max depth"},
			{"POST", crdsPath, "application/json", "exceeded max depth"},
			{"PATCH", configMapsPath + "/there", mergeJSON, "invalid JSON patch"},
			{"PATCH", configMapsPath + "/there", "application/strategic-merge-patch+json", "invalid JSON patch"},
			{"PATCH", configMapsPath + "/there", "application/json-patch+json", "invalid JSON patch"},
			{"PATCH", widgetsPath + "/x?fieldManager=m", applyYAML, "exceeded max depth"},
			{"DELETE", configMapsPath + "/there", "application/json", "exceeded max depth"},
		} {
			all = append(all, excessiveRequest{name + " " + to.method + " " + to.media + " " + to.path, to.method, to.path, to.media, body, 400, to.message})
		}
	}
	return all
}

func otherExcessiveRequests() []excessiveRequest {
	token := func(start string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":-1,"start":` + start + `}`))
	}
	finalizers, err := json.Marshal(strings.Fields(strings.Repeat("a/b ", 60_000)))
	if err != nil {
		panic(err) // cannot occur with strings
	}
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	return []excessiveRequest{
		{"body", "POST", configMapsPath, "application/json", strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"delete options", "DELETE", configMapsPath + "/there", "application/json", strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"patch", "PATCH", configMapsPath + "/there", mergeJSON, strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"number of operations", "PATCH", configMapsPath + "/there", "application/json-patch+json",
			"[" + strings.Repeat(`{"op":"test","path":"/data","value":1},`, 10_000) + `{"op":"test","path":"/data","value":1}]`, 413, "is 10000, got 10001"},
		{"index of a list", "PATCH", configMapsPath + "/there", "application/json-patch+json",
			`[{"op":"add","path":"/metadata/finalizers","value":[]},{"op":"add","path":"/metadata/finalizers/2000000000","value":"a/b"}]`, 422, "error in our request"},
		{"long list", "PATCH", configMapsPath + "/there", "application/strategic-merge-patch+json", `{"metadata":{"finalizers":` + string(finalizers) + `}}`, 413, "got 60000"},
		{"deep merge patch", "PATCH", widgetsPath + "/there", mergeJSON, `{"spec":` + deep + `}`, 413, "nested 9001 levels"},
		{"annotations", "POST", configMapsPath, "application/json", `{"metadata":{"name":"x","annotations":{"a":"` + strings.Repeat("x", 1<<18) + `"}}}`, 422, "may not be more than 262144 bytes"},
		{"label selector", "GET", configMapsPath + "?labelSelector=" + strings.Repeat("a", 500_000), "", "", 400, "unable to parse requirement"},
		{"field selector", "GET", configMapsPath + "?fieldSelector=" + strings.Repeat("a", 500_000), "", "", 400, "invalid selector"},
		{"invalid continue token", "GET", configMapsPath + "?limit=1&continue=" + strings.Repeat("a", 500_000), "", "", 400, "continue key is not valid"},
		{"nested continue token", "GET", configMapsPath + "?limit=1&continue=" + token(strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)), "", "", 400, "exceeded max depth"},
		{"continue token with ..", "GET", configMapsPath + "?limit=1&continue=" + token(`"`+strings.Repeat("../", 100_000)+`"`), "", "", 400, "continue key is not valid"},
		{"name", "GET", configMapsPath + "/" + strings.Repeat("a", 500_000), "", "", 404, "not found"},
		{"resourceVersion", "GET", configMapsPath + "?resourceVersion=" + strings.Repeat("9", 100_000), "", "", 400, "invalid resource version"},
	}
}

// A request that exceeds a limit returns a Status immediately, uses little memory and changes
// nothing. The server continues to serve requests (CR-09, PA-13).
func TestLimits(t *testing.T) {
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(widgetCRD), &definition))
	crd, err := json.Marshal(definition)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("there", "1")), fakeapi.WithoutTimeline())
	code, _, response := send(t, srv, "POST", crdsPath, "application/json", crd)
	require.Equal(t, 201, code, "%s", response)
	code, _, response = send(t, srv, "POST", widgetsPath, "application/json", []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"there"}}`))
	require.Equal(t, 201, code, "%s", response)
	before := srv.ResourceVersion()
	for _, e := range append(append(excessiveAliases(), excessiveNesting()...), otherExcessiveRequests()...) {
		t.Run(e.name, func(t *testing.T) {
			start, memory := time.Now(), totalAlloc()
			code, _, response := send(t, srv, e.method, e.path, e.media, []byte(e.body))
			require.Less(t, totalAlloc()-memory, uint64(600<<20))
			require.Less(t, time.Since(start), 20*time.Second)
			require.Equal(t, e.code, code, "%.300s", response)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(response, &s), "%.300s", response)
			require.EqualValues(t, e.code, s.Code)
			require.Contains(t, s.Message, e.message)
			require.Equal(t, before, srv.ResourceVersion(), "the resourceVersion after a failed request")
		})
	}
	for _, path := range []string{configMapsPath + "/there", widgetsPath + "/there"} {
		code, _, response := send(t, srv, "GET", path, "", nil)
		require.Equal(t, 200, code, "%s", response)
	}
}

// totalAlloc returns the total number of bytes allocated so far.
func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A request with too long headers or a too long URL returns 431, like any net/http server. The next
// request is served.
func TestLongHeaders(t *testing.T) {
	srv := fakeapi.Start(t)
	long := strings.Repeat("a", 2<<20)
	for what, r := range map[string]*http.Request{
		"address": newRequest(t, srv.URL()+configMapsPath+"?labelSelector="+long, nil),
		"header":  newRequest(t, srv.URL()+configMapsPath, http.Header{"Accept": {long}}),
	} {
		resp, err := srv.Client().Do(r)
		require.NoError(t, err, what)
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode, what)
		require.NoError(t, resp.Body.Close())
		code, _, response := send(t, srv, "GET", configMapsPath, "", nil)
		require.Equal(t, 200, code, "%s", response)
	}
}

func newRequest(t *testing.T, url string, header http.Header) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header = header
	return r
}

// A YAML body with aliases may expand to the size of any other body.
func TestYAMLAliasesAreAccepted(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	body := "metadata: {name: x}\ndata:\n  a: &a " + strings.Repeat("x", 100_000) + "\n  b: *a\n  c: *a\n"
	code, _, response := send(t, srv, "POST", configMapsPath, "application/yaml", []byte(body))
	require.Equal(t, 201, code, "%.300s", response)
	require.Equal(t, 3, bytes.Count(response, []byte(strings.Repeat("x", 100_000))))
}
