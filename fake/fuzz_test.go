package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fakeapi "example.com/fakeapi/fake"
)

// Whatever is sent, the server answers, never panics, and a refusal with a
// Status changes nothing.
func FuzzRequest(f *testing.F) {
	const maps = "/api/v1/namespaces/default/configmaps"
	f.Add("GET", maps+"?limit=1&labelSelector=a%20in%20(b)", "application/json", "", "")
	f.Add("POST", maps, "", "application/json", `{"metadata":{"generateName":"a"}}`)
	f.Add("POST", maps+"?dryRun=All&fieldValidation=Strict", "application/yaml", "application/yaml", "metadata: {name: b}")
	f.Add("PUT", maps+"/there", "application/vnd.kubernetes.protobuf", "application/json", `{"metadata":{"name":"there"}}`)
	f.Add("PATCH", maps+"/there", "", "application/json-patch+json", `[{"op":"copy","from":"/data","path":"/metadata/labels"}]`)
	f.Add("PATCH", maps+"/there", "", "application/strategic-merge-patch+json", `{"metadata":{"$setElementOrder/finalizers":["a"]}}`)
	f.Add("PATCH", maps+"/there/status", "", "application/merge-patch+json", `null`)
	f.Add("DELETE", maps+"/there", "", "application/json", `{"preconditions":{"uid":"x"}}`)
	f.Add("POST", maps, "application/cbor", "application/cbor", "\xd9\xd9\xf7\xa1Hmetadata\xa1DnameAc")
	f.Add("PATCH", maps+"/d?fieldManager=m", "application/cbor;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/apply-patch+cbor", "\xa2DkindIConfigMapJapiVersionBv1")
	f.Add("DELETE", maps+"/there", "application/cbor", "application/cbor", "\xbf\xff")
	f.Add("GET", maps, "application/cbor, */*;q=0.1", "", "")
	f.Add("POST", maps, "application/yaml", "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x07\x0a\x05\x0a\x03abc")
	f.Add("POST", "/api/v1/pods", "", "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\x00")
	f.Add("POST", "/api/v1/namespaces/default/pods/web/binding", "", "application/json", `{"metadata":{"name":"web"},"target":{"name":"n"}}`)
	f.Add("POST", "/api/v1/namespaces/default/pods/web/eviction", "", "application/json", `{"metadata":{"name":"web"},"deleteOptions":{"preconditions":{"uid":"x"}}}`)
	f.Add("PUT", "/api/v1/namespaces/default/finalize", "", "application/json", `{"metadata":{"name":"default"},"spec":{"finalizers":["a b"]}}`)
	f.Add("PATCH", "/apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=m", "", "application/apply-patch+yaml", "{apiVersion: autoscaling/v1, kind: Scale, spec: {replicas: 2}}")
	f.Add("PATCH", "/api/v1/namespaces/default/pods/web/resize", "", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}}`)
	f.Add("GET", "/api/v1/namespaces/default/pods/http:web:80/proxy/x", "", "", "")
	f.Add("GET", "/apis/apps/v1/watch/deployments?timeoutSeconds=1", "application/json;stream=watch", "", "")
	f.Add("GET", "/api/v1/pods?includeObject=Object&limit=1", asTable, "", "")
	f.Add("PATCH", maps+"/there?includeObject=Foo", asTable+",application/json", "application/merge-patch+json", `{"data":{"a":"b"}}`)
	f.Add("GET", "/openapi/v3/api/v1?hash=x", "", "", "")
	srv, err := fakeapi.New(fakeapi.InMemory(), fakeapi.WithObjects(configMap("there", "1"), podOf("web", running), deployment("web"), budget("web", 3)), fakeapi.WithControl(), fakeapi.WithCBOR())
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	f.Fuzz(func(t *testing.T, method, target, accept, contentType, body string) {
		if strings.Contains(target, "watch") || strings.Contains(target, "resourceVersion") || strings.Contains(target, "continue") {
			return // these may wait, which is right and takes the fuzzer's time
		}
		r, err := http.NewRequest(method, "http://server"+target, bytes.NewReader([]byte(body)))
		if err != nil {
			return // no client can send it
		}
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", contentType)
		before := srv.ResourceVersion()
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		var s metav1.Status
		if w.Code >= 400 && json.Unmarshal(w.Body.Bytes(), &s) == nil && s.Kind == "Status" {
			if int(s.Code) != w.Code {
				t.Fatalf("code %d with a Status of %d", w.Code, s.Code)
			}
			// That an answer cannot have the form asked for is found when the write is done.
			if after := srv.ResourceVersion(); after != before && !strings.Contains(accept, "as=") {
				t.Fatalf("%s %s was refused (%s) and changed something", method, target, s.Message)
			}
		}
	})
}
