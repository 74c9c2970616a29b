package fakeapi_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A dual-stack server, on which a Service gets an address of each family.
func ExampleWithServiceClusterIPRange() {
	srv, err := fakeapi.New(fakeapi.WithServiceClusterIPRange("10.96.0.0/16", "fd00:10:96::/112"))
	check(err)
	defer func() { _ = srv.Close() }()
	services := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Services("default")
	policy := corev1.IPFamilyPolicyRequireDualStack
	service, err := services.Create(context.Background(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{
			IPFamilyPolicy: &policy, ClusterIP: "10.96.0.10",
			Ports: []corev1.ServicePort{{Port: 80}},
		},
	}, metav1.CreateOptions{})
	check(err)
	fmt.Println(service.Spec.IPFamilies, service.Spec.ClusterIPs[0], len(service.Spec.ClusterIPs))
	// Output:
	// [IPv4 IPv6] 10.96.0.10 2
}

// A node port that is taken. Without the option the range is 30000-32767.
func ExampleWithServiceNodePortRange() {
	srv, err := fakeapi.New(fakeapi.WithServiceNodePortRange("30000-30001"))
	check(err)
	defer func() { _ = srv.Close() }()
	services := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Services("default")
	for _, name := range []string{"first", "second"} {
		_, err := services.Create(context.Background(), &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30000}}},
		}, metav1.CreateOptions{})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// Service "second" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated
}
