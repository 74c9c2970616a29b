package faults_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/fakeapi/faults"
)

// nobody is a ResponseWriter that costs nothing.
type nobody struct{ h http.Header }

func (n nobody) Header() http.Header         { return n.h }
func (n nobody) Write(p []byte) (int, error) { return len(p), nil }
func (n nobody) WriteHeader(int)             {}

func benchmark(b *testing.B, url, rules string) {
	var set faults.Set
	if _, err := set.AddText(rules); err != nil {
		b.Fatal(err)
	}
	body := []byte(podA)
	h := faults.Handler(&set, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	r := httptest.NewRequest(http.MethodGet, url, nil)
	w := nobody{http.Header{"Content-Type": {"application/json"}}}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}

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

func BenchmarkEmptySet(b *testing.B)        { benchmark(b, pods+"/x", "") }
func BenchmarkTenRulesNoMatch(b *testing.B) { benchmark(b, pods+"/x", tenRules) }

// The two below serve a whole watch of one frame each time.
func BenchmarkWatchEmptySet(b *testing.B) { benchmark(b, pods+"?watch=1", "") }
func BenchmarkWatchFrameLookedAt(b *testing.B) {
	benchmark(b, pods+"?watch=1", tenRules)
}
