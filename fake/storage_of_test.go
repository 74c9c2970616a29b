package fakeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

const configMapA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: first}\n"

// storedWidgets is the resource of the custom resources of these tests.
var storedWidgets = schema.GroupVersionResource{Group: "stored.example.com", Version: "v1", Resource: "widgets"}

const storedWidgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.stored.example.com}
spec:
  group: stored.example.com
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// A server on the storage of a closed one has its objects and history. What is there is not created
// again.
func TestStorageOfClosedServer(t *testing.T) {
	opts := []fakeapi.Option{fakeapi.WithRBAC(), fakeapi.WithYAML(configMapA), fakeapi.WithYAML(storedWidgetDefinition)}
	first := fakeapi.Start(t, opts...)
	client := kubernetes.NewForConfigOrDie(first.RESTConfig())
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	stored, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "a", "application/merge-patch+json", []byte(`{"data":{"k":"changed"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	service, err := client.CoreV1().Services("default").Create(t.Context(), newService(t, "s1", `{}`), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = dynamic.NewForConfigOrDie(first.RESTConfig()).Resource(storedWidgets).Namespace("default").Create(t.Context(), newStoredWidget("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	before := first.ResourceVersion()
	adminOfFirst := first.RESTConfig()
	require.NoError(t, first.Close())

	second := fakeapi.Start(t, append(opts, fakeapi.WithStorageOf(first))...)
	client = kubernetes.NewForConfigOrDie(second.RESTConfig())
	read, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, stored, read)
	_, err = dynamic.NewForConfigOrDie(second.RESTConfig()).Resource(storedWidgets).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)

	// Only what has the port of the server differs.
	changed := changedSince(t, first, second, before)
	require.ElementsMatch(t, []string{"services/default/kubernetes", "endpoints/default/kubernetes", "discovery.k8s.io/endpointslices/default/kubernetes"}, changed)
	slices, err := client.DiscoveryV1().EndpointSlices("default").List(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=kubernetes"})
	require.NoError(t, err)
	require.Len(t, slices.Items, 1)
	require.Contains(t, second.URL(), fmt.Sprint(*slices.Items[0].Ports[0].Port))

	// The history and the allocations of Services go on, and credentials stay valid.
	watch, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	defer watch.Stop()
	event := <-watch.ResultChan()
	require.Equal(t, "a", event.Object.(*corev1.ConfigMap).Name)
	taken := newService(t, "s2", `{}`)
	taken.Spec.ClusterIP = service.Spec.ClusterIP
	_, err = client.CoreV1().Services("default").Create(t.Context(), taken, metav1.CreateOptions{})
	require.ErrorContains(t, err, "provided IP is already allocated")
	adminOfFirst.Host = second.URL()
	_, err = kubernetes.NewForConfigOrDie(adminOfFirst).CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// changedSince returns the keys of the objects that a server on the storage of another has written
// after a resourceVersion.
func changedSince(t *testing.T, first, second *fakeapi.Server, before string) (changed []string) {
	t.Helper()
	firstDump, err := first.Dump()
	require.NoError(t, err)
	secondDump, err := second.Dump()
	require.NoError(t, err)
	require.Equal(t, firstDump, secondDump, "both have the same storage")
	client := dynamic.NewForConfigOrDie(second.RESTConfig())
	for _, gvr := range listableResources(t, second) {
		list, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, item := range list.Items {
			if item.GetResourceVersion() == "" { // it is not stored, as a ComponentStatus
				continue
			}
			order, err := resourceversion.CompareResourceVersion(item.GetResourceVersion(), before)
			require.NoError(t, err)
			if order <= 0 {
				continue
			}
			key := gvr.Resource + "/" + item.GetNamespace() + "/" + item.GetName()
			if gvr.Group != "" {
				key = gvr.Group + "/" + key
			}
			changed = append(changed, key)
		}
	}
	return changed
}

// listableResources returns the resources of a server that can be listed, in one version.
func listableResources(t *testing.T, srv *fakeapi.Server) (found []schema.GroupVersionResource) {
	t.Helper()
	lists, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).Discovery().ServerPreferredResources()
	require.NoError(t, err)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "list") {
				found = append(found, gv.WithResource(r.Name))
			}
		}
	}
	return found
}

func newStoredWidget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "stored.example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

// Two servers on one storage serve the same objects and definitions. Each may be closed first.
func TestStorageOfRunningServer(t *testing.T) {
	for _, closed := range []string{"first", "second"} {
		t.Run(closed+" closed", func(t *testing.T) {
			first := fakeapi.Start(t)
			second := fakeapi.Start(t, fakeapi.WithStorageOf(first))
			clients := []dynamic.Interface{dynamic.NewForConfigOrDie(first.RESTConfig()), dynamic.NewForConfigOrDie(second.RESTConfig())}
			for i, name := range []string{"w0", "w1"} {
				other := clients[1-i]
				if i == 0 {
					require.NoError(t, first.LoadYAML(storedWidgetDefinition))
				}
				_, err := clients[i].Resource(storedWidgets).Namespace("default").Create(t.Context(), newStoredWidget(name), metav1.CreateOptions{})
				require.NoError(t, err)
				watch, err := other.Resource(storedWidgets).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
				require.NoError(t, err)
				require.Equal(t, name, (<-watch.ResultChan()).Object.(*unstructured.Unstructured).GetName())
				watch.Stop()
			}
			// The definition is deleted by the second server, with its objects.
			crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
			watch, err := clients[0].Resource(storedWidgets).Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.NoError(t, clients[1].Resource(crds).Delete(t.Context(), "widgets.stored.example.com", metav1.DeleteOptions{}))
			for range watch.ResultChan() { // until it ends
			}
			for _, client := range clients {
				_, err := client.Resource(storedWidgets).List(t.Context(), metav1.ListOptions{})
				require.True(t, apierrors.IsNotFound(err), "%v", err)
			}

			left, client := second, clients[1]
			if closed == "first" {
				require.NoError(t, first.Close())
			} else {
				require.NoError(t, second.Close())
				left, client = first, clients[0]
			}
			require.NoError(t, left.LoadYAML(storedWidgetDefinition))
			_, err = client.Resource(storedWidgets).Namespace("default").Create(t.Context(), newStoredWidget("w"), metav1.CreateOptions{})
			require.NoError(t, err)

			// A third one has what is left.
			third := fakeapi.Start(t, fakeapi.WithStorageOf(first), fakeapi.WithStorageOf(second))
			_, err = dynamic.NewForConfigOrDie(third.RESTConfig()).Resource(storedWidgets).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
			require.NoError(t, err)
		})
	}
}

// The controllers of two servers on one storage delete a namespace and dependents once.
func TestStorageOfControllers(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithNamespaceDeletionDelay(0))
	second := fakeapi.Start(t, fakeapi.WithNamespaceDeletionDelay(0), fakeapi.WithStorageOf(first))
	client := kubernetes.NewForConfigOrDie(second.RESTConfig())
	for range 20 {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		owner, err := client.CoreV1().ConfigMaps("n").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("n").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: "dependent", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().ConfigMaps("n").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
		require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "n", metav1.DeleteOptions{}))
		require.NoError(t, first.RunControllers(t.Context()))
		require.NoError(t, second.RunControllers(t.Context()))
		_, err = client.CoreV1().Namespaces().Get(t.Context(), "n", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
}

func TestInvalidStorageOf(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	_, err := fakeapi.New(fakeapi.WithStorageOf(nil))
	require.ErrorContains(t, err, "fakeapi: WithStorageOf needs a server")
	_, err = srv.Fork(fakeapi.WithStorageOf(srv))
	require.ErrorContains(t, err, "a fork has a storage of its own")
	_, err = srv.Replica(fakeapi.WithStorageOf(srv))
	require.ErrorContains(t, err, "a replica has the storage")
}

// TestStorageOfKeepsLimits checks that the limits of a storage are those of its first server, also
// if a later one has others, as after a restart with the same options.
func TestStorageOfKeepsLimits(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 1 << 20}))
	second := fakeapi.Start(t, fakeapi.WithStorageOf(first), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 64 << 20}))
	client := kubernetes.NewForConfigOrDie(second.RESTConfig())
	large := &corev1.ConfigMap{Data: map[string]string{"a": strings.Repeat("a", 700<<10)}}
	large.GenerateName = "a-"
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), large, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), large, metav1.CreateOptions{})
	require.ErrorContains(t, err, "database space exceeded")
}
