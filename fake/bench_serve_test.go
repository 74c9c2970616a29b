package fakeapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkServe measures requests inside the server, without a network and a client. x-decode is
// the ratio to strictly decoding the object into its type, in the encoding of the client. For a
// patch, the whole object is decoded as well.
func BenchmarkServe(b *testing.B) {
	b.Run("get", func(b *testing.B) {
		srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(newKiBConfigMap("one")))
		b.ReportAllocs()
		for b.Loop() {
			serveRequest(b, srv, http.MethodGet, "/api/v1/namespaces/default/configmaps/one", mediaJSON, mediaJSON, nil)
		}
	})
	for _, w := range benchTypes() {
		for _, media := range []string{mediaJSON, mediaProtobuf} {
			for _, op := range w.operations(b, media) {
				b.Run(fmt.Sprintf("%s/%s/%s", w.name, op.name, shortMedia(media)), func(b *testing.B) { benchServe(b, w, op, media) })
			}
		}
	}
}

// benchServe measures one operation. It decodes in between, so that both run under the same load of
// the machine.
func benchServe(b *testing.B, w benchType, op benchOperation, media string) {
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork())
	fixture := op.fixture(b, w)
	var response []byte
	for i := range 2 { // the first one of its type takes longer
		path, body := fixture.request(w.path, i, 0)
		response = serveRequest(b, srv, fixture.method, path, fixture.contentType, media, body)
		if op.name == "create" {
			break
		}
	}
	decode := newDecoder(b, w.object, media)
	var decoding time.Duration
	var decoded, n int
	b.ReportAllocs()
	for b.Loop() {
		n++
		path, body := op.request(w.path, 1, n)
		if op.reuseResponse {
			body = bytes.Replace(response, fmt.Appendf(nil, "%08d", n-1), fmt.Appendf(nil, "%08d", n), 1)
		}
		response = serveRequest(b, srv, op.method, path, op.contentType, media, body)
		if n%32 != 1 {
			continue
		}
		b.StopTimer()
		start := time.Now()
		for range 32 {
			decode()
			decoded++
		}
		decoding += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/(float64(decoding)/float64(decoded)), "x-decode")
}

// serveRequest calls the handler with a request that must succeed, and returns the body.
func serveRequest(b *testing.B, srv *fakeapi.Server, method, path, contentType, accept string, body []byte) (response []byte) {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "bench/1")
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	if w.Code >= http.StatusBadRequest {
		b.Fatalf("%s %s: %d: %q", method, path, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// newDecoder returns a function that strictly decodes an object in a media type into its type.
func newDecoder(b *testing.B, obj runtime.Object, media string) func() {
	body, kind, serializer := encode(b, media, obj), reflect.TypeOf(obj).Elem(), codecs()[media]
	return func() {
		var err error
		if into := reflect.New(kind).Interface().(runtime.Object); media == mediaJSON {
			_, err = kjson.UnmarshalStrict(body, into)
		} else {
			_, _, err = serializer.Decode(body, nil, into)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
