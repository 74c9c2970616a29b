package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// newKiBConfigMap returns a ConfigMap of about a KiB of JSON.
func newKiBConfigMap(name string) *corev1.ConfigMap {
	cm := configMap(name, strings.Repeat("v", 760))
	cm.Labels["index"] = name
	return cm
}

func newKiBConfigMaps(n int) []runtime.Object {
	objects := make([]runtime.Object, n)
	for i := range objects {
		objects[i] = newKiBConfigMap(numberedName(i))
	}
	return objects
}

// getUncompressed sends a GET request that accepts no compression.
func getUncompressed(b *testing.B, client *http.Client, url string) *http.Response {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	return resp
}

// benchFetch reads a URL without compression and returns the number of bytes.
func benchFetch(b *testing.B, client *http.Client, url string) int64 {
	resp := getUncompressed(b, client, url)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status, err)
	}
	_ = resp.Body.Close()
	return n
}

// benchGET measures a GET of the server and of a bare net/http handler that writes the same bytes.
func benchGET(b *testing.B, srv *fakeapi.Server, path string) {
	resp, err := srv.Client().Get(srv.URL() + path)
	require.NoError(b, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(b, err)
	_ = resp.Body.Close()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	defer bare.Close()
	run := func(name string, client *http.Client, url string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				benchFetch(b, client, url)
			}
		})
	}
	run("server", srv.Client(), srv.URL()+path)
	run("bare", bare.Client(), bare.URL+path)
}

func BenchmarkGet(b *testing.B) {
	srv := fakeapi.Start(b, fakeapi.WithObjects(newKiBConfigMap("one")))
	benchGET(b, srv, "/api/v1/namespaces/default/configmaps/one")
}

func BenchmarkList10000(b *testing.B) {
	srv := fakeapi.Start(b, fakeapi.WithObjects(newKiBConfigMaps(10_000)...))
	benchGET(b, srv, "/api/v1/namespaces/default/configmaps")
}

// BenchmarkPage500 reads a page of 500 objects at the start and in the middle of a large
// collection.
func BenchmarkPage500(b *testing.B) {
	srv := fakeapi.Start(b, fakeapi.WithObjects(newKiBConfigMaps(20_000)...))
	const page = "/api/v1/namespaces/default/configmaps?limit=500"
	token := func(pages int) string {
		next := ""
		for range pages {
			resp, err := srv.Client().Get(srv.URL() + page + "&continue=" + next)
			require.NoError(b, err)
			var list corev1.ConfigMapList
			require.NoError(b, json.NewDecoder(resp.Body).Decode(&list))
			_ = resp.Body.Close()
			next = list.Continue
		}
		return next
	}
	for name, pages := range map[string]int{"front": 0, "middle": 20} {
		url := srv.URL() + page + "&continue=" + token(pages)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchFetch(b, srv.Client(), url)
			}
		})
	}
}

// BenchmarkStart measures starting servers after the first one of the process, which initializes
// the types.
func BenchmarkStart(b *testing.B) {
	for name, opts := range map[string][]fakeapi.Option{
		"tcp": nil, "memory": {fakeapi.WithInMemoryNetwork()}, "tls": {fakeapi.WithTLS()}, "clientCA": {fakeapi.WithClientCA()}, "rbac": {fakeapi.WithRBAC()},
		"ipRange": {fakeapi.WithInMemoryNetwork(), fakeapi.WithServiceClusterIPRange("10.0.0.0/24")},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				srv, err := fakeapi.New(opts...)
				if err != nil {
					b.Fatal(err)
				}
				benchFetch(b, srv.Client(), srv.URL()+"/api/v1/namespaces/default")
				if err := srv.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// post sends a body and checks the code.
func post(b *testing.B, client *http.Client, method, url string, body []byte, want int) {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "bench/1")
	resp, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	response, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != want {
		b.Fatalf("%s: %s", resp.Status, response)
	}
}
