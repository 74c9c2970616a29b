package fakeapi_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// fakeTB stands for a *testing.T.
type fakeTB struct{ ended []func() }

func (t *fakeTB) Helper()                           {}
func (t *fakeTB) Cleanup(f func())                  { t.ended = append(t.ended, f) }
func (t *fakeTB) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (t *fakeTB) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

// end does what go test does when a test is over.
func (t *fakeTB) end() {
	for _, f := range t.ended {
		f()
	}
}

// check ends an example that cannot go on.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// In a test: the server ends with it.
func ExampleStart() {
	t := &fakeTB{} // in a test, its *testing.T
	defer t.end()
	srv := fakeapi.Start(t)
	namespaces, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().List(context.Background(), metav1.ListOptions{})
	check(err)
	for _, ns := range namespaces.Items {
		fmt.Println(ns.Name)
	}
	// Output:
	// default
	// kube-node-lease
	// kube-public
	// kube-system
}

// The ways in: for client-go, for kubectl and other languages, for plain HTTP, and without
// a network.
func ExampleServer_RESTConfig() {
	srv, err := fakeapi.New(fakeapi.WithAddress("127.0.0.1:0"))
	check(err)
	defer func() { _ = srv.Close() }()

	config := srv.RESTConfig()
	fmt.Println(config.Host == srv.URL())

	text, err := srv.Kubeconfig()
	check(err)
	config, err = clientcmd.RESTConfigFromKubeConfig(text)
	check(err)
	fmt.Println(config.Host == srv.URL())

	response, err := srv.Client().Get(srv.URL() + "/readyz")
	check(err)
	body, err := io.ReadAll(response.Body)
	check(err)
	fmt.Println(response.Status, string(body))

	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest(http.MethodGet, srv.URL()+"/api/v1/namespaces/default", nil))
	fmt.Println(w.Code)
	// Output:
	// true
	// true
	// 200 OK ok
	// 200
}

// Without a socket, and with the same uids and generated names in every run. In a
// testing/synctest bubble such a server, and its clients, run on virtual time.
func ExampleWithInMemoryNetwork() {
	for range 2 {
		srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(1))
		check(err)
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		made := configMap("", "v")
		made.GenerateName = "cm-"
		made, err = maps.Create(context.Background(), made, metav1.CreateOptions{})
		check(err)
		fmt.Println(made.Name, made.ResourceVersion, srv.ResourceVersion())
		check(srv.Close())
	}
	// Output:
	// cm-5kfdh 1005 1005
	// cm-5kfdh 1005 1005
}

// What the server was asked and what it answered, as text and as a page.
func ExampleServer_Timeline() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	for _, path := range []string{"/api/v1/namespaces/default", "/api/v1/namespaces/other"} {
		response, err := srv.Client().Get(srv.URL() + path)
		check(err)
		check(response.Body.Close())
	}
	timeline := srv.Timeline()
	for _, x := range timeline.Exchanges {
		fmt.Println(x.Verb, x.Path, x.StatusCode)
	}
	last := timeline.Tail(1) // as a test that fails logs it
	fmt.Println(strings.HasSuffix(strings.TrimSpace(last), "-> 404"))

	var page strings.Builder // or a file
	check(timeline.WriteHTML(&page, "my test"))
	fmt.Println(strings.Contains(page.String(), "<html"))

	// In a test that passes; one that fails does it by itself.
	t := &fakeTB{}
	fmt.Println(srv.SaveTimeline(t) != "") // it says where the page is, or how to get it
	// Output:
	// get /api/v1/namespaces/default 200
	// get /api/v1/namespaces/other 404
	// true
	// true
	// true
}

// A server that forgets nothing of its objects, but does not note who asked for them.
func ExampleWithoutTimeline() {
	srv, err := fakeapi.New(fakeapi.WithoutTimeline())
	check(err)
	defer func() { _ = srv.Close() }()
	response, err := srv.Client().Get(srv.URL() + "/version")
	check(err)
	check(response.Body.Close())
	fmt.Println(response.StatusCode, len(srv.Timeline().Exchanges))
	// Output:
	// 200 0
}

// For clients in other languages: the test steers the server over HTTP.
func ExampleWithControlAPI() {
	srv, err := fakeapi.New(fakeapi.WithControlAPI())
	check(err)
	defer func() { _ = srv.Close() }()
	response, err := http.Post(srv.URL()+"/fakeapi/v1/faults", "text/plain", strings.NewReader("busy: when verb(list) do status(429)"))
	check(err)
	check(response.Body.Close())
	response, err = http.Get(srv.URL() + "/api/v1/pods")
	check(err)
	check(response.Body.Close())
	fmt.Println(response.StatusCode)
	// Output: 429
}

// A handler of the test around the whole server.
func ExampleWithMiddleware() {
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Println(r.Method, r.URL.Path)
			next.ServeHTTP(w, r)
		})
	}
	srv, err := fakeapi.New(fakeapi.WithMiddleware(count))
	check(err)
	defer func() { _ = srv.Close() }()
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Nodes().Get(context.Background(), "n", metav1.GetOptions{})
	fmt.Println(err)
	// Output:
	// GET /api/v1/nodes/n
	// nodes "n" not found
}

// CBOR is disabled by default, as on a real server.
func ExampleWithFeature() {
	for _, opts := range [][]fakeapi.Option{nil, {fakeapi.WithFeature(fakeapi.CBOR, true)}} {
		srv, err := fakeapi.New(opts...)
		check(err)
		request, err := http.NewRequest(http.MethodGet, srv.URL()+"/api/v1/pods", nil)
		check(err)
		request.Header.Set("Accept", "application/cbor")
		response, err := srv.Client().Do(request)
		check(err)
		check(response.Body.Close())
		fmt.Println(response.StatusCode, response.Header.Get("Content-Type"))
		check(srv.Close())
	}
	// Output:
	// 406 application/json
	// 200 application/cbor
}
