package handlers

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/crd/registry"
	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

func newAPI(t *testing.T) *API {
	a := New(memstore.New(memstore.Options{}), registry.New(versions.Network{}), NewIDs([32]byte{1}), Settings{})
	require.NoError(t, a.LoadSystem())
	return a
}

// Two servers are sent the same, much of it several times over; one of them forgets
// its echoes. They answer the same.
func TestNoopCacheDoesNotChangeResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // at one moment
		remembers, forgets := newAPI(t), newAPI(t)
		random := rand.New(rand.NewPCG(3, 4))
		echoed := 0
		for range 1000 {
			seed := [2]uint64{random.Uint64(), random.Uint64()}
			for range 1 + random.IntN(3) {
				first := sendRandomWrite(remembers, rand.New(rand.NewPCG(seed[0], seed[1])))
				forgets.noops = newRecordCache[noopRequest]()
				second := sendRandomWrite(forgets, rand.New(rand.NewPCG(seed[0], seed[1])))
				require.Equal(t, second.Code, first.Code)
				require.Equal(t, second.Body.String(), first.Body.String())
				require.Equal(t, second.Header(), first.Header())
			}
		}
		for i := range remembers.noops.slots {
			if remembers.noops.slots[i].Load() != nil {
				echoed++
			}
		}
		require.Greater(t, echoed, 5)
	})
}

// An echo is of one record: when somebody else has written, the request is worked out.
func TestEchoesEndWithTheRecord(t *testing.T) {
	a := newAPI(t)
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
	require.Equal(t, created, apply())
	rec := a.store.View().Get("configmaps/default/one")
	_, known := a.noops.lookup(rec)
	require.True(t, known)
	require.Equal(t, created, apply())

	require.Equal(t, http.StatusOK, send(http.MethodPatch, "application/merge-patch+json", "", `{"data":{"a":"2","b":"2"}}`).Code)
	require.Contains(t, apply(), `"data":{"a":"1","b":"2"}`)
	require.Equal(t, http.StatusOK, send(http.MethodDelete, "application/json", "", "").Code)
	require.NotEqual(t, created, apply(), "it is made anew, with another uid")

	// What warns warns again.
	for range 3 {
		w := send(http.MethodPatch, "application/merge-patch+json", "", `{"data":{"a":"1"},"nonsense":1}`)
		require.Equal(t, []string{`299 - "unknown field \"nonsense\""`}, w.Header()["Warning"])
	}
}
