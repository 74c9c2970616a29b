package fakeapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkMetrics measures a small request inside the server with and without metrics.
func BenchmarkMetrics(b *testing.B) {
	srv, err := New(WithInMemoryNetwork())
	require.NoError(b, err)
	defer func() { _ = srv.Close() }()
	serve := srv.withFaults(srv.withCommonHeaders(srv.withTimeout(withPanicRecovery(srv.withImpersonation(http.HandlerFunc(srv.route)), nil))))
	request := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default", nil)
	for name, handler := range map[string]http.Handler{"counted": srv.withMetrics(serve), "not": serve} {
		handler = withRequestInfo(srv.withTimeline(handler))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
