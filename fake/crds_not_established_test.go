package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	fakeapi "example.com/fakeapi/fake"
)

// A CRD with an invalid caBundle is stored, but not established.
func TestCRDWithInvalidCABundle(t *testing.T) {
	srv := fakeapi.Start(t)
	crd := newGadgetCRD()
	url := "https://127.0.0.1:1/convert"
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: []byte("no bundle")},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	require.NoError(t, err)
	client := dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(crdsResource)
	_, err = client.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	require.NoError(t, err)
	made, err := client.Get(t.Context(), crd.Name, metav1.GetOptions{})
	require.NoError(t, err)
	conditions, _, err := unstructured.NestedSlice(made.Object, "status", "conditions")
	require.NoError(t, err)
	reasons := map[any]any{}
	for _, c := range conditions {
		reasons[c.(map[string]any)["type"]] = c.(map[string]any)["reason"]
	}
	require.Equal(t, map[any]any{"NamesAccepted": "NoConflicts", "Established": "InvalidCABundle"}, reasons)
	_, err = dynamic.NewForConfigOrDie(srv.RESTConfig()).Resource(gadgetsResource).List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
