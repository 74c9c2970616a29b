package fakeapi_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A store that is full, as an etcd can be. A delete makes space.
func ExampleWithLimits() {
	srv, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 200 << 10}))
	check(err)
	defer func() { _ = srv.Close() }()
	ctx, maps := context.Background(), kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	write := func(name string) error {
		data := map[string]string{"k": strings.Repeat("x", 80<<10)}
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
		return err
	}
	fmt.Println(write("first"))
	fmt.Println(write("second"))
	check(maps.Delete(ctx, "first", metav1.DeleteOptions{}))
	fmt.Println(write("second"))
	// Output:
	// <nil>
	// etcdserver: mvcc: database space exceeded
	// <nil>
}

// Two watches are allowed. The third one is refused.
func ExampleLimits_watches() {
	srv, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{MaxWatches: 2}))
	check(err)
	defer func() { _ = srv.Close() }()
	for range 3 {
		response, err := srv.Client().Get(srv.URL() + "/api/v1/pods?watch=1")
		check(err)
		defer func() { _ = response.Body.Close() }()
		fmt.Println(response.Status)
	}
	// Output:
	// 200 OK
	// 200 OK
	// 429 Too Many Requests
}

// A history with a small limit of bytes.
func ExampleLimits_history() {
	srv, err := fakeapi.New(fakeapi.WithLimits(fakeapi.Limits{HistoryBytes: 100 << 10}))
	check(err)
	defer func() { _ = srv.Close() }()
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	before := srv.ResourceVersion()
	cm, err := maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	check(err)
	for i := range 5 {
		cm.Data = map[string]string{"k": strings.Repeat(fmt.Sprint(i), 40<<10)}
		cm, err = maps.Update(context.Background(), cm, metav1.UpdateOptions{})
		check(err)
	}
	w, err := maps.Watch(context.Background(), metav1.ListOptions{ResourceVersion: before})
	check(err)
	defer w.Stop()
	fmt.Println(apierrors.ReasonForError(apierrors.FromObject((<-w.ResultChan()).Object)))
	// Output:
	// Expired
}
