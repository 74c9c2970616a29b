package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// System objects have the managedFields of the requests with which a server creates them: those of
// the same requests to a server without them.
func TestManagedFieldsOfSystemObjects(t *testing.T) {
	srv := dynamic.NewForConfigOrDie(fakeapi.Start(t, fakeapi.WithClientCA(), fakeapi.WithServiceClusterIPRange("10.0.0.0/24")).RESTConfig())
	empty := dynamic.NewForConfigOrDie(fakeapi.Start(t, fakeapi.WithoutSystemObjects(), fakeapi.WithoutValidation(),
		fakeapi.WithServiceClusterIPRange("10.0.0.0/24")).RESTConfig())
	for _, gvr := range append(systemResources(), schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}) {
		list, err := srv.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items, gvr)
		for _, o := range list.Items {
			var entries []metav1.ManagedFieldsEntry
			for _, entry := range o.GetManagedFields() {
				require.Equal(t, o.GetCreationTimestamp().UTC(), entry.Time.UTC(), "%s %s", gvr.Resource, o.GetName())
				entry.Time = nil
				entries = append(entries, entry)
			}
			require.NotEmpty(t, entries, "%s %s", gvr.Resource, o.GetName())
			require.Equal(t, recreate(t, empty, gvr, &o, entries), entries, "%s %s", gvr.Resource, o.GetName())
		}
	}
}

// recreate creates an object in another server with the requests of its field managers, and returns
// the managedFields that it gets, without their times.
func recreate(t *testing.T, client dynamic.Interface, gvr schema.GroupVersionResource, o *unstructured.Unstructured, entries []metav1.ManagedFieldsEntry) (got []metav1.ManagedFieldsEntry) {
	resource := dynamic.ResourceInterface(client.Resource(gvr))
	if o.GetNamespace() != "" {
		resource = client.Resource(gvr).Namespace(o.GetNamespace())
	}
	created := o.DeepCopy()
	created.Object["metadata"] = map[string]any{"name": o.GetName()}
	created.SetLabels(o.GetLabels())
	created.SetAnnotations(o.GetAnnotations())
	delete(created.Object, "status")
	switch gvr.Resource {
	case "namespaces":
		created.SetName(o.GetName() + "-again") // it exists
		delete(created.Object, "spec")
	case "services": // the server sets them when it allocates the address
		unstructured.RemoveNestedField(created.Object, "spec", "clusterIPs")
		unstructured.RemoveNestedField(created.Object, "spec", "ipFamilies")
	case "ipaddresses":
		created.SetName("10.0.0.2") // the Service has got its address
	}
	stored, err := resource.Create(t.Context(), created, metav1.CreateOptions{FieldManager: entries[len(entries)-1].Manager})
	require.NoError(t, err)
	if len(entries) > 1 {
		apply := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": map[string]any{"name": o.GetName()}, "status": o.Object["status"],
		}}
		for _, c := range apply.Object["status"].(map[string]any)["conditions"].([]any) {
			if reason := c.(map[string]any)["reason"]; reason == "" {
				delete(c.(map[string]any), "reason")
			}
		}
		stored, err = resource.ApplyStatus(t.Context(), o.GetName(), apply, metav1.ApplyOptions{FieldManager: entries[0].Manager, Force: true})
		require.NoError(t, err)
	}
	for _, entry := range stored.GetManagedFields() {
		entry.Time = nil
		got = append(got, entry)
	}
	return got
}
