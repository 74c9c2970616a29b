package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	fakeapi "example.com/fakeapi/fake"
)

// The manifests of webhooks are installed on a server as the README shows.
func TestReadmeInstallsWebhooks(t *testing.T) {
	t.Chdir("internal")
	srv := fakeapi.Start(t)
	hooks := envtest.WebhookInstallOptions{Paths: []string{"../config/webhook"}} // chooses the port and makes the certificate
	err := hooks.Install(srv.RESTConfig())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, hooks.Cleanup()) })

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).AdmissionregistrationV1()
	mutating, err := client.MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	validating, err := client.ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, mutating.Items, 1)
	require.Len(t, validating.Items, 1)
	require.Equal(t, hooks.LocalServingCAData, mutating.Items[0].Webhooks[0].ClientConfig.CABundle)
	require.Equal(t, hooks.LocalServingCAData, validating.Items[0].Webhooks[0].ClientConfig.CABundle)
}
