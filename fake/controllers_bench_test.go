package fakeapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkNamespaceEnd is the end of a namespace with 10,000 ConfigMaps of a KiB,
// by the client's clock and in time for each of them.
func BenchmarkNamespaceEnd(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		objects := make([]runtime.Object, n)
		for i := range objects {
			cm := kib(fmt.Sprintf("m%07d", i))
			cm.Namespace = "team"
			objects[i] = cm
		}
		srv, err := fakeapi.New(fakeapi.WithObjects(objects...))
		require.NoError(b, err)
		require.NoError(b, srv.Settle(b.Context()))
		b.StartTimer()
		post(b, srv.Client(), http.MethodDelete, srv.URL()+"/api/v1/namespaces/team", nil, http.StatusOK)
		require.NoError(b, srv.Settle(b.Context()))
		b.StopTimer()
		post(b, srv.Client(), http.MethodGet, srv.URL()+"/api/v1/namespaces/team", nil, http.StatusNotFound)
		require.NoError(b, srv.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/object")
}

