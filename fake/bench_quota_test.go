package fakeapi_test

import (
	"net/http"
	"testing"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkQuota measures creates in a namespace with a quota that counts its 1000 objects.
func BenchmarkQuota(b *testing.B) {
	objects := append(newKiBConfigMaps(1000), newQuota("q", "count/configmaps", "2000"))
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithObjects(objects...))
	body := []byte(`{"metadata":{"name":"new"}}`)
	b.ReportAllocs()
	for b.Loop() {
		serveRequest(b, srv, http.MethodPost, "/api/v1/namespaces/default/configmaps?dryRun=All", mediaJSON, mediaJSON, body)
	}
}
