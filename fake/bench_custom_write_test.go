//go:build unix

package fakeapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// meterDefinition has the keywords that most definitions have: types, defaults, bounds, an enum, a
// list that is a map, a CEL rule, and a status of any fields.
const meterDefinition = `
metadata: {name: meters.bench.example.com}
spec:
  group: bench.example.com
  scope: Namespaced
  names: {plural: meters, singular: meter, kind: Meter}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.n}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 0, default: 1}
              mode: {type: string, enum: [a, b]}
              items:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, value: {type: string}}}
            x-kubernetes-validations: [{rule: self.size < 1000}]
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

const metersPath = "/apis/bench.example.com/v1/namespaces/default/meters"

// meter returns a custom resource of about a KiB.
func meter(name string, size int) []byte {
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf(`{"name":"n%d","value":"value-of-some-length-%d-%d"}`, i, i, size))
	}
	return fmt.Appendf(nil, `{"apiVersion":"bench.example.com/v1","kind":"Meter","metadata":{"name":"%s"},"spec":{"size":%d,"mode":"a","items":[%s]}}`,
		name, size, strings.Join(items, ","))
}

// meterServer returns a server with the definition and some meters.
func meterServer(b *testing.B, size int) *fakeapi.Server {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(b, yaml.UnmarshalStrict([]byte(meterDefinition), crd))
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork())
	require.NoError(b, srv.Load(crd))
	for n := range size {
		serveRequest(b, srv, http.MethodPost, metersPath, mediaJSON, mediaJSON, meter(fmt.Sprintf("g%d", n), 1))
	}
	return srv
}

// BenchmarkCustomWrite measures writes of custom resources inside the server: of one object, whose
// decoded form is cached, and in turn of more objects than are cached. cpu-ns/op is the processor
// time, which the load of the machine disturbs less.
func BenchmarkCustomWrite(b *testing.B) {
	b.Run("create", func(b *testing.B) {
		srv := meterServer(b, 1)
		defer reportProcessorTime(b)()
		for n := 0; b.Loop(); n++ {
			serveRequest(b, srv, http.MethodPost, metersPath, mediaJSON, mediaJSON, meter(fmt.Sprintf("h%d", n), 1))
		}
	})
	for _, objects := range []int{1, 2000} {
		for _, write := range []customWrite{
			{"update", http.MethodPut, "", mediaJSON, updatedMeter},
			{"merge-patch", http.MethodPatch, "", mediaMergePatch, func(_ []byte, n int) []byte { return fmt.Appendf(nil, `{"spec":{"size":%d}}`, n) }},
			{"json-patch", http.MethodPatch, "", "application/json-patch+json", func(_ []byte, n int) []byte {
				return fmt.Appendf(nil, `[{"op":"replace","path":"/spec/size","value":%d}]`, n)
			}},
			{"scale-patch", http.MethodPatch, "/scale", mediaMergePatch, func(_ []byte, n int) []byte { return fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n) }},
			{"status-patch", http.MethodPatch, "/status", mediaMergePatch, func(_ []byte, n int) []byte { return fmt.Appendf(nil, `{"status":{"ready":true,"n":%d}}`, n) }},
		} {
			b.Run(fmt.Sprintf("%s/objects=%d", write.name, objects), func(b *testing.B) { write.bench(b, objects) })
		}
	}
}

const mediaMergePatch = "application/merge-patch+json"

// customWrite is a write to a meter. body returns the n-th one of an object, which was returned as
// last.
type customWrite struct {
	name, method, subresource, contentType string
	body                                   func(last []byte, n int) []byte
}

func (w customWrite) bench(b *testing.B, objects int) {
	srv := meterServer(b, objects)
	last := make([][]byte, objects)
	for n := range last {
		last[n] = serveRequest(b, srv, http.MethodGet, fmt.Sprintf("%s/g%d", metersPath, n), mediaJSON, mediaJSON, nil)
	}
	defer reportProcessorTime(b)()
	for n := 0; b.Loop(); n++ {
		at := n % objects
		path := fmt.Sprintf("%s/g%d%s", metersPath, at, w.subresource)
		last[at] = serveRequest(b, srv, w.method, path, w.contentType, mediaJSON, w.body(last[at], 2+n/objects%900))
	}
}

// updatedMeter returns a meter with another size.
func updatedMeter(last []byte, n int) []byte {
	begin := bytes.Index(last, []byte(`"size":`)) + len(`"size":`)
	end := begin + bytes.IndexByte(last[begin:], '}')
	return slices.Concat(last[:begin], strconv.AppendInt(nil, int64(n), 10), last[end:])
}

// reportProcessorTime reports allocations, and the processor time until the returned function is
// called.
func reportProcessorTime(b *testing.B) (report func()) {
	b.ReportAllocs()
	begin := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-begin)/float64(b.N), "cpu-ns/op") }
}

// processorTime returns the processor time of the process.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
