package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkCustom measures requests inside the server for a custom resource of a KiB, alternating
// with the same requests for a ConfigMap and a Deployment of that size. x-configmap and
// x-deployment are the ratios.
func BenchmarkCustom(b *testing.B) {
	types := customAndBuiltin()
	operations := make([][]benchOperation, len(types))
	for i, w := range types {
		operations[i] = w.operations(b, mediaJSON)
	}
	for i, op := range operations[0] {
		if op.contentType == "application/strategic-merge-patch+json" {
			continue // not supported for custom resources
		}
		b.Run(op.name, func(b *testing.B) {
			benchInterleaved(b, func(at int) func(n int) { return newWriter(b, types[at], operations[at][i]) })
		})
	}
	b.Run("get", func(b *testing.B) {
		benchInterleaved(b, func(at int) func(int) { return newReader(b, types[at], 1, "/n0000000") })
	})
	for _, size := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("list-%d", size), func(b *testing.B) {
			benchInterleaved(b, func(at int) func(int) { return newReader(b, types[at], size, "") })
		})
	}
	b.Run("watch-1000", func(b *testing.B) {
		benchInterleaved(b, func(at int) func(int) { return newWatcher(b, types[at], 1000) })
	})
}

// benchInterleaved measures a function for each type, alternating.
func benchInterleaved(b *testing.B, what func(at int) func(n int)) {
	var all [3]func(int)
	for at := range all {
		all[at] = what(at)
	}
	const slice = 16
	var took [len(all)]time.Duration
	for first := 1; first <= b.N; first += slice {
		for at, do := range all {
			start := time.Now()
			for n := first; n < first+slice && n <= b.N; n++ {
				do(n)
			}
			took[at] += time.Since(start)
		}
	}
	b.ReportMetric(0, "ns/op") // the sum of all is not meaningful
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(b.N), "custom-ns")
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "x-configmap")
	b.ReportMetric(took[0].Seconds()/took[2].Seconds(), "x-deployment")
}

// customAndBuiltin returns a custom resource and the types that it is compared with.
func customAndBuiltin() []benchType {
	return []benchType{
		{"Widget", "/apis/oracle.example.com/v1/namespaces/default/widgets", benchWidget(), "/spec/free/text", "", false},
		benchTypes()[0],
		{
			"Deployment", "/apis/apps/v1/namespaces/default/deployments", smallDeployment(),
			"/spec/template/spec/containers/0/image", "", false,
		},
	}
}

// benchWidget returns a widget of the CRD in the recordings.
func benchWidget() runtime.Object {
	var parts []any
	for i := range 12 {
		parts = append(parts, map[string]any{"name": fmt.Sprintf("part-%d", i), "qty": int64(i)})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "oracle.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{
			"name": benchName, "namespace": "default",
			"labels": map[string]any{"app": "bench", "index": benchName},
		},
		"spec": map[string]any{
			"size": int64(7), "replicas": int64(3), "color": "blue", "port": "http",
			"parts": parts, "tags": []any{"one", "two", "three"},
			"free": map[string]any{"text": benchValue, "more": strings.Repeat("m", 250)},
		},
		"status": map[string]any{"phase": "Ready", "replicas": int64(3)},
	}}
}

// smallDeployment returns a Deployment of about a KiB.
func smallDeployment() runtime.Object {
	replicas := int32(3)
	container := benchPodSpec().Containers[0]
	container.VolumeMounts = nil // there are no volumes
	deployment := benchDeployment().(*appsv1.Deployment)
	deployment.Spec = appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: benchLabels()},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: benchLabels()},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
		},
	}
	return deployment
}

// widgetDefinition returns the CRD of the widgets in the recordings.
func widgetDefinition(b testing.TB) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(b, yaml.UnmarshalStrict([]byte(readFile(b, "internal/crd/structural/testdata/widgets.yaml")), crd))
	return crd
}

// customServer returns a server with that CRD.
func customServer(b *testing.B) *fakeapi.Server {
	srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork())
	require.NoError(b, srv.Load(widgetDefinition(b)))
	return srv
}

func newWriter(b *testing.B, w benchType, op benchOperation) func(int) {
	srv := customServer(b)
	fixture := op.fixture(b, w)
	var response []byte
	for i := range 2 { // the first one of its type takes longer
		path, body := fixture.request(w.path, i, 0)
		response = serveRequest(b, srv, fixture.method, path, fixture.contentType, mediaJSON, body)
		if op.name == "create" {
			break
		}
	}
	return func(n int) {
		path, body := op.request(w.path, 1, n)
		if op.reuseResponse || op.method == http.MethodPut {
			body = []byte(strings.Replace(string(response), fmt.Sprintf("%08d", n-1), fmt.Sprintf("%08d", n), 1))
		}
		response = serveRequest(b, srv, op.method, path, op.contentType, mediaJSON, body)
	}
}

