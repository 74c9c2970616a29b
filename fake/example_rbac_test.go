package fakeapi_test

import (
	"context"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A test that runs as the administrator fails if the manifests of the project lack a rule.
func ExampleRequireRBAC() {
	t := &fakeTB{} // in a test, its *testing.T
	defer t.end()
	srv := fakeapi.Start(t)
	config := srv.RESTConfig()
	config.UserAgent = "manager"
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	_, err := pods.List(context.Background(), metav1.ListOptions{})
	check(err)
	_, err = pods.Create(context.Background(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	check(err)

	manifests := fstest.MapFS{"role.yaml": {Data: []byte(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
`)}} // in a test, os.DirFS("../config/rbac")
	fakeapi.RequireRBAC(t, srv, manifests, "manager")
	// Output:
	// fakeapi: RequireRBAC: the manifests lack one rule that manager needs
	//
	// Missing, for all roles:
	//
	// role.yaml: add to ClusterRole manager:
	//
	// - apiGroups:
	//   - ""
	//   resources:
	//   - pods
	//   verbs:
	//   - create
	//
	// first needed by #2 POST /api/v1/namespaces/default/pods (create) of manager as system:admin
}
