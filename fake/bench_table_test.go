package fakeapi_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fakeapi "example.com/fakeapi/fake"
)

// newPods returns pods with the status that a kubelet reports.
func newPods(n int) []runtime.Object {
	objects := make([]runtime.Object, n)
	for i := range objects {
		objects[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%07d", i), Namespace: "default", Labels: map[string]string{"app": "web"}},
			Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "example.com/web:1"}}},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
			},
		}
	}
	return objects
}

// BenchmarkTable10000 measures a list as a Table and as JSON. Rows are cached with their records;
// first measures the first Table.
func BenchmarkTable10000(b *testing.B) {
	const path = "/api/v1/namespaces/default/pods"
	start := func() *fakeapi.Server { return fakeapi.Start(b, fakeapi.WithObjects(newPods(10_000)...)) }
	read := func(srv *fakeapi.Server, query, accept string) {
		req, err := http.NewRequest(http.MethodGet, srv.URL()+path+query, nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(req)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || n < 1e6 {
			b.Fatal(resp.Status, n, err)
		}
	}
	srv := start()
	for _, form := range []struct{ name, query, accept string }{
		{"json", "", "application/json"}, {"table", "", asTable}, {"none", "?includeObject=None", asTable}, {"object", "?includeObject=Object", asTable},
	} {
		read(srv, form.query, form.accept)
		b.Run(form.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				read(srv, form.query, form.accept)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			fresh := start()
			b.StartTimer()
			read(fresh, "", asTable)
		}
	})
}
