package handlers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/admission/plugins"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/ids"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

func newTestAPI(t *testing.T) *API { return newTestAPIWith(t, Settings{}) }

func newTestAPIWith(t *testing.T, s Settings) *API {
	a := New(memstore.New(memstore.Options{}), registry.New(builtin.Table(), webhookclient.Network{}), ids.New([32]byte{1}), s)
	require.NoError(t, a.LoadSystem())
	return a
}

func isNoopCached(a *API, rec *memstore.Record) bool {
	e, ok := a.noops.find(rec.Key)
	return ok && e.rec.Value() == rec
}

// Two servers are sent the same requests, many of them several times. The responses are the same
// although one of the servers does not cache no-op requests.
func TestNoopCacheDoesNotChangeResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // all requests are sent at the same time
		caching, other := newTestAPI(t), newTestAPI(t)
		random := rand.New(rand.NewPCG(3, 4))
		cached := 0
		for range 1000 {
			seed := [2]uint64{random.Uint64(), random.Uint64()}
			for range 1 + random.IntN(3) {
				got := sendRandomWrite(caching, rand.New(rand.NewPCG(seed[0], seed[1])))
				other.noops = noopCache{}
				want := sendRandomWrite(other, rand.New(rand.NewPCG(seed[0], seed[1])))
				require.Equal(t, want.Code, got.Code)
				require.Equal(t, want.Body.String(), got.Body.String())
				require.Equal(t, want.Header(), got.Header())
				for rec := range caching.store.View().Range("", "") {
					if isNoopCached(caching, rec) {
						cached++
					}
				}
			}
		}
		require.Greater(t, cached, 5)
	})
}

// A no-op request is cached for one record. After another write it is evaluated again.
func TestNoopCacheIsForOneRecord(t *testing.T) {
	a := newTestAPI(t)
	const path = "/api/v1/namespaces/default/configmaps/one"
	send := func(method, media, query, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path+query, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		a.Serve(w, r, requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()))
		return w
	}
	apply := func() string {
		w := send(http.MethodPatch, "application/apply-patch+yaml", "?fieldManager=m&force=true",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"1"}}`)
		require.Less(t, w.Code, 300, w.Body)
		return w.Body.String()
	}
	created := apply()
	rec := a.store.View().Get("configmaps/default/one")
	require.True(t, isNoopCached(a, rec), "the object has what was applied")
	require.Equal(t, created, apply())
	require.Equal(t, created, apply())

	require.Equal(t, http.StatusOK, send(http.MethodPatch, "application/merge-patch+json", "", `{"data":{"a":"2","b":"2"}}`).Code)
	require.Contains(t, apply(), `"data":{"a":"1","b":"2"}`)
	require.Equal(t, http.StatusOK, send(http.MethodDelete, "application/json", "", "").Code)
	require.NotEqual(t, created, apply(), "a new object has another uid")

	// A request with warnings is not cached.
	for range 3 {
		w := send(http.MethodPatch, "application/merge-patch+json", "", `{"data":{"a":"1"},"nonsense":1}`)
		require.Equal(t, []string{`299 - "unknown field \"nonsense\""`}, w.Header()["Warning"])
	}
}

// A write of a claim is not cached, because a LimitRange may refuse it.
func TestNoopCacheOmitsClaims(t *testing.T) {
	names, err := plugins.Enabled(nil, nil)
	require.NoError(t, err)
	a := newTestAPIWith(t, Settings{AdmissionPlugins: names})
	const (
		claims = "/api/v1/namespaces/default/persistentvolumeclaims"
		claim  = `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
		limits = `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"2Gi"}}]}}`
	)
	require.Equal(t, http.StatusCreated, sendWrite(a, http.MethodPost, claims, claim))
	for range 2 {
		require.Equal(t, http.StatusOK, sendWrite(a, http.MethodPut, claims+"/c", claim))
	}
	require.Equal(t, http.StatusCreated, sendWrite(a, http.MethodPost, "/api/v1/namespaces/default/limitranges", limits))
	require.Equal(t, http.StatusForbidden, sendWrite(a, http.MethodPut, claims+"/c", claim))
}

// A write of a binding is not cached, because it requires access to the parameters, also while no
// policy is in force yet.
func TestNoopCacheOmitsPolicies(t *testing.T) {
	decision := authorizer.DecisionAllow
	a := newTestAPIWith(t, Settings{PolicyDelay: time.Hour, Authorization: authz.Config{
		Custom: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return decision, "", nil
		}),
	}})
	const (
		bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
		binding  = `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"name":"n","parameterNotFoundAction":"Deny"}}}`
	)
	require.Equal(t, http.StatusCreated, sendWrite(a, http.MethodPost, bindings, binding))
	for range 2 {
		require.Equal(t, http.StatusOK, sendWrite(a, http.MethodPatch, bindings+"/b", "{}"))
	}
	decision = authorizer.DecisionDeny
	require.Equal(t, http.StatusUnprocessableEntity, sendWrite(a, http.MethodPatch, bindings+"/b", "{}"))
}

// sendWrite sends a write of a user, of which a patch is a merge patch, and returns the code of the
// response.
func sendWrite(a *API, method, path, body string) int {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r = r.WithContext(authn.WithUser(r.Context(), authenticationv1.UserInfo{Username: "ann"}))
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w := httptest.NewRecorder()
	a.Serve(w, r, requestinfo.Parse(r.Method, r.URL.Path, r.URL.Query()))
	return w.Code
}

// The cache has the objects that were written last, up to its limit, and keeps none of them.
func TestNoopCacheIsLimited(t *testing.T) {
	var c noopCache
	for i := range 3 * maxNoops {
		c.put(strconv.Itoa(i), noopEntry{rec: weak.Make(&memstore.Record{Key: strconv.Itoa(i)})})
	}
	require.LessOrEqual(t, len(c.recent)+len(c.older), 2*maxNoops)
	runtime.GC()
	for i := 2 * maxNoops; i < 3*maxNoops; i++ {
		e, ok := c.find(strconv.Itoa(i))
		require.True(t, ok)
		require.Nil(t, e.rec.Value())
	}
	_, ok := c.find("0")
	require.False(t, ok)
}

// Requests that differ in one part have different digests.
func TestNoopDigest(t *testing.T) {
	base := noopRequest{method: "PUT", path: "/a", query: "b", contentType: "c", userAgent: "d", user: "e", groups: []string{"f", "g"}}
	same := base
	require.Equal(t, base.digest([]byte("h")), same.digest([]byte("h")))
	digests := map[[sha256.Size]byte]bool{base.digest([]byte("h")): true, base.digest(nil): true}
	for _, change := range []func(n *noopRequest){
		func(n *noopRequest) { n.method = "PATCH" },
		func(n *noopRequest) { n.path = "/" },
		func(n *noopRequest) { n.path, n.query = "/ab", "" },
		func(n *noopRequest) { n.contentType = "" },
		func(n *noopRequest) { n.userAgent = "dd" },
		func(n *noopRequest) { n.user = "f" },
		func(n *noopRequest) { n.groups = []string{"f"} },
		func(n *noopRequest) { n.groups = []string{"g", "f"} },
		func(n *noopRequest) { n.groups = []string{"f", "g", ""} },
	} {
		n := base
		change(&n)
		digests[n.digest([]byte("h"))] = true
	}
	require.Len(t, digests, 11)
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
