package fakeapi_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// statusOf returns the status of a GET request.
func statusOf(srv *fakeapi.Server, path string) string {
	response, err := srv.Client().Get(srv.URL() + path)
	if err != nil {
		return "no response"
	}
	check(response.Body.Close())
	return response.Status
}

// A server that is shut down and restarted with its objects.
func ExampleServer_Restart() {
	srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork())
	check(err)
	defer func() { _ = srv.Close() }()
	srv.Drain()
	fmt.Println("drained:", statusOf(srv, "/readyz"), statusOf(srv, "/api/v1/pods"))
	check(srv.Shutdown())
	fmt.Println("shut down:", statusOf(srv, "/api/v1/pods"))
	check(srv.Restart(time.Hour))
	fmt.Println("starting:", statusOf(srv, "/api/v1/pods"))
	check(srv.Restart(0))
	fmt.Println("started:", statusOf(srv, "/api/v1/pods"))
	// Output:
	// drained: 500 Internal Server Error 200 OK
	// shut down: no response
	// starting: 503 Service Unavailable
	// started: 200 OK
}

// A watch cache that initializes, from the start or later.
func ExampleServer_ReinitializeCache() {
	const cached = "/api/v1/pods?resourceVersion=0"
	srv, err := fakeapi.New(fakeapi.WithCacheInitializing(time.Hour))
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println(statusOf(srv, cached), "but", statusOf(srv, "/api/v1/namespaces/default"))
	srv.ReinitializeCache(0)
	fmt.Println(statusOf(srv, cached))
	// Output:
	// 429 Too Many Requests but 200 OK
	// 200 OK
}

// When the history is forgotten, a watch from the past has to list again.
func ExampleServer_ForgetHistory() {
	srv, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{HistoryAge: time.Hour, HistoryChanges: 1000}), fakeapi.WithLimits(fakeapi.Limits{HistoryBytes: 1 << 20}), fakeapi.WithContinueLifetime(time.Minute))
	check(err)
	defer func() { _ = srv.Close() }()
	before := srv.ResourceVersion()
	check(srv.Load(configMap("a", "one")))
	srv.ForgetHistory()
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	w, err := maps.Watch(context.Background(), metav1.ListOptions{ResourceVersion: before})
	check(err)
	defer w.Stop()
	event := <-w.ResultChan()
	fmt.Println(event.Type, event.Object.(*metav1.Status).Reason)
	// Output:
	// ERROR Expired
}

// Timeouts and intervals that are shorter than those of a real server.
func ExampleWithResourceVersionTimeout() {
	srv, err := fakeapi.New(
		fakeapi.WithResourceVersionTimeout(10*time.Millisecond),
		fakeapi.WithBookmarkInterval(10*time.Millisecond),
		fakeapi.WithWatchTimeout(time.Minute),
	)
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println(statusOf(srv, "/api/v1/pods?resourceVersion=999999"))

	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	w, err := pods.Watch(context.Background(), metav1.ListOptions{AllowWatchBookmarks: true, ResourceVersion: srv.ResourceVersion()})
	check(err)
	defer w.Stop()
	fmt.Println((<-w.ResultChan()).Type)
	// Output:
	// 504 Gateway Timeout
	// BOOKMARK
}

// One write at a time is allowed. The second write is sent while the first is served.
func ExampleLimits_requestsInFlight() {
	var srv *fakeapi.Server
	writeSecond := func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		response, err := srv.Client().Post(srv.URL()+"/api/v1/nodes", "application/json", strings.NewReader(`{"metadata":{"name":"second"}}`))
		check(err)
		check(response.Body.Close())
		fmt.Println("second:", response.Status, response.Header.Get("Retry-After"))
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	var err error
	srv, err = fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{MaxRequestsInFlight: 400, MaxMutatingRequestsInFlight: 1}), fakeapi.WithAdmission(fakeapi.Admission{Name: "more.example.com", Review: writeSecond}))
	check(err)
	defer func() { _ = srv.Close() }()
	response, err := srv.Client().Post(srv.URL()+"/api/v1/nodes", "application/json", strings.NewReader(`{"metadata":{"name":"first"}}`))
	check(err)
	check(response.Body.Close())
	fmt.Println("first:", response.Status)
	// Output:
	// second: 429 Too Many Requests 1
	// first: 201 Created
}

