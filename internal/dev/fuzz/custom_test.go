package fuzz_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// For any schema and object, the CRD and the object are accepted or rejected. An accepted object is
// the same in a list and in every encoding, and writing it again changes nothing.
func FuzzCustomResource(f *testing.F) {
	f.Add(`{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":1}}}}}`, `{"spec":{"size":3,"color":"red"}}`, `{"spec":{"size":null}}`)
	f.Add(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"a":[{"b":1.5}],"metadata":{"labels":{"a":"b"}}}`, `{"a":[]}`)
	f.Add(`{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}}`, `{"l":[{"k":"a"},{"k":"b"}]}`, `{"l":[{"k":"b"},{"k":"b"}]}`)
	f.Add(`{"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}`, `{"s":["a","b"]}`, `{"s":["b"]}`)
	f.Add(`{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`, `{"e":{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}}`, `{"e":{}}`)
	f.Add(`{"type":"object","properties":{"n":{"x-kubernetes-int-or-string":true},"o":{"type":"object","nullable":true,"additionalProperties":{"type":"number","maximum":3}}}}`, `{"n":"5%","o":null}`, `{"n":5,"o":{"a":2}}`)
	f.Add(`{"type":"object","properties":{"s":{"type":"string","format":"date-time","pattern":"^[0-9]","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`, `{"s":"2026-01-01T00:00:00Z"}`, `{"s":"x"}`)
	f.Add(`{"type":"object","properties":{"x":{"type":"object","default":{"a":1},"properties":{"a":{"type":"integer"}},"x-kubernetes-map-type":"atomic"}},"oneOf":[{"required":["x"]},{"required":["y"]}]}`, `{"x":{}}`, `{"y":1}`)
	base, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithoutTimeline())
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, base.Close()) })
	f.Fuzz(func(t *testing.T, schema, object, patch string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		p := newProbe(t, base, fakeapi.WithoutControllers())
		crd := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.shop.example.com"},
			"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`, schema)
		if p.do("POST", crdsPath, mediaJSON, mediaJSON, []byte(crd)).code != http.StatusCreated {
			return
		}
		require.Equal(t, http.StatusOK, p.do("GET", "/openapi/v3/apis/shop.example.com/v1", "", mediaJSON, nil).code)
		obj := map[string]any{}
		if json.Unmarshal([]byte(object), &obj) != nil || obj == nil {
			return
		}
		meta := map[string]any{"name": "a"}
		if sent, is := obj["metadata"].(map[string]any); is {
			maps.Copy(meta, sent)
			meta["name"] = "a"
		}
		obj["apiVersion"], obj["kind"], obj["metadata"] = "shop.example.com/v1", "Widget", meta
		body, err := json.Marshal(obj)
		require.NoError(t, err)
		if p.do("POST", widgetsPath, mediaJSON, mediaJSON, body).code == http.StatusCreated {
			p.checkEncodings(widgetsPath, "a", true)
			for _, media := range patchTypes[:2] {
				p.do("PATCH", widgetsPath+"/a", media, mediaJSON, []byte(patch))
			}
			p.checkEncodings(widgetsPath, "a", true)
		}
		for _, name := range []string{"a", "b"} {
			if p.do("PATCH", widgetsPath+"/"+name+"?fieldManager=m&force=true", applyYAML, mediaJSON, body).code < http.StatusBadRequest {
				p.checkEncodings(widgetsPath, name, true)
			}
		}
	})
}
