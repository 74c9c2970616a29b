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

// fakeTB is used instead of a *testing.T.
type fakeTB struct{ ended []func() }

func (t *fakeTB) Helper()                           {}
func (t *fakeTB) Cleanup(f func())                  { t.ended = append(t.ended, f) }
func (t *fakeTB) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (t *fakeTB) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

// end runs the cleanup functions, as go test does when a test ends.
func (t *fakeTB) end() {
	for _, f := range t.ended {
		f()
	}
}

// check ends the example if there is an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// In a test, the server is closed when the test ends.
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

// Clients connect with a rest.Config, a kubeconfig, plain HTTP, or without a network.
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

// A server without a socket, with the same uids and generated names in every run. Inside of a
// testing/synctest bubble the server and its clients run on virtual time.
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

// The timeline as values, as text and as an HTML page.
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
	last := timeline.Tail(1) // a test that fails logs it
	fmt.Println(strings.Contains(last, "get /api/v1/namespaces/other -> 404"))

	var page strings.Builder // or a file
	check(timeline.WriteHTML(&page, "my test"))
	fmt.Println(strings.Contains(page.String(), "<html"))

	// A test that fails does this by itself.
	t := &fakeTB{}
	fmt.Println(srv.SaveTimeline(t) != "") // the text has the path of the page, or how to enable it
	// Output:
	// get /api/v1/namespaces/default 200
	// get /api/v1/namespaces/other 404
	// true
	// true
	// true
}

// A server without a record of its requests.
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

// A test in another language controls the server over HTTP.
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

// Middleware of a test around the server.
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
