package faults_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/fakeapi/faults"
)

// discardWriter is a ResponseWriter that discards the response.
type discardWriter struct{ h http.Header }

func (n discardWriter) Header() http.Header         { return n.h }
func (n discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (n discardWriter) WriteHeader(int)             {}

const tenRules = `when verb(list) && resource(pods) && first(1) do status(410)
when verb(create) && during(committed) do reset
when resource(nodes) && during(committed) do reset
when event(BOOKMARK) do drop
when verb(watch) && resource(nodes) && nth(2) do end
when verb(get) && namespace(other) do hang
when verb(get) && name(y, z) do hang
when userAgent(kubectl) do delay(1s)
when path(/readyz) do status(500)
when query(continue) do status(410)`

func newSet(b *testing.B, rules string) *faults.Set {
	set := &faults.Set{}
	if _, err := set.AddText(rules); err != nil {
		b.Fatal(err)
	}
	return set
}

// BenchmarkHandler measures a request that no rule matches, without a network.
func BenchmarkHandler(b *testing.B) {
	for _, c := range []struct{ name, rules string }{{"none", ""}, {"ten", tenRules}} {
		b.Run("rules="+c.name, func(b *testing.B) {
			body := []byte(podA)
			h := faults.Handler(newSet(b, c.rules), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
			r := httptest.NewRequest(http.MethodGet, pods+"/x", nil)
			w := discardWriter{http.Header{"Content-Type": {"application/json"}}}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkRequest measures the same over HTTP on a reused connection. "without" has no Handler.
func BenchmarkRequest(b *testing.B) {
	next := staticHandler("application/json", podA)
	for _, c := range []struct {
		name string
		h    http.Handler
	}{{"without", next}, {"rules=none", faults.Handler(newSet(b, ""), next)}, {"rules=ten", faults.Handler(newSet(b, tenRules), next)}} {
		b.Run(c.name, func(b *testing.B) {
			server := httptest.NewServer(c.h)
			defer server.Close()
			for b.Loop() {
				resp, err := server.Client().Get(server.URL + pods + "/x")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
				resp.Body.Close()
			}
		})
	}
}

// BenchmarkFrame measures one frame of a watch, without a network.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct{ name, rules string }{
		{"passes", ""},
		{"passes beside rules for others", "when verb(list) do reset\nwhen event(ADDED) && query(nothing) do drop"},
		{"is looked at", "when event(BOOKMARK) do drop"},
		{"is edited", "when event(ADDED) && query(watch) do set(/object/kind, Node)"},
		{"is dropped", "when event(ADDED) do drop"},
	} {
		for _, encoding := range []struct{ name, contentType, frame string }{
			{"json", "application/json", podA},
			{"protobuf", "application/vnd.kubernetes.protobuf;stream=watch", protobufEvent("ADDED", "a", "ns", nil)},
		} {
			b.Run(c.name+"/"+encoding.name, func(b *testing.B) {
				frame := []byte(encoding.frame)
				h := faults.Handler(newSet(b, c.rules), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", encoding.contentType)
					for b.Loop() {
						if _, err := w.Write(frame); err != nil {
							b.Error(err)
							return
						}
					}
				}))
				b.ReportAllocs()
				h.ServeHTTP(discardWriter{http.Header{}}, httptest.NewRequest(http.MethodGet, pods+"?watch=1", nil))
			})
		}
	}
}
