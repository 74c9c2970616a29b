package handlers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/internal/requestinfo"
)

// Cached objects are equal to the decoded records after many clients have written, in different
// ways, at the same time.
func TestCachedObjectsNeverChange(t *testing.T) {
	a := newTestAPI(t)
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			for range 400 {
				sendRandomWrite(a, random)
			}
		})
	}
	clients.Wait()
	cached := 0
	for rec := range a.store.View().Range("", "") {
		prefix, _, _ := strings.Cut(rec.Key, "/")
		plural, group, _ := strings.Cut(prefix, ".")
		res := a.types.Table().Lookup(group, "v1", plural)
		got, err := a.store.Decode(res, rec)
		require.NoError(t, err)
		decoded, err := codec.DecodeStored(res, rec)
		require.NoError(t, err)
		require.Equal(t, toJSON(t, decoded), toJSON(t, got))
		if !equality.Semantic.DeepEqual(decoded, got) { // the times in the managedFields of cached objects have fractions
			cached++
		}
		resource.Accessor(decoded).SetManagedFields(nil)
		resource.Accessor(got).SetManagedFields(nil)
		require.True(t, equality.Semantic.DeepEqual(decoded, got), "%v\n%v", decoded, got)
	}
	require.Greater(t, cached, 5)
}

func toJSON(t *testing.T, obj any) string {
	b, err := json.Marshal(obj)
	require.NoError(t, err)
	return string(b)
}

// sendRandomWrite sends a write of one of a few objects, and returns the response. Many writes are
// invalid.
func sendRandomWrite(a *API, random *rand.Rand) *httptest.ResponseRecorder {
	plurals := []string{"configmaps", "pods", "services", "secrets"}
	plural := plurals[random.IntN(len(plurals))]
	name := fmt.Sprintf("n%d", random.IntN(3))
	path := "/api/v1/namespaces/default/" + plural
	metadata := fmt.Sprintf(`"metadata":{"name":%q,"labels":{"l":"%d"},"annotations":{"a":"%d"}}`, name, random.IntN(3), random.IntN(3))
	content := map[string]string{
		"configmaps": `,"data":{"k":"%d","":""}`,
		"pods":       `,"spec":{"nodeName":"n%d","containers":[{"name":"c"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`,
		"services":   `,"spec":{"selector":{"s":"%d"},"ports":[{"port":80}]}`,
		"secrets":    `,"stringData":{"s":"%d"}`,
	}[plural]
	body := "{" + metadata + fmt.Sprintf(content, random.IntN(4)) + "}"
	method, media := http.MethodPut, "application/json"
	switch random.IntN(8) {
	case 0:
		method = http.MethodPost
	case 1:
		method, path = http.MethodDelete, path+"/"+name
		body = ""
	case 2:
		path += "/" + name
	case 3:
		method, media, path = http.MethodPatch, "application/merge-patch+json", path+"/"+name
	case 4:
		method, media, path = http.MethodPatch, "application/strategic-merge-patch+json", path+"/"+name
	case 5:
		method, media, path = http.MethodPatch, "application/json-patch+json", path+"/"+name
		body = fmt.Sprintf(`[{"op":"add","path":"/metadata/labels","value":{"p":"%d"}}]`, random.IntN(3))
	case 6:
		kind := map[string]string{"configmaps": "ConfigMap", "pods": "Pod", "services": "Service", "secrets": "Secret"}[plural]
		method, media, path = http.MethodPatch, "application/apply-patch+yaml", path+"/"+name+"?fieldManager=m&force=true"
		body = fmt.Sprintf(`{"apiVersion":"v1","kind":%q,`, kind) + body[1:]
	case 7:
		path += "/" + name + "/status"
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", media)
	w := httptest.NewRecorder()
	a.Serve(w, r, requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()))
	return w
}
