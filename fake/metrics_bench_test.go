package fakeapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// BenchmarkMetrics is a small request inside the server, counted and not.
func BenchmarkMetrics(b *testing.B) {
	srv, err := New(WithInMemoryNetwork())
	require.NoError(b, err)
	defer func() { _ = srv.Close() }()
	plain := srv.withTimeline(faults.Handler(&srv.faults, srv.withRequestDefaults()))
	request := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/default", nil)
	for name, handler := range map[string]http.Handler{
		"counted": srv.withTimeline(srv.withMetrics(faults.Handler(&srv.faults, srv.withRequestDefaults()))), "not": plain,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
