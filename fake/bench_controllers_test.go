package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkControllersWatch measures an update that needs no action of the controllers, inside a
// server with them, including what they do, and without.
func BenchmarkControllersWatch(b *testing.B) {
	body, err := json.Marshal(newKiBConfigMap("one"))
	require.NoError(b, err)
	for name, opts := range map[string][]fakeapi.Option{"with": nil, "without": {fakeapi.WithoutControllers()}} {
		b.Run(name, func(b *testing.B) {
			srv := fakeapi.Start(b, append(opts, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newKiBConfigMap("one")))...)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				one := bytes.ReplaceAll(body, []byte("vvvvvvvv"), []byte(fmt.Sprintf("%08d", n)))
				r := httptest.NewRequest(http.MethodPut, "/api/v1/namespaces/default/configmaps/one", bytes.NewReader(one))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				srv.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
			if name == "with" {
				require.NoError(b, srv.RunControllers(b.Context()))
			}
		})
	}
}

// BenchmarkNamespaceEnd measures the deletion of a namespace with 10,000 ConfigMaps of a KiB.
func BenchmarkNamespaceEnd(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		objects := make([]runtime.Object, n)
		for i := range objects {
			cm := newKiBConfigMap(fmt.Sprintf("m%07d", i))
			cm.Namespace = "team"
			objects[i] = cm
		}
		srv, err := fakeapi.New(fakeapi.WithObjects(objects...))
		require.NoError(b, err)
		require.NoError(b, srv.RunControllers(b.Context()))
		b.StartTimer()
		post(b, srv.Client(), http.MethodDelete, srv.URL()+"/api/v1/namespaces/team", nil, http.StatusOK)
		require.NoError(b, srv.RunControllers(b.Context()))
		b.StopTimer()
		post(b, srv.Client(), http.MethodGet, srv.URL()+"/api/v1/namespaces/team", nil, http.StatusNotFound)
		require.NoError(b, srv.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/object")
}
