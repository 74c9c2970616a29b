package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

// scrambledGauge is a gauge with keys that precede and follow those of every object, and with
// strings that look like the resourceVersion.
const scrambledGauge = `{"status":{"phase":"x"},"spec":{"whole":1,"free":{"z":1,"<":"&>","a":{"d":[],"c":{"y":null,"x":{}}}}},` +
	`"metadata":{"name":"a","labels":{"b":"1","resourceVersion":""},"finalizers":["example.com/stay"],` +
	`"annotations":{"resourceVersion":"\"resourceVersion\":-0e0"}},"kind":"Gauge","data":"d","apiVersion":"gauge.example.com/v1"}`

// The keys of custom resources are in alphabetical order at every level, as a real server sends
// them, in each response that has a whole object.
func TestKeyOrderOfCustomResources(t *testing.T) {
	srv := startGauges(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		v2 := crd.Spec.Versions[0].DeepCopy()
		v2.Name, v2.Storage = "v2", false
		crd.Spec.Versions = append(crd.Spec.Versions, *v2)
	})
	const (
		item   = gaugesPath + "/a"
		merge  = "application/merge-patch+json"
		itemV2 = "/apis/gauge.example.com/v2/namespaces/default/gauges/a"
	)
	for _, request := range []struct{ method, path, contentType, body string }{
		{"POST", gaugesPath + "?dryRun=All", mediaJSON, scrambledGauge},
		{"POST", gaugesPath, mediaJSON, scrambledGauge},
		{"GET", item, "", ""},
		{"GET", itemV2, "", ""},
		{"GET", gaugesPath, "", ""},
		{"GET", "/apis/gauge.example.com/v2/gauges", "", ""},
		{"GET", gaugesPath + "?labelSelector=no%3Dthing", "", ""},
		{"PATCH", item, merge, `{"spec":{"whole":2}}`},
		{"PATCH", itemV2, merge, `{"spec":{"whole":3}}`},
		{"PATCH", item + "/status", merge, `{"status":{"phase":"y"}}`},
		{"PATCH", gaugesPath + "/b", "application/apply-patch+yaml", strings.NewReplacer(`"name":"a"`, `"name":"b"`, "null", "1").Replace(scrambledGauge)},
		{"DELETE", item, "", ""},
	} {
		path := request.path
		if strings.HasPrefix(request.contentType, "application/apply") {
			path += "?fieldManager=m"
		}
		code, _, body := send(t, srv, request.method, path, request.contentType, []byte(request.body))
		require.Less(t, code, 300, "%s", body)
		requireSortedKeys(t, body)
	}
	_, _, list := send(t, srv, http.MethodGet, gaugesPath, "", nil)
	require.Regexp(t, `^{"apiVersion":"gauge.example.com/v1","items":\[{"apiVersion":"gauge.example.com/v1","data":"d","kind":"Gauge","metadata":{.*\],`+
		`"kind":"GaugeList","metadata":{"continue":"","resourceVersion":"\d+"}}\n$`, string(list))
}

// requireSortedKeys checks that the keys of all objects in JSON are in alphabetical order.
func requireSortedKeys(t *testing.T, body []byte) {
	t.Helper()
	var value any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &value))
	sorted, err := json.Marshal(value)
	require.NoError(t, err)
	require.Equal(t, string(sorted), strings.TrimSuffix(string(body), "\n"))
}

// The objects in the events of a watch and in the rows of a Table have their keys in order, too.
// The event and the Table have those of their Go types.
func TestKeyOrderInEventsAndTables(t *testing.T) {
	srv := startGauges(t, nil)
	code, _, body := send(t, srv, http.MethodPost, gaugesPath, mediaJSON, []byte(scrambledGauge))
	require.Equal(t, http.StatusCreated, code, "%s", body)
	created := strings.TrimSuffix(string(body), "\n")

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+gaugesPath+"?watch=1", nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var event json.RawMessage
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&event))
	require.Equal(t, `{"type":"ADDED","object":`+created+`}`, string(event))

	got := sendWith(t, srv, http.MethodGet, gaugesPath+"?includeObject=Object", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	require.True(t, strings.HasPrefix(string(got.body), `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"`), "%s", got.body)
	require.Contains(t, string(got.body), `,"object":`+created+`}]}`)

	got = sendWith(t, srv, http.MethodGet, gaugesPath+"/a", "", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	require.True(t, strings.HasPrefix(string(got.body), `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",`), "%s", got.body)
}
