package fakeapi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// Objects with their status, before the start and later.
func ExampleServer_Load() {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Status:     corev1.NodeStatus{Phase: corev1.NodeRunning},
	}
	srv, err := fakeapi.New(fakeapi.WithObjects(node))
	check(err)
	defer func() { _ = srv.Close() }()
	check(srv.Load(configMap("a", "one"), configMap("b", "two")))
	check(srv.LoadManifests(fstest.MapFS{"c.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")}})) // or os.DirFS("testdata")
	fmt.Println(srv.Load(configMap("a", "again")))

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
	maps, err := client.ConfigMaps("default").List(context.Background(), metav1.ListOptions{})
	check(err)
	got, err := client.Nodes().Get(context.Background(), "n1", metav1.GetOptions{})
	check(err)
	fmt.Println(len(maps.Items), got.Status.Phase)
	// Output:
	// fakeapi: load *v1.ConfigMap default/a: the name is in use
	// 3 Running
}

// A server that was filled once is forked for each test. A snapshot can instead be restored in the
// same server.
func ExampleServer_Fork() {
	filled, err := fakeapi.New(fakeapi.WithObjects(configMap("a", "one")))
	check(err)
	defer func() { _ = filled.Close() }()
	before := filled.Snapshot()

	fork, err := filled.Fork(fakeapi.WithInMemoryNetwork())
	check(err)
	defer func() { _ = fork.Close() }()
	check(kubernetes.NewForConfigOrDie(fork.RESTConfig()).CoreV1().ConfigMaps("default").Delete(context.Background(), "a", metav1.DeleteOptions{}))

	_, err = kubernetes.NewForConfigOrDie(filled.RESTConfig()).CoreV1().ConfigMaps("default").Get(context.Background(), "a", metav1.GetOptions{})
	fmt.Println(err, before.ResourceVersion() == filled.ResourceVersion(), before.ResourceVersion() == fork.ResourceVersion())
	// Output: <nil> true false
}

// Definitions from files and from Go objects, while the server runs.
func ExampleServer_LoadCRDs() {
	dir, err := os.MkdirTemp("", "crds") // for example ../config/crd/bases
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	check(os.WriteFile(filepath.Join(dir, "widgets.yaml"), []byte(widgetCRD), 0o600))

	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	check(srv.LoadCRDs(fakeapi.CRDsFromPaths(dir)))

	var definition apiextensionsv1.CustomResourceDefinition
	check(yaml.Unmarshal([]byte(widgetCRD), &definition))
	check(srv.LoadCRDs(fakeapi.CRDsFromObjects(&definition))) // it exists: an update without changes

	widgets, err := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(widgetsResource).List(context.Background(), metav1.ListOptions{})
	fmt.Println(widgets.GetKind(), err)
	// Output:
	// WidgetList <nil>
}

// Go types of custom resources. With manifests of the definitions they only need their scheme.
// Without manifests, CRDFromGoType builds a definition that accepts all fields.
func ExampleCRDFromGoType() {
	scheme := widgetScheme("v1alpha1", "v1")
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "team"}}
	for _, crds := range []fakeapi.CRDSource{
		fakeapi.CRDsFromFS(fstest.MapFS{"widgets.yaml": {Data: []byte(widgetCRD)}}),
		fakeapi.CRDFromGoType(scheme, &Widget{}, fakeapi.CRDTypeOptions{StorageVersion: "v1"}),
		fakeapi.CRDFromGoType(scheme, &Widget{}, fakeapi.CRDTypeOptions{StorageVersion: "v1", Plural: "widgetry", ClusterScoped: true}),
	} {
		srv, err := fakeapi.New(fakeapi.WithCRDs(crds), fakeapi.WithScheme(scheme))
		check(err)
		fmt.Println(srv.Load(widget))
		check(srv.Close())
	}
	// Output:
	// <nil>
	// <nil>
	// <nil>
}
