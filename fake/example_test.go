package fakeapi_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// A server outside of a test, and a typed client.
func ExampleNew() {
	srv, err := fakeapi.New()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
	created, err := client.CoreV1().Pods("default").Create(context.Background(), pod, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(created.Name), created.Generation)
	// Output: 9 1
}

// Manifests as fixtures, from any fs.FS, such as an embed.FS or os.DirFS.
func ExampleWithManifests() {
	manifests := fstest.MapFS{"app.yaml": {Data: []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
`)}}
	srv, err := fakeapi.New(fakeapi.WithManifests(manifests))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	cm, err := client.CoreV1().ConfigMaps("shop").Get(context.Background(), "settings", metav1.GetOptions{})
	fmt.Println(cm.Data["colour"], err)
	// Output: blue <nil>
}

// The next list gets 410 Expired. The one after it is served.
func ExampleServer_Faults() {
	srv, err := fakeapi.New()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	rule := faults.Rule{
		Name: "expired",
		When: faults.And(faults.Verb("list"), faults.First(1)),
		Do:   []faults.Effect{faults.Reply(faults.Expired())},
	}
	if _, err := srv.Faults().Add(rule); err != nil {
		log.Fatal(err)
	}
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	for range 2 {
		_, err := pods.List(context.Background(), metav1.ListOptions{})
		fmt.Println(err)
	}
	// Output:
	// The resourceVersion for the provided list is too old.
	// <nil>
}

// Custom resources from the manifests of their definitions: a directory with
// CRDsFromPaths("../config/crd/bases"), or an embed.FS. Custom resources can be among the fixtures.
func ExampleWithCRDs() {
	definitions := fstest.MapFS{"crontabs.yaml": {Data: []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, minimum: 1, default: 1}
`)}}
	nightly := &unstructured.Unstructured{}
	nightly.SetAPIVersion("stable.example.com/v1")
	nightly.SetKind("CronTab")
	nightly.SetName("nightly")
	nightly.Object["spec"] = map[string]any{}
	srv, err := fakeapi.New(fakeapi.WithCRDs(fakeapi.CRDsFromFS(definitions)), fakeapi.WithObjects(nightly))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	cronTabs := dynamic.NewForConfigOrDie(srv.RESTConfig()).
		Resource(schema.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"}).Namespace("default")
	got, err := cronTabs.Get(context.Background(), "nightly", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Object["spec"])
	got.Object["spec"] = map[string]any{"replicas": int64(0)}
	_, err = cronTabs.Update(context.Background(), got, metav1.UpdateOptions{})
	fmt.Println(err)
	// Output:
	// map[replicas:1]
	// CronTab.stable.example.com "nightly" is invalid: spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1
}

// Compact makes continue tokens and exact reads of the past expire, as a compaction of etcd does.
func ExampleServer_Compact() {
	srv, err := fakeapi.New()
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	namespaces := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces()
	ctx := context.Background()
	page, err := namespaces.List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		log.Fatal(err)
	}
	_, _ = namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "more"}}, metav1.CreateOptions{})
	srv.Compact()
	_, err = namespaces.List(ctx, metav1.ListOptions{Limit: 2, Continue: page.Continue})
	fmt.Println(metav1.StatusReasonExpired, err != nil)
	// Output: Expired true
}

// An admission function that adds a label to each new Pod.
func ExampleWithAdmission() {
	label := func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		response := &admissionv1.AdmissionResponse{Allowed: true}
		if request.Operation == admissionv1.Create && request.Resource.Resource == "pods" {
			kind := admissionv1.PatchTypeJSONPatch
			response.PatchType = &kind
			response.Patch = []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"team": "blue"}}]`)
		}
		return response
	}
	srv, err := fakeapi.New(fakeapi.WithAdmission(fakeapi.Admission{Name: "label.example.com", Mutating: true, Review: label}))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
	created, err := client.CoreV1().Pods("default").Create(context.Background(), pod, metav1.CreateOptions{})
	fmt.Println(created.Labels, err)
	// Output: map[team:blue] <nil>
}

// A function authorizes requests. RESTConfig is for an administrator, who may do everything and
// impersonates another user here.
func ExampleWithAuthorizer() {
	srv, err := fakeapi.New(fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "reader" && a.GetVerb() != "get" && a.GetVerb() != "list" && a.GetVerb() != "watch" {
			return authorizer.DecisionDeny, "readers cannot write", nil
		}
		return authorizer.DecisionAllow, "", nil
	})))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	config := srv.RESTConfig()
	config.Impersonate.UserName = "reader"
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	_, err = pods.List(context.Background(), metav1.ListOptions{})
	fmt.Println(err)
	fmt.Println(pods.Delete(context.Background(), "web", metav1.DeleteOptions{}))
	// Output:
	// <nil>
	// pods "web" is forbidden: User "reader" cannot delete resource "pods" in API group "" in the namespace "default": readers cannot write
}
