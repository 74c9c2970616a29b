package fakeapi_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	fakeapi "example.com/fakeapi/fake"
)

// Get and List read the store without a request.
func ExampleServer_Get() {
	srv, err := fakeapi.New(fakeapi.WithYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}"))
	check(err)
	defer func() { _ = srv.Close() }()
	var cm corev1.ConfigMap
	check(srv.Get("default", "a", &cm))
	fmt.Println(cm.Data)
	var namespaces corev1.NamespaceList
	check(srv.List("", &namespaces))
	fmt.Println(len(namespaces.Items), len(srv.Requests()))
	// Output:
	// map[k:v]
	// 4 0
}

// Dump returns the store as YAML.
func ExampleServer_Dump() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	check(srv.LoadYAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}"))
	text, err := srv.Dump()
	check(err)
	fmt.Print(text[:strings.Index(text, "  creationTimestamp")])
	// Output:
	// apiVersion: v1
	// data:
	//   k: v
	// kind: ConfigMap
	// metadata:
}

// Requests returns what a client asked.
func ExampleServer_Requests() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	_, err = client.CoreV1().Pods("team").List(context.Background(), metav1.ListOptions{})
	check(err)
	_ = client.CoreV1().Pods("team").Delete(context.Background(), "web", metav1.DeleteOptions{})
	for _, r := range srv.Requests() {
		fmt.Println(r.Verb, r.Resource, r.Namespace, r.Name, r.Code)
	}
	// Output:
	// list pods team  200
	// delete pods team web 404
}

// A server that logs its requests.
func ExampleWithLogger() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" || a.Key == "userAgent" {
				return slog.Attr{}
			}
			return a
		},
	}))
	srv, err := fakeapi.New(fakeapi.WithLogger(logger), fakeapi.WithInMemoryNetwork())
	check(err)
	response, err := srv.Client().Get(srv.URL() + "/version")
	check(err)
	check(response.Body.Close())
	check(srv.Close())
	// Output: level=DEBUG msg=request method=GET url=/version verb=get resource="" user="" code=200
}

// A kubeconfig file for kubectl and for clients in other languages.
func ExampleServer_KubeconfigFile() {
	t := &fakeTB{} // in a test, its *testing.T
	defer t.end()
	srv := fakeapi.Start(t)
	config, err := clientcmd.BuildConfigFromFlags("", srv.KubeconfigFile(t))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(config.Host == srv.URL())
	// Output: true
}
