package envtest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func definition() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Name = "gizmos.shop.example.com"
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "shop.example.com", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gizmos", Singular: "gizmo", Kind: "Gizmo", ListKind: "GizmoList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
		}},
	}
	return d
}

func webhookConfiguration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	path, none := "/validate", admissionregistrationv1.SideEffectClassNone
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "validate"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.shop.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "webhook", Path: &path}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
}

// envtest installs definitions and webhooks. The API server calls the webhook in the process of the
// test.
func TestInstall(t *testing.T) {
	e := &envtest.Environment{
		CRDs:                  []*apiextensionsv1.CustomResourceDefinition{definition()},
		WebhookInstallOptions: envtest.WebhookInstallOptions{ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{webhookConfiguration()}},
	}
	startEnvironment(t, e)
	install := e.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{Host: install.LocalServingHost, Port: install.LocalServingPort, CertDir: install.LocalServingCertDir})
	server.Register("/validate", &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
		return admission.ValidationResponse(r.Name != "refused", "not this name")
	})})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()
	require.Eventually(t, func() bool { return server.StartedChecker()(&http.Request{}) == nil }, waitTimeout, waitInterval)

	client := kubernetes.NewForConfigOrDie(e.Config)
	createConfigMap(t, client, "accepted")
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refused"}}, metav1.CreateOptions{})
	require.EqualError(t, err, `admission webhook "validate.shop.example.com" denied the request: not this name`)

	gizmos := dynamic.NewForConfigOrDie(e.Config).Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "gizmos"}).Namespace("default")
	_, err = gizmos.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Gizmo", "metadata": map[string]any{"name": "a"}, "size": int64(1),
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
}
