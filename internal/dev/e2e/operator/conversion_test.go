package operator_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/ports"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
	hostingv1beta1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1beta1"
)

// withConversion returns a testEnv with a running manager that serves the conversion webhook.
// envtest configures the webhook in the CRD and creates its certificates.
func withConversion(t *testing.T) *testEnv {
	t.Helper()
	b := newTestEnv(t, server.Start(t))
	env := &envtest.Environment{
		UseExistingCluster:    new(true),
		Config:                b.config,
		Scheme:                b.scheme,
		CRDDirectoryPaths:     []string{filepath.Join("config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	ports.ChooseWebhook(t, &env.WebhookInstallOptions)
	_, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	require.Len(t, env.CRDs, 1)

	hooks := env.WebhookInstallOptions
	mgr := b.manage(func(o *ctrl.Options) {
		o.WebhookServer = webhook.NewServer(webhook.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		})
	})
	require.NoError(t, ctrl.NewWebhookManagedBy(mgr, &hostingv1.Site{}).Complete())
	b.runInBackground(mgr.Start)
	t.Cleanup(b.uninstall) // runs before the webhook stops
	address := net.JoinHostPort(hooks.LocalServingHost, strconv.Itoa(hooks.LocalServingPort))
	poll.UntilNoError(t, func(ctx context.Context) error {
		conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return b
}

// Both versions can be read and written, whichever version is stored.
func TestConversion(t *testing.T) {
	b := withConversion(t)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKey{Name: sitesCRD}, crd))
	require.Equal(t, apiextensionsv1.WebhookConverter, crd.Spec.Conversion.Strategy)

	old := &hostingv1beta1.Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "old"},
		Spec:       hostingv1beta1.SiteSpec{Image: "example.com/web:1", Host: "old.example.com"},
	}
	require.NoError(t, b.Create(t.Context(), old))
	require.EqualValues(t, 1, *old.Spec.Size, "the default of v1beta1")
	site := b.site("old")
	b.requireStatus(site, metav1.ConditionFalse, "0 of 1 pods are ready")
	require.Equal(t, []string{"old.example.com"}, site.Spec.Hosts)
	require.Equal(t, hostingv1.TierFree, site.Spec.Tier, "the default of the stored version")
	require.NotContains(t, site.Annotations, hostingv1beta1.HubAnnotation)

	site.Spec.Hosts = append(site.Spec.Hosts, "new.example.com")
	site.Spec.Replicas = new(int32(0))
	require.NoError(t, b.Update(t.Context(), site))
	b.requireStatus(site, metav1.ConditionTrue, "0 of 0 pods are ready")
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	require.Equal(t, hostingv1beta1.SiteSpec{Image: "example.com/web:1", Size: new(int32(0)), Host: "old.example.com"}, old.Spec)
	require.True(t, old.Status.Ready)
	require.Contains(t, old.Annotations, hostingv1beta1.HubAnnotation)
	require.Equal(t, site.UID, old.UID)

	// The operator may report the status once more.
	require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(old), old); err != nil {
			return err
		}
		old.Spec.Host = "other.example.com"
		return b.Update(t.Context(), old)
	}))
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), site))
	require.Equal(t, []string{"other.example.com", "new.example.com"}, site.Spec.Hosts, "hosts that v1beta1 has no field for are preserved")
	require.Equal(t, site.Generation, old.Generation)
}

// Lists and watches return objects in the requested version.
func TestListsAndWatchesAreConverted(t *testing.T) {
	b := withConversion(t)
	for i := range 3 {
		b.create(fmt.Sprint("web-", i), func(s *hostingv1.Site) { s.Spec.Hosts = []string{s.Name + ".example.com"} })
	}
	var sites hostingv1beta1.SiteList
	require.NoError(t, b.List(t.Context(), &sites, client.InNamespace(b.namespace)))
	require.Len(t, sites.Items, 3)
	for _, s := range sites.Items {
		require.Equal(t, s.Name+".example.com", s.Spec.Host)
		require.Equal(t, "hosting.example.com/v1beta1", s.APIVersion)
	}

	watcher, err := client.NewWithWatch(b.config, client.Options{Scheme: b.scheme})
	require.NoError(t, err)
	events, err := watcher.Watch(t.Context(), &hostingv1beta1.SiteList{}, client.InNamespace(b.namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: sites.ResourceVersion}})
	require.NoError(t, err)
	defer events.Stop()
	b.create("late", func(s *hostingv1.Site) { s.Spec.Hosts = []string{"late.example.com"} })
	for {
		event, open := <-events.ResultChan()
		require.True(t, open)
		s, ok := event.Object.(*hostingv1beta1.Site)
		require.True(t, ok, "%v", event.Object)
		if s.Name == "late" { // the operator changes the other sites
			require.Equal(t, "late.example.com", s.Spec.Host)
			return
		}
	}
}

// When the webhook fails a conversion, the request fails with the webhook's message.
func TestConversionFails(t *testing.T) {
	b := withConversion(t)
	err := b.Create(t.Context(), &hostingv1beta1.Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "bad"},
		Spec:       hostingv1beta1.SiteSpec{Image: "unconvertible"},
	})
	require.ErrorContains(t, err, "conversion webhook for hosting.example.com/v1beta1, Kind=Site failed: the image of site bad has no representation in v1")
	require.True(t, apierrors.IsInternalError(err), "%v", err)
	require.NoError(t, b.checkNotFound(t.Context(), b.site("bad")))
}
