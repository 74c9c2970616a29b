package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkServe is what the server itself does for a request, without a
// network and a client, beside decoding the same body into its type.
func BenchmarkServe(b *testing.B) {
	body, err := json.Marshal(kib("one"))
	require.NoError(b, err)
	const maps = "/api/v1/namespaces/default/configmaps"
	serve := func(srv *fakeapi.Server, method, path string, body []byte, want int) {
		r := httptest.NewRequest(method, path, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "bench/1")
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		if w.Code != want {
			b.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := kjson.UnmarshalStrict(body, &corev1.ConfigMap{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		srv := fakeapi.Start(b, fakeapi.InMemory(), fakeapi.WithObjects(kib("one")))
		b.ReportAllocs()
		for b.Loop() {
			serve(srv, http.MethodGet, maps+"/one", nil, http.StatusOK)
		}
	})
	b.Run("create", func(b *testing.B) {
		srv := fakeapi.Start(b, fakeapi.InMemory())
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			serve(srv, http.MethodPost, maps, bytes.ReplaceAll(body, []byte(`"one"`), []byte(fmt.Sprintf(`"n%d"`, n))), http.StatusCreated)
		}
	})
	b.Run("update", func(b *testing.B) {
		srv := fakeapi.Start(b, fakeapi.InMemory(), fakeapi.WithObjects(kib("one")))
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			one := bytes.ReplaceAll(body, []byte("vvvvvvvv"), []byte(fmt.Sprintf("%08d", n)))
			serve(srv, http.MethodPut, maps+"/one", one, http.StatusOK)
		}
	})
}
