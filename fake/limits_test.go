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

// excess is a request that asks for more than a server can give, and what it is answered.
type excess struct {
	name, method, path, media, body string
	code                            int
	message                         string
}

const (
	limitMaps    = "/api/v1/namespaces/default/configmaps"
	limitWidgets = "/apis/shop.example.com/v1/namespaces/default/widgets"
	applyYAML    = "application/apply-patch+yaml"
	mergeJSON    = "application/merge-patch+json"
)

// aliased are documents in YAML that are small, and what they say is not: a billion elements, and
// three thousand times a long string, which the library lets pass.
func aliased() map[string]string {
	powers := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'a'; c < 'i'; c++ {
		powers += fmt.Sprintf("%c: &%c [%s]\n", c+1, c+1, strings.TrimSuffix(strings.Repeat("*"+string(c)+", ", 9), ", "))
	}
	long := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a, ", 3000) + "]\n"
	return map[string]string{"powers": powers, "long": long}
}

func aliasExcesses() (all []excess) {
	for name, text := range aliased() {
		code, message := 400, "yaml: document contains excessive aliasing"
		if name == "long" {
			code, message = 413, "Request entity too large: limit is 3145728"
		}
		for _, to := range []struct{ what, method, path, media string }{
			{"create", "POST", limitMaps, "application/yaml"},
			{"apply", "PATCH", limitMaps + "/x?fieldManager=m", applyYAML},
			{"create of a custom resource", "POST", limitWidgets, "application/yaml"},
			{"apply of a custom resource", "PATCH", limitWidgets + "/x?fieldManager=m", applyYAML},
			{"definition", "POST", crdsPath, "application/yaml"},
			{"delete options", "DELETE", limitMaps + "/there", "application/yaml"},
		} {
			all = append(all, excess{name + ", " + to.what, to.method, to.path, to.media, text, code, message})
		}
	}
	return all
}

func nestedExcesses() (all []excess) {
	lists := strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000)
	objects := strings.Repeat(`{"a":`, 400_000) + "1" + strings.Repeat("}", 400_000)
	for name, deep := range map[string]string{"lists": lists, "objects": objects} {
		body := `{"metadata":{"name":"x"},"data":` + deep + `}`
		for _, to := range []struct{ method, path, media, message string }{
			{"POST", limitMaps, "application/json", "exceeded max depth"},
			{"POST", limitWidgets, "application/json", "exceeded max depth"},
			{"POST", limitMaps, "application/yaml", "exceeded max depth"},
			{"POST", limitWidgets, "application/yaml", "exceeded max depth"},
			{"POST", crdsPath, "application/json", "exceeded max depth"},
			{"PATCH", limitMaps + "/there", mergeJSON, "invalid JSON patch"},
			{"PATCH", limitMaps + "/there", "application/strategic-merge-patch+json", "invalid JSON patch"},
			{"PATCH", limitMaps + "/there", "application/json-patch+json", "invalid JSON patch"},
			{"PATCH", limitWidgets + "/x?fieldManager=m", applyYAML, "exceeded max depth"},
			{"DELETE", limitMaps + "/there", "application/json", "exceeded max depth"},
		} {
			all = append(all, excess{name + " " + to.method + " " + to.media + " " + to.path, to.method, to.path, to.media, body, 400, to.message})
		}
	}
	return all
}

