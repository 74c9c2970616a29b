package fuzz_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The server responds to any request without an internal error, and a request that fails with a
// Status changes nothing. The requests run on virtual time, so that watches and waits end.
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
	f.Add("GET", maps+"?watch=1&resourceVersion=0&allowWatchBookmarks=1", "application/cbor-seq", "", "")
	f.Add("GET", "/api/v1/watch/namespaces/default/pods/web?timeoutSeconds=5", "application/vnd.kubernetes.protobuf;stream=watch", "", "")
	f.Add("GET", maps+"?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYSJ9", "", "", "")
	f.Add("GET", widgetsPath+"?resourceVersion=100000", "", "", "")
	f.Add("HEAD", "/apis/apps/v1", "", "", "")
	f.Add("GET", "/api/v1/namespaces/default/pods/web/log?follow=1", "", "", "")
	f.Add("OPTIONS", "*", "", "", "")
	base := newFuzzServer(f, newConfigMap("there"), newPod("web", makeRunning), newDeployment("web"), newPDB("web"))
	f.Fuzz(func(t *testing.T, method, target, accept, contentType, body string) {
		r, err := http.NewRequest(method, "http://server"+target, bytes.NewReader([]byte(body)))
		if err != nil {
			return // no client can send it
		}
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", contentType)
		synctest.Test(t, func(t *testing.T) {
			p := newProbe(t, base, fakeapi.WithoutControllers())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
			defer cancel()
			w, before := httptest.NewRecorder(), p.revision()
			p.srv.ServeHTTP(w, r.WithContext(ctx))
			if w.Code == http.StatusOK && strings.Contains(target, "watch") || method == http.MethodHead {
				return // not one object
			}
			p.check(r, w, before)
		})
	})
}

// The control API responds to any request, and a request that fails changes nothing.
func FuzzControl(f *testing.F) {
	for _, line := range [][3]string{
		{"POST", "/faults", "busy: when verb(list) && first(3) do status(429)"}, {"POST", "/faults", "when always do reset\nwhen"}, {"GET", "/faults", ""}, {"DELETE", "/faults/busy", ""},
		{"GET", "/hits", ""}, {"GET", "/requests", ""}, {"GET", "/timeline", ""}, {"POST", "/compact", ""}, {"POST", "/forget-history", ""}, {"POST", "/run-controllers", ""},
		{"POST", "/tokens?expiresIn=10m", "s3cret,ann,team-a"}, {"POST", "/tokens?expiresIn=x", "s,a"}, {"POST", "/tokens/expire", "s3cret"}, {"POST", "/certificates", "ann"},
		{"POST", "/snapshots/before", ""}, {"POST", "/snapshots/before/restore?bump=18446744073709551615", ""}, {"GET", "/snapshots", ""}, {"DELETE", "/snapshots/x", ""},
		{"POST", "/forks/second", ""}, {"GET", "/forks", ""}, {"DELETE", "/forks/second", ""}, {"PUT", "/", ""}, {"POST", "/snapshots/%2e%2e", ""},
	} {
		f.Add(line[0], line[1], line[2], "")
		f.Add(line[0], line[1], line[2], "application/json")
	}
	base := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, method, target, body, accept string) {
		r, err := http.NewRequest(method, "http://server/fakeapi/v1"+target, bytes.NewReader([]byte(body)))
		if err != nil {
			return
		}
		r.Header.Set("Accept", accept)
		p := newProbe(t, base, fakeapi.WithControlAPI())
		for range 2 { // the second finds what the first has left
			before, rules := p.revision(), len(p.srv.Faults().Rules())
			w := httptest.NewRecorder()
			p.srv.ServeHTTP(w, r.Clone(t.Context()))
			require.Less(t, w.Code, http.StatusInternalServerError, "%s", w.Body)
			if w.Code >= http.StatusBadRequest {
				require.Equal(t, before, p.revision())
				require.Len(t, p.srv.Faults().Rules(), rules)
			}
		}
		p.srv.Faults().Clear()
		require.Equal(t, http.StatusOK, p.do("GET", configMapsPath, "", mediaJSON, nil).code)
	})
}
