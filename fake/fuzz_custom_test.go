package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// serveOne makes a request past the network.
func serveOne(t *testing.T, srv *fakeapi.Server, method, path, media string, body []byte) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequest(method, "http://server"+path, bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", media)
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	require.NotContains(t, w.Body.String(), "caused apiserver to panic")
	var answer map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), "%s %s: %d %s", method, path, w.Code, w.Body)
	return w.Code, answer
}

// Whatever the schema and the object are, a definition is taken or refused, an object of it is
// taken or refused, and what was taken is what is read, in a list as alone, and can be written
// again without a change.
func FuzzCustomResource(f *testing.F) {
	f.Add(`{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":1}}}}}`, `{"spec":{"size":3,"color":"red"}}`, `{"spec":{"size":null}}`)
	f.Add(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"a":[{"b":1.5}],"metadata":{"labels":{"a":"b"}}}`, `{"a":[]}`)
	f.Add(`{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}}`, `{"l":[{"k":"a"},{"k":"b"}]}`, `{"l":[{"k":"b"},{"k":"b"}]}`)
	f.Add(`{"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}`, `{"s":["a","b"]}`, `{"s":["b"]}`)
	f.Add(`{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`, `{"e":{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}}`, `{"e":{}}`)
	f.Add(`{"type":"object","properties":{"n":{"x-kubernetes-int-or-string":true},"o":{"type":"object","nullable":true,"additionalProperties":{"type":"number","maximum":3}}}}`, `{"n":"5%","o":null}`, `{"n":5,"o":{"a":2}}`)
	f.Add(`{"type":"object","properties":{"s":{"type":"string","format":"date-time","pattern":"^[0-9]","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`, `{"s":"2026-01-01T00:00:00Z"}`, `{"s":"x"}`)
	f.Add(`{"type":"object","properties":{"x":{"type":"object","default":{"a":1},"properties":{"a":{"type":"integer"}},"x-kubernetes-map-type":"atomic"}},"oneOf":[{"required":["x"]},{"required":["y"]}]}`, `{"x":{}}`, `{"y":1}`)
	f.Fuzz(func(t *testing.T, schema, object, patch string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		srv, err := fakeapi.New(fakeapi.InMemory(), fakeapi.WithoutTimeline())
		require.NoError(t, err)
		defer func() { require.NoError(t, srv.Close()) }()
		crd := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.shop.example.com"},
			"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`, schema)
		if code, _ := serveOne(t, srv, "POST", limitCRDs, "application/json", []byte(crd)); code != http.StatusCreated {
			return
		}
		serveOne(t, srv, "GET", "/openapi/v3/apis/shop.example.com/v1", "", nil)
		whole := map[string]any{}
		if json.Unmarshal([]byte(object), &whole) != nil || whole == nil {
			return
		}
		meta := map[string]any{"name": "a"}
		if sent, is := whole["metadata"].(map[string]any); is {
			maps.Copy(meta, sent)
			meta["name"] = "a"
		}
		whole["apiVersion"], whole["kind"], whole["metadata"] = "shop.example.com/v1", "Widget", meta
		body, err := json.Marshal(whole)
		require.NoError(t, err)
		if code, _ := serveOne(t, srv, "POST", limitWidgets, "application/json", body); code == http.StatusCreated {
			readBack(t, srv)
			for _, media := range []string{mergeJSON, "application/json-patch+json"} {
				serveOne(t, srv, "PATCH", limitWidgets+"/a", media, []byte(patch))
			}
			readBack(t, srv)
		}
		serveOne(t, srv, "PATCH", limitWidgets+"/b?fieldManager=m", applyYAML, body)
		serveOne(t, srv, "PATCH", limitWidgets+"/a?fieldManager=m&force=true", applyYAML, body)
	})
}

// readBack reads the object a: alone, in a list, and as the answer to a write that changes nothing.
func readBack(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	code, alone := serveOne(t, srv, "GET", limitWidgets+"/a", "", nil)
	if code == http.StatusNotFound {
		return // a patch of its finalizers may have ended it
	}
	require.Equal(t, http.StatusOK, code, "%v", alone)
	code, list := serveOne(t, srv, "GET", limitWidgets, "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, []any{alone}, list["items"])
	code, again := serveOne(t, srv, "PATCH", limitWidgets+"/a", mergeJSON, []byte(`{}`))
	if code == http.StatusOK {
		require.Equal(t, alone, again)
	}
}