func otherExcesses() []excess {
	token := func(start string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":-1,"start":` + start + `}`))
	}
	finalizers, err := json.Marshal(strings.Fields(strings.Repeat("a/b ", 60_000)))
	if err != nil {
		panic(err) // strings always are JSON
	}
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	return []excess{
		{"a body", "POST", limitMaps, "application/json", strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"options", "DELETE", limitMaps + "/there", "application/json", strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"a patch", "PATCH", limitMaps + "/there", mergeJSON, strings.Repeat(" ", 3<<20+1), 413, "limit is 3145728"},
		{"operations", "PATCH", limitMaps + "/there", "application/json-patch+json",
			"[" + strings.Repeat(`{"op":"test","path":"/data","value":1},`, 10_000) + `{"op":"test","path":"/data","value":1}]`, 413, "is 10000, got 10001"},
		{"an index", "PATCH", limitMaps + "/there", "application/json-patch+json",
			`[{"op":"add","path":"/metadata/finalizers","value":[]},{"op":"add","path":"/metadata/finalizers/2000000000","value":"a/b"}]`, 422, "error in our request"},
		{"a list", "PATCH", limitMaps + "/there", "application/strategic-merge-patch+json", `{"metadata":{"finalizers":` + string(finalizers) + `}}`, 413, "got 60000"},
		{"a deep merge", "PATCH", limitWidgets + "/there", mergeJSON, `{"spec":` + deep + `}`, 413, "nested 9001 levels"},
		{"annotations", "POST", limitMaps, "application/json", `{"metadata":{"name":"x","annotations":{"a":"` + strings.Repeat("x", 1<<18) + `"}}}`, 422, "may not be more than 262144 bytes"},
		{"a label selector", "GET", limitMaps + "?labelSelector=" + strings.Repeat("a", 500_000), "", "", 400, "unable to parse requirement"},
		{"a field selector", "GET", limitMaps + "?fieldSelector=" + strings.Repeat("a", 500_000), "", "", 400, "invalid selector"},
		{"a token that is none", "GET", limitMaps + "?limit=1&continue=" + strings.Repeat("a", 500_000), "", "", 400, "continue key is not valid"},
		{"a nested token", "GET", limitMaps + "?limit=1&continue=" + token(strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)), "", "", 400, "exceeded max depth"},
		{"a token that climbs", "GET", limitMaps + "?limit=1&continue=" + token(`"`+strings.Repeat("../", 100_000)+`"`), "", "", 400, "continue key is not valid"},
		{"a name", "GET", limitMaps + "/" + strings.Repeat("a", 500_000), "", "", 404, "not found"},
		{"a resourceVersion", "GET", limitMaps + "?resourceVersion=" + strings.Repeat("9", 100_000), "", "", 400, "invalid resource version"},
	}
}

// What asks for too much is refused with a Status, at once and for little memory, changes nothing,
// and the server goes on (CR-09, PA-13).
func TestLimits(t *testing.T) {
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(widgetCRD), &definition))
	crd, err := json.Marshal(definition)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("there", "1")), fakeapi.WithoutTimeline())
	code, _, answer := send(t, srv, "POST", crdsPath, "application/json", crd)
	require.Equal(t, 201, code, "%s", answer)
	code, _, answer = send(t, srv, "POST", limitWidgets, "application/json", []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"there"}}`))
	require.Equal(t, 201, code, "%s", answer)
	before := srv.ResourceVersion()
	for _, e := range append(append(aliasExcesses(), nestedExcesses()...), otherExcesses()...) {
		t.Run(e.name, func(t *testing.T) {
			began, memory := time.Now(), allocated()
			code, _, answer := send(t, srv, e.method, e.path, e.media, []byte(e.body))
			require.Less(t, allocated()-memory, uint64(600<<20))
			require.Less(t, time.Since(began), 20*time.Second)
			require.Equal(t, e.code, code, "%.300s", answer)
			var s metav1.Status
			require.NoError(t, json.Unmarshal(answer, &s), "%.300s", answer)
			require.EqualValues(t, e.code, s.Code)
			require.Contains(t, s.Message, e.message)
			require.Equal(t, before, srv.ResourceVersion(), "a refused request must change nothing")
		})
	}
	for _, path := range []string{limitMaps + "/there", limitWidgets + "/there"} {
		code, _, answer := send(t, srv, "GET", path, "", nil)
		require.Equal(t, 200, code, "%s", answer)
	}
}

// allocated is how much memory was taken so far, whatever of it is free again.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A request whose headers or address are too long is refused before it is read, with 431 as by any
// server of net/http, and the next one is served.
func TestLongHeaders(t *testing.T) {
	srv := fakeapi.Start(t)
	long := strings.Repeat("a", 2<<20)
	for what, r := range map[string]*http.Request{
		"address": newRequest(t, srv.URL()+limitMaps+"?labelSelector="+long, nil),
		"header":  newRequest(t, srv.URL()+limitMaps, http.Header{"Accept": {long}}),
	} {
		resp, err := srv.Client().Do(r)
		require.NoError(t, err, what)
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode, what)
		require.NoError(t, resp.Body.Close())
		code, _, answer := send(t, srv, "GET", limitMaps, "", nil)
		require.Equal(t, 200, code, "%s", answer)
	}
}

func newRequest(t *testing.T, url string, header http.Header) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header = header
	return r
}

// What YAML says with its aliases may be as long as any body.
func TestAliasesAreTaken(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	body := "metadata: {name: x}\ndata:\n  a: &a " + strings.Repeat("x", 100_000) + "\n  b: *a\n  c: *a\n"
	code, _, answer := send(t, srv, "POST", limitMaps, "application/yaml", []byte(body))
	require.Equal(t, 201, code, "%.300s", answer)
	require.Equal(t, 3, bytes.Count(answer, []byte(strings.Repeat("x", 100_000))))
}
