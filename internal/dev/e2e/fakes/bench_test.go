// Package fakes_test compares the server with the in-process fakes of client-go and
// controller-runtime. The benchmarks use operations that both support. The server receives them
// over HTTP with protobuf, the fakes as function calls.
package fakes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	fakeapi "example.com/fakeapi/fake"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Data:       map[string]string{"k": strings.Repeat("v", 760)},
	}
}

func configMaps(n int) []runtime.Object {
	objects := make([]runtime.Object, n)
	for i := range objects {
		objects[i] = configMap(fmt.Sprintf("m%07d", i))
	}
	return objects
}

// implementation is a client of the server or a fake, with the benchmarked operations on
// ConfigMaps.
type implementation struct {
	name   string
	create func(context.Context, *corev1.ConfigMap) error
	get    func(context.Context, string) error
	list   func(context.Context) (int, error)
}

func typed(name string, c kubernetes.Interface) implementation {
	maps := c.CoreV1().ConfigMaps("default")
	return implementation{
		name: name,
		create: func(ctx context.Context, cm *corev1.ConfigMap) error {
			_, err := maps.Create(ctx, cm, metav1.CreateOptions{})
			return err
		},
		get: func(ctx context.Context, name string) error {
			_, err := maps.Get(ctx, name, metav1.GetOptions{})
			return err
		},
		list: func(ctx context.Context) (int, error) {
			list, err := maps.List(ctx, metav1.ListOptions{})
			if err != nil {
				return 0, err
			}
			return len(list.Items), nil
		},
	}
}

func implementations(b *testing.B, n int) []implementation {
	objects := configMaps(n)
	srv := fakeapi.Start(b, fakeapi.WithObjects(objects...))
	c := runtimefake.NewClientBuilder().WithScheme(scheme.Scheme).WithRuntimeObjects(objects...).Build()
	return []implementation{
		typed("server", kubernetes.NewForConfigOrDie(srv.RESTConfig())),
		typed("client-go", clientgofake.NewClientset(objects...)),
		{
			name:   "controller-runtime",
			create: func(ctx context.Context, cm *corev1.ConfigMap) error { return c.Create(ctx, cm) },
			get: func(ctx context.Context, name string) error {
				return c.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, &corev1.ConfigMap{})
			},
			list: func(ctx context.Context) (int, error) {
				var list corev1.ConfigMapList
				err := c.List(ctx, &list, client.InNamespace("default"))
				return len(list.Items), err
			},
		},
	}
}

func BenchmarkCreate(b *testing.B) {
	for _, s := range implementations(b, 0) {
		b.Run(s.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				if err := s.create(b.Context(), configMap(fmt.Sprintf("n%d", n))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, s := range implementations(b, 1000) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				if err := s.get(b.Context(), "m0000500"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList10000(b *testing.B) {
	for _, s := range implementations(b, 10_000) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				if n, err := s.list(b.Context()); err != nil || n != 10_000 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
