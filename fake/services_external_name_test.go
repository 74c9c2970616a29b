package fakeapi_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A Service of type ExternalName keeps the internalTrafficPolicy that it had with another type, or
// that it was created with. Clients see it with another type, and in responses of the status
// subresource only.
func TestInternalTrafficPolicyOfExternalName(t *testing.T) {
	const toExternalName = `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`
	const toClusterIP = `{"spec":{"type":"ClusterIP","externalName":null,"ports":[{"port":80}]}}`
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"} {
		srv := fakeapi.Start(t)
		config := srv.RESTConfig()
		config.AcceptContentTypes, config.ContentType = contentType, contentType
		c := serviceClient{t, kubernetes.NewForConfigOrDie(config)}
		services := c.CoreV1().Services("default")
		w, err := services.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=s"})
		require.NoError(t, err)
		defer w.Stop()
		nextPolicy := func() any { return policyOf((<-w.ResultChan()).Object) }

		require.Equal(t, "Local", policyOf(c.create("s", `{"internalTrafficPolicy":"Local"}`)))
		require.Equal(t, "Local", nextPolicy())
		require.Nil(t, policyOf(c.patch("s", toExternalName)), contentType)
		require.Nil(t, nextPolicy())
		service, err := services.Get(t.Context(), "s", metav1.GetOptions{})
		require.NoError(t, err)
		require.Nil(t, policyOf(service))
		list, err := services.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=s"})
		require.NoError(t, err)
		require.Nil(t, policyOf(&list.Items[0]))
		service, err = c.CoreV1().Services("default").UpdateStatus(t.Context(), service, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Equal(t, "Local", policyOf(service))
		require.Equal(t, "Local", policyOf(c.patch("s", toClusterIP)))
		require.Equal(t, "Local", nextPolicy())

		c.patch("s", toExternalName)
		require.Nil(t, nextPolicy())
		service, err = services.Get(t.Context(), "s", metav1.GetOptions{})
		require.NoError(t, err)
		service.Labels = map[string]string{"a": "b"}
		service, err = services.Update(t.Context(), service, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.Nil(t, policyOf(service))
		require.Equal(t, "Cluster", policyOf(c.patch("s", toClusterIP)), "the update removes it")

		const created = `{"type":"ExternalName","externalName":"a.example.com","internalTrafficPolicy":"Local"}`
		require.Nil(t, policyOf(c.create("dry", created, metav1.DryRunAll)))
		require.Nil(t, policyOf(c.create("other", created)))
		deleted := new(corev1.Service)
		require.NoError(t, c.CoreV1().RESTClient().Delete().Namespace("default").Resource("services").Name("other").Do(context.Background()).Into(deleted))
		require.Equal(t, "other", deleted.Name)
		require.Nil(t, policyOf(deleted))
	}
}

func TestInternalTrafficPolicyInTables(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newServiceClient(t, srv)
	c.create("s", `{"type":"ExternalName","externalName":"a.example.com","internalTrafficPolicy":"Local"}`)
	for path, want := range map[string]any{"services/s": nil, "services": nil, "services/s/status": "Local"} {
		b, err := c.CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/"+path).Param("includeObject", "Object").
			SetHeader("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").DoRaw(t.Context())
		require.NoError(t, err)
		var table metav1.Table
		require.NoError(t, json.Unmarshal(b, &table))
		row := table.Rows[len(table.Rows)-1]
		service := new(corev1.Service)
		require.NoError(t, json.Unmarshal(row.Object.Raw, service))
		require.Equal(t, "s", service.Name)
		require.Equal(t, want, policyOf(service), path)
	}
}

// policyOf returns the internalTrafficPolicy of a Service, or nil.
func policyOf(obj runtime.Object) any {
	if policy := obj.(*corev1.Service).Spec.InternalTrafficPolicy; policy != nil {
		return string(*policy)
	}
	return nil
}
