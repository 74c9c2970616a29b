package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/pager"

	fakeapi "example.com/fakeapi/fake"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func newDeployment(name string, change ...func(*appsv1.Deployment)) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}},
			},
		},
	}
	for _, c := range change {
		c(d)
	}
	return d
}

// The typed client, which uses protobuf, creates, updates, patches and deletes a Deployment.
func TestClientset(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AppsV1().Deployments("default")
	ctx := t.Context()

	created, err := client.Create(ctx, newDeployment("web"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, created.Generation)
	require.False(t, created.CreationTimestamp.IsZero())

	// An update of the status does not change the generation or the spec, and an update of the spec
	// does not change the status.
	created.Status.Replicas = 3
	created.Spec.Paused = true
	status, err := client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, status.Status.Replicas)
	require.False(t, status.Spec.Paused)
	require.EqualValues(t, 1, status.Generation)
	status.Spec.Paused = true
	status.Status.Replicas = 9
	updated, err := client.Update(ctx, status, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, updated.Status.Replicas)
	require.True(t, updated.Spec.Paused)
	require.EqualValues(t, 2, updated.Generation)

	// An update of an old state fails. A strategic merge patch merges containers by name.
	_, err = client.Update(ctx, created, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	patched, err := client.Patch(ctx, "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"s:1"}]}}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Len(t, patched.Spec.Template.Spec.Containers, 2)

	require.NoError(t, client.Delete(ctx, "web", metav1.DeleteOptions{}))
	_, err = client.Get(ctx, "web", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestDynamicClient(t *testing.T) {
	srv := fakeapi.Start(t)
	client := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(configMaps).Namespace("default")
	ctx := t.Context()
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"generateName": "made-", "labels": map[string]any{"app": "x"}},
		"data":     map[string]any{"k": "1"},
	}}
	created, err := client.Create(ctx, obj, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Regexp(t, "^made-[bcdfghjklmnpqrstvwxz2456789]{5}$", created.GetName())
	w, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: created.GetResourceVersion(), LabelSelector: "app=x"})
	require.NoError(t, err)
	defer w.Stop()
	created.SetLabels(nil)
	_, err = client.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	left, _ := nextEvent(t, w)
	require.EqualValues(t, "DELETED", left.Type, "the object does not match any more")
	require.Equal(t, map[string]string{"app": "x"}, left.Object.(*unstructured.Unstructured).GetLabels())
}

func TestMetadataClient(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithObjects(configMap("a", "1"), configMap("b", "1")))
	client := metadata.NewForConfigOrDie(srv.RESTConfig()).Resource(configMaps)
	ctx := t.Context()
	one, err := client.Namespace("default").Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "x", one.Labels["app"])
	list, err := client.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	w, err := client.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	first, _ := nextEvent(t, w)
	require.Equal(t, "a", first.Object.(*metav1.PartialObjectMetadata).Name)
}

// nextEvent waits for an event, but for a minute at most. It returns false if the watch has ended.
func nextEvent(t *testing.T, w watch.Interface) (event watch.Event, open bool) {
	t.Helper()
	select {
	case event, open = <-w.ResultChan():
	case <-time.After(time.Minute):
		require.FailNow(t, "no event for a minute")
	}
	return event, open
}

// requireNoEvent checks that a watch continues without an event. It is for use in a synctest
// bubble.
func requireNoEvent(t *testing.T, w watch.Interface) {
	t.Helper()
	synctest.Wait()
	select {
	case event, open := <-w.ResultChan():
		require.True(t, open, "the watch has ended")
		require.Fail(t, "an event", "%v", event)
	default:
	}
}

// Discovery builds a mapper that finds kinds, resources and short names.
func TestDiscoveryClient(t *testing.T) {
	srv := fakeapi.Start(t)
	client := discovery.NewDiscoveryClientForConfigOrDie(srv.RESTConfig())
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	require.NoError(t, err)
	require.Equal(t, "deployments", mapping.Resource.Resource)
	kind, err := restmapper.NewShortcutExpander(mapper, client, nil).KindFor(schema.GroupVersionResource{Resource: "cm"})
	require.NoError(t, err)
	require.Equal(t, "ConfigMap", kind.Kind)
	doc, err := client.OpenAPISchema() // the v2 document, in protobuf
	require.NoError(t, err)
	require.Equal(t, "2.0", doc.Swagger)
	require.Equal(t, "1.37", doc.Info.Version)
	require.Greater(t, len(doc.Definitions.AdditionalProperties), 500)
}

// The pager of client-go reads a collection in pages while it changes. All pages are of the same
// revision.
func TestPager(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	for i := range 25 {
		_, err := client.Create(t.Context(), configMap(fmt.Sprintf("m%02d", i), "1"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		list, err := client.List(ctx, opts)
		if err == nil && opts.Continue == "" {
			err = client.Delete(ctx, "m24", metav1.DeleteOptions{})
		}
		return list, err
	})
	p.PageSize = 10
	obj, paginated, err := p.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.True(t, paginated)
	items, err := meta.ExtractList(obj)
	require.NoError(t, err)
	require.Len(t, items, 25, "the deletion after the first page is not in the list")
}

// Clients that update the same object at the same time retry on conflicts. No change is lost.
func TestRetryOnConflict(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("counter", "")))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 5 {
				if err := addKey(t.Context(), client, fmt.Sprintf("%d-%d", n, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	cm, err := client.Get(t.Context(), "counter", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, cm.Data, 41)
}

// addKey adds a key to the counter and retries on conflicts.
func addKey(ctx context.Context, client typedcorev1.ConfigMapInterface, key string) error {
	for {
		cm, err := client.Get(ctx, "counter", metav1.GetOptions{})
		if err != nil {
			return err
		}
		cm.Data[key] = "done"
		if _, err = client.Update(ctx, cm, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// The stringData of a Secret is stored in its data and never returned.
func TestStringData(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Secrets("default")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Data:       map[string][]byte{"a": []byte("old"), "b": []byte("b")},
		StringData: map[string]string{"a": "new"},
	}
	created, err := client.Create(t.Context(), secret, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"a": []byte("new"), "b": []byte("b")}, created.Data)
	require.Empty(t, created.StringData)
	require.Equal(t, corev1.SecretTypeOpaque, created.Type, "the default type")
}

// Duplicate owner references are removed with a warning.
func TestDuplicateOwners(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(newPod("p", func(p *corev1.Pod) { p.UID = "u1" })))
	const owners = `"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"},{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"}]`
	const maps = "/api/v1/namespaces/default/configmaps"
	const warning = `299 - ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, ` +
		`and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1"`
	for _, tt := range []struct{ method, path, contentType, when string }{
		{"POST", maps, "application/json", ""},
		{"PUT", maps + "/o", "application/json", ""},
		{"PATCH", maps + "/o", "application/merge-patch+json", " after mutating admission happens"},
	} {
		code, header, body := send(t, srv, tt.method, tt.path, tt.contentType, []byte(`{"metadata":{"name":"o",`+owners+`}}`))
		require.Less(t, code, 300, "%s", body)
		require.Equal(t, []string{fmt.Sprintf(warning, tt.when)}, header["Warning"])
		var cm corev1.ConfigMap
		require.NoError(t, json.Unmarshal(body, &cm))
		require.Len(t, cm.OwnerReferences, 1)
	}
}
