package fakeapi_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A test runs code as the administrator, and learns which permissions it needs.
func ExampleServer_Access() {
	srv, err := fakeapi.New()
	check(err)
	defer func() { _ = srv.Close() }()
	config := srv.RESTConfig()
	config.UserAgent = "manager"
	client := kubernetes.NewForConfigOrDie(config)
	_, err = client.CoreV1().ConfigMaps("default").List(context.Background(), metav1.ListOptions{})
	check(err)
	_, err = client.CoreV1().ConfigMaps("default").Watch(context.Background(), metav1.ListOptions{TimeoutSeconds: new(int64(1))})
	check(err)
	_, err = client.AppsV1().Deployments("default").Get(context.Background(), "web", metav1.GetOptions{})
	fmt.Println(err)

	report := srv.Access()
	fmt.Println(report.Of("manager"))
	for _, a := range report.Accesses { // also as values
		fmt.Println(a.Verb, a.APIGroup, a.Resource, a.Names)
	}
	// Output:
	// deployments.apps "web" not found
	// user system:admin, user agent manager
	//   RESOURCE          NAMESPACE  NAMES  VERBS       ALLOWED  DENIED  FIRST
	//   configmaps        default    -      list,watch  2        0       #1
	//   deployments.apps  default    web    get         1        0       #3
	//
	// list  configmaps []
	// watch  configmaps []
	// get apps deployments [web]
}