// newFilledServer returns a server with some objects of a type.
func newFilledServer(b *testing.B, w benchType, size int) *fakeapi.Server {
	srv := customServer(b)
	body := encode(b, mediaJSON, w.object)
	for n := range size {
		serveRequest(b, srv, http.MethodPost, w.path, mediaJSON, mediaJSON, replaceValue(body, fmt.Sprintf("n%07d", n), "00000000"))
	}
	return srv
}

func newReader(b *testing.B, w benchType, size int, path string) func(int) {
	srv := newFilledServer(b, w, size)
	return func(int) { serveRequest(b, srv, http.MethodGet, w.path+path, mediaJSON, mediaJSON, nil) }
}

func newWatcher(b *testing.B, w benchType, size int) func(int) {
	srv := fakeapi.Start(b)
	require.NoError(b, srv.Load(widgetDefinition(b)))
	past := srv.ResourceVersion()
	body := encode(b, mediaJSON, w.object)
	for n := range size {
		serveRequest(b, srv, http.MethodPost, w.path, mediaJSON, mediaJSON, replaceValue(body, fmt.Sprintf("n%07d", n), "00000000"))
	}
	url := srv.URL() + w.path + "?watch=1&resourceVersion=" + past
	return func(int) { readLines(b, srv.Client(), url, size) }
}

// BenchmarkDefinitions creates 100 CRDs through the API inside the server, with schemas that are
// new to the process (new) or not (again). x-decode is the ratio to strictly decoding them, x-first
// that of the last ten to the first ten, which would grow if each CRD required work for all others.
// Load starts a server with them.
func BenchmarkDefinitions(b *testing.B) {
	const many = 100
	b.Run("new", func(b *testing.B) { installCRDs(b, many, true) })
	b.Run("again", func(b *testing.B) { installCRDs(b, many, false) })
	b.Run("load", func(b *testing.B) {
		var objects []runtime.Object
		for _, crd := range newBenchCRDs(b, many, "load") {
			objects = append(objects, crd)
		}
		for b.Loop() {
			srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(objects...))
			require.NoError(b, err)
			require.NoError(b, srv.Close())
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/many, "µs/crd")
	})
}

// newBenchCRDs returns CRDs with unique schemas, ten for each group.
func newBenchCRDs(b *testing.B, many int, mark string) []*apiextensionsv1.CustomResourceDefinition {
	first := widgetDefinition(b)
	all := make([]*apiextensionsv1.CustomResourceDefinition, many)
	for i := range all {
		crd := first.DeepCopy()
		crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
		crd.Spec.Group = fmt.Sprintf("g%d.example.com", i/10)
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
			Plural: fmt.Sprintf("widget%ds", i), Singular: fmt.Sprintf("widget%d", i),
			Kind: fmt.Sprintf("Widget%d", i), ListKind: fmt.Sprintf("Widget%dList", i),
		}
		crd.Name = crd.Spec.Names.Plural + "." + crd.Spec.Group
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = fmt.Sprint(mark, " ", i)
		all[i] = crd
	}
	return all
}

func installCRDs(b *testing.B, many int, newSchemas bool) {
	var took, first, last, decoding time.Duration
	for b.Loop() {
		b.StopTimer()
		mark := "again"
		if newSchemas {
			mark = fmt.Sprint(b.Name(), time.Now().UnixNano())
		}
		bodies := make([][]byte, many)
		for n, crd := range newBenchCRDs(b, many, mark) {
			var err error
			bodies[n], err = json.Marshal(crd)
			require.NoError(b, err)
		}
		srv := fakeapi.Start(b, fakeapi.WithInMemoryNetwork())
		b.StartTimer()
		for n, body := range bodies {
			start := time.Now()
			serveRequest(b, srv, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", mediaJSON, mediaJSON, body)
			d := time.Since(start)
			took += d
			if n < 10 {
				first += d
			} else if n >= many-10 {
				last += d
			}
		}
		b.StopTimer()
		start := time.Now()
		for _, body := range bodies {
			problems, err := kjson.UnmarshalStrict(body, &apiextensionsv1.CustomResourceDefinition{})
			require.NoError(b, err)
			require.Empty(b, problems)
		}
		decoding += time.Since(start)
		require.NoError(b, srv.Close())
		b.StartTimer()
	}
	b.ReportMetric(took.Seconds()*1e6/float64(b.N*many), "µs/crd")
	b.ReportMetric(last.Seconds()/first.Seconds(), "x-first")
	b.ReportMetric(took.Seconds()/decoding.Seconds(), "x-decode")
}