// Wrong discovery. The objects are still served.
func ExampleServer_Discovery() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	d := srv.Discovery()
	show := func(what string) {
		fmt.Println(what+":", statusOf(srv, "/apis/apps/v1"), statusOf(srv, "/apis/apps/v1/deployments"))
	}
	check(d.Hide("apps"))
	show("hidden")
	check(d.Fail("apps"))
	show("unavailable")
	check(d.MarkStale("apps")) // in aggregated discovery only
	show("stale")
	check(d.Flap("apps"))
	show("flapping")
	check(d.Reset())
	show("reset")
	fmt.Println(d.Hide("no.such.group"))
	// Output:
	// hidden: 404 Not Found 200 OK
	// unavailable: 503 Service Unavailable 200 OK
	// stale: 200 OK 200 OK
	// flapping: 200 OK 200 OK
	// reset: 200 OK 200 OK
	// fakeapi: discovery: "no.such.group" is not a group of /apis
}

// A feature is disabled and enabled.
func ExampleServer_SetFeature() {
	const streaming = "/api/v1/pods?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
	srv, err := fakeapi.New(fakeapi.WithFeature(fakeapi.WatchList, false), fakeapi.WithFeature(fakeapi.AggregatedDiscovery, false))
	check(err)
	defer func() { _ = srv.Close() }()
	fmt.Println(statusOf(srv, streaming))
	check(srv.SetFeature(fakeapi.WatchList, true))
	fmt.Println(statusOf(srv, streaming))
	// Output:
	// 422 Unprocessable Entity
	// 200 OK
}

// A second API server on the same store with a view that lags behind.
func ExampleReplica() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	behind, err := srv.Replica()
	check(err)
	count := func() int {
		maps := kubernetes.NewForConfigOrDie(behind.RESTConfig()).CoreV1().ConfigMaps("default")
		list, err := maps.List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		check(err)
		return len(list.Items)
	}
	behind.Freeze()
	check(srv.Load(configMap("a", "one"), configMap("b", "two")))
	fmt.Println("frozen:", count())
	behind.Lag(1)
	fmt.Println("one change behind:", count())
	behind.CatchUp()
	fmt.Println("current:", count())
	behind.Delay(time.Hour)
	check(srv.Load(configMap("c", "three")))
	fmt.Println("an hour behind:", count())
	// Output:
	// frozen: 0
	// one change behind: 1
	// current: 2
	// an hour behind: 0
}

// A wrong clock of the server sets wrong creation times.
func ExampleServer_SkewClock() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	srv.SkewClock(24 * time.Hour)
	made, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default").
		Create(context.Background(), configMap("a", "one"), metav1.CreateOptions{})
	check(err)
	fmt.Println(time.Until(made.CreationTimestamp.Time) > time.Hour)
	// Output: true
}

// Controllers that run when the test calls RunControllers. Then the dependent of a deleted owner is
// deleted.
func ExampleServer_RunControllers() {
	srv, err := fakeapi.New(fakeapi.WithoutControllers())
	check(err)
	defer func() { _ = srv.Close() }()
	ctx := context.Background()
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	owner, err := maps.Create(ctx, configMap("owner", ""), metav1.CreateOptions{})
	check(err)
	owned := configMap("owned", "")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	_, err = maps.Create(ctx, owned, metav1.CreateOptions{})
	check(err)
	check(maps.Delete(ctx, "owner", metav1.DeleteOptions{}))

	_, err = maps.Get(ctx, "owned", metav1.GetOptions{})
	fmt.Println(err)
	check(srv.RunControllers(ctx))
	_, err = maps.Get(ctx, "owned", metav1.GetOptions{})
	fmt.Println(err)
	// Output:
	// <nil>
	// configmaps "owned" not found
}

// An admission function that refuses objects. It has side effects, so dry runs are refused as well.
func ExampleAdmission() {
	noLatest := func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: request.Name != "latest", Result: &metav1.Status{Message: "no latest, please"}}
	}
	srv, err := fakeapi.New(fakeapi.WithAdmission(fakeapi.Admission{Name: "names.example.com", Review: noLatest, SideEffects: true}))
	check(err)
	defer func() { _ = srv.Close() }()
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "latest"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
	_, err = pods.Create(context.Background(), pod, metav1.CreateOptions{})
	fmt.Println(err)
	pod.Name = "v1"
	_, err = pods.Create(context.Background(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	fmt.Println(err)
	// Output:
	// admission webhook "names.example.com" denied the request: no latest, please
	// admission webhook "names.example.com" does not support dry run
}

// Conversion webhooks of the test: their connections and the addresses of their Services.
func ExampleWithServiceResolver() {
	srv, err := fakeapi.New(
		fakeapi.WithServiceResolver(func(namespace, name string, port int32) (string, error) {
			return "127.0.0.1:9443", nil // the address of the webhook server of the test
		}),
		fakeapi.WithWebhookDialer((&net.Dialer{Timeout: time.Second}).DialContext),
	)
	check(err)
	fmt.Println(srv.Close())
	// Output: <nil>
}
