package operator_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/ports"
)

const serviceHost = "webhook-service.system.svc"

// withServiceCertificate returns the options of envtest, with a port, and with a certificate for
// the Service of the manifests.
func withServiceCertificate(t *testing.T) (hooks envtest.WebhookInstallOptions) {
	t.Helper()
	ports.ChooseWebhook(t, &hooks)
	require.NoError(t, hooks.PrepWithoutInstalling())
	t.Cleanup(func() { require.NoError(t, hooks.Cleanup()) })
	certificate, key, err := cert.GenerateSelfSignedCertKey(serviceHost, nil, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(hooks.LocalServingCertDir, "tls.crt"), certificate, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(hooks.LocalServingCertDir, "tls.key"), key, 0o600))
	hooks.LocalServingCAData = certificate
	return hooks
}

// applyManifests creates the configurations of the manifests as they are in a cluster: webhooks are
// behind a Service, and cert-manager has added the caBundle.
func (b *testEnv) applyManifests(caBundle []byte) {
	b.t.Helper()
	file, err := os.Open(filepath.Join("config", "webhook", "manifests.yaml"))
	require.NoError(b.t, err)
	defer file.Close()
	manifests := yaml.NewYAMLOrJSONDecoder(file, 4096)
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	require.NoError(b.t, manifests.Decode(mutating))
	require.NoError(b.t, manifests.Decode(validating))
	mutating.Webhooks[0].ClientConfig.CABundle = caBundle
	validating.Webhooks[0].ClientConfig.CABundle = caBundle
	require.NoError(b.t, b.Create(b.t.Context(), mutating))
	require.NoError(b.t, b.Create(b.t.Context(), validating))
	b.t.Cleanup(func() {
		require.NoError(b.t, b.Delete(context.WithoutCancel(b.t.Context()), mutating))
		require.NoError(b.t, b.Delete(context.WithoutCancel(b.t.Context()), validating))
	})
}

// A function resolves the Service, which need not exist.
func TestWebhooksBehindResolvedService(t *testing.T) {
	hooks := withServiceCertificate(t)
	address := net.JoinHostPort(hooks.LocalServingHost, strconv.Itoa(hooks.LocalServingPort))
	srv := fakeapi.Start(t, fakeapi.WithServiceResolver(func(namespace, name string, port int32) (string, error) {
		if got := fmt.Sprintf("%s/%s:%d", namespace, name, port); got != "system/webhook-service:443" {
			return "", fmt.Errorf("unknown service %s", got)
		}
		return address, nil
	}))
	b := newTestEnv(t, srv.RESTConfig())
	b.install()
	w := &webhookEnv{testEnv: b, hooks: hooks}
	w.runInBackground(w.manageWebhooks(w.webhookServer()).Start)
	w.waitForWebhooks()
	b.applyManifests(hooks.LocalServingCAData)
	require.Equal(t, []string{"web.sites.example.com"}, b.create("web").Spec.Hosts)
	bad := b.site("bad")
	bad.Spec.Image = "example.com/web:latest"
	require.ErrorContains(t, b.Create(t.Context(), bad), denial)
}

// Without a function the Service is an object, and a dialer is asked for its DNS name.
func TestWebhooksBehindServiceObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := withServiceCertificate(t)
		listener := newMemoryListener()
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithWebhookDialer(listener.DialContext))
		w := &webhookEnv{testEnv: newTestEnv(t, srv.RESTConfig()), hooks: hooks}
		w.install()
		serveInMemory(t, listener, w.runInMemory(), hooks.LocalServingCertDir)
		w.applyManifests(hooks.LocalServingCAData)
		const failure = `Internal error occurred: failed calling webhook "msite-v1.kb.io": failed to call webhook: Post "https://` + serviceHost + `:443/mutate-hosting-example-com-v1-site?timeout=10s": `
		require.EqualError(t, w.Create(t.Context(), w.site("web")), failure+`service "webhook-service" not found`)

		require.NoError(t, w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "system"}}))
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "webhook-service"}}
		service.Spec.Ports = []corev1.ServicePort{{Port: 8443}}
		require.NoError(t, w.Create(t.Context(), service))
		require.EqualError(t, w.Create(t.Context(), w.site("web")), failure+`no service port 443 found for service "webhook-service"`)

		before := service.DeepCopy()
		service.Spec.Ports[0].Port = 443
		require.NoError(t, w.Patch(t.Context(), service, client.MergeFrom(before)))
		require.Equal(t, []string{"web.sites.example.com"}, w.create("web").Spec.Hosts)
		require.Equal(t, []string{serviceHost + ":443"}, listener.dialed())
	})
}
