package fakeapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkEncodings measures a list of 2,000 objects of a KiB, and one object, in each encoding.
// x-json is the ratio to the same in JSON, which is read in between.
func BenchmarkEncodings(b *testing.B) {
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork(), fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(newKiBConfigMaps(2000)...))
	const partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	for _, e := range []struct{ name, accept, encoding string }{
		{"protobuf", mediaProtobuf, ""}, {"cbor", mediaCBOR, ""}, {"yaml", "application/yaml", ""}, {"pretty", mediaJSON + ";pretty=1", ""},
		{"gzip", mediaJSON, "gzip"}, {"protobuf+gzip", mediaProtobuf, "gzip"}, {"cbor+gzip", mediaCBOR, "gzip"},
		{"json+partial", mediaJSON + partial, ""}, {"cbor+partial", mediaCBOR + partial, ""},
	} {
		for what, path := range map[string]string{"list": configMapsPath, "get": configMapsPath + "/m0000007"} {
			if what == "get" && (e.encoding != "" || len(e.accept) > 40) {
				continue
			}
			b.Run(what+"/"+e.name, func(b *testing.B) {
				var jsonTime time.Duration
				serveGET(b, srv, path, e.accept, e.encoding) // fills the caches
				b.ReportAllocs()
				for b.Loop() {
					size := serveGET(b, srv, path, e.accept, e.encoding)
					b.StopTimer()
					b.ReportMetric(float64(size), "bytes")
					start := time.Now()
					serveGET(b, srv, path, mediaJSON, "")
					jsonTime += time.Since(start)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed())/float64(jsonTime), "x-json")
			})
		}
	}
}

// serveGET calls the handler with a GET and returns the size of the body.
func serveGET(b *testing.B, srv *fakeapi.Server, path, accept, encoding string) int {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	r.Header.Set("Accept-Encoding", encoding)
	r.Header.Set("User-Agent", "bench/1")
	w := &sizeRecorder{header: http.Header{}}
	srv.ServeHTTP(w, r)
	if w.code != http.StatusOK {
		b.Fatal(w.code)
	}
	return w.size
}

// sizeRecorder is a ResponseWriter that records only the size.
type sizeRecorder struct {
	header     http.Header
	code, size int
}

func (c *sizeRecorder) Header() http.Header  { return c.header }
func (c *sizeRecorder) WriteHeader(code int) { c.code = code }
func (c *sizeRecorder) Write(p []byte) (int, error) {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	c.size += len(p)
	return len(p), nil
}
