// Package operator_test runs an operator against the server, with the tests that its
// makers would write: the types, the definition (made by controller-gen), the controller
// and the conversion webhook are as kubebuilder lays them out.
package operator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	"example.com/fakeapi/internal/dev/e2e/internal/server"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
	hostingv1beta1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1beta1"
)

// TestMain silences logs, and takes away what client-go does with errors that it cannot
// return, which would have a goroutine of a bubble wait for the real clock.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

const sitesCRD = "sites.hosting.example.com"

// installed are the options that all tests install the operator's definitions with.
func installed() envtest.CRDInstallOptions {
	return envtest.CRDInstallOptions{Paths: []string{filepath.Join("config", "crd", "bases")}, ErrorIfPathMissing: true}
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, hostingv1.AddToScheme, hostingv1beta1.AddToScheme,
	} {
		require.NoError(t, add(scheme))
	}
	return scheme
}

// testEnv is a server with a namespace for the test, and a client that reads from the server.
type testEnv struct {
	client.Client
	t         *testing.T
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
}

// newTestEnv is a server that does not know the operator's definitions.
func newTestEnv(t *testing.T, config *rest.Config) *testEnv {
	t.Helper()
	b := &testEnv{t: t, config: config, scheme: newScheme(t)}
	var err error
	b.Client, err = client.New(config, client.Options{Scheme: b.scheme})
	require.NoError(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-"}}
	require.NoError(t, b.Create(t.Context(), namespace))
	b.namespace = namespace.Name
	return b
}

// withSites is a server on which the operator's definitions are installed until the test ends.
func withSites(t *testing.T) *testEnv {
	t.Helper()
	b := newTestEnv(t, server.Start(t))
	b.install()
	return b
}

func (b *testEnv) install() {
	b.t.Helper()
	_, err := envtest.InstallCRDs(b.config, installed())
	require.NoError(b.t, err)
	b.t.Cleanup(b.uninstall)
}

// uninstall lets go what finalizers hold, and waits until the definitions are gone.
func (b *testEnv) uninstall() {
	require.NoError(b.t, envtest.UninstallCRDs(b.config, installed()))
	poll.UntilNoError(b.t, func(ctx context.Context) error {
		var sites hostingv1.SiteList
		if err := b.List(ctx, &sites); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
			return err
		}
		for _, site := range sites.Items {
			free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			if err := b.Patch(ctx, &site, free); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return b.checkNotFound(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: sitesCRD}})
	})
}

// checkNotFound is an error as long as an object is there.
func (b *testEnv) checkNotFound(ctx context.Context, o client.Object) error {
	err := b.Get(ctx, client.ObjectKeyFromObject(o), o)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%T %s is there", o, o.GetName())
}

// site is a valid one, with no more than it needs.
func (b *testEnv) site(name string) *hostingv1.Site {
	return &hostingv1.Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       hostingv1.SiteSpec{Image: "example.com/web:1"},
	}
}

// create is such a site on the server.
func (b *testEnv) create(name string, change ...func(*hostingv1.Site)) *hostingv1.Site {
	b.t.Helper()
	site := b.site(name)
	for _, c := range change {
		c(site)
	}
	require.NoError(b.t, b.Create(b.t.Context(), site))
	return site
}

// requireEventually waits for a check of an object to pass.
func (b *testEnv) requireEventually(o client.Object, check func() error) {
	b.t.Helper()
	poll.UntilNoError(b.t, func(ctx context.Context) error {
		if err := b.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		return check()
	})
}
