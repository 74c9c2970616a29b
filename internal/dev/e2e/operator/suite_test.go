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

	"example.com/fakeapi/internal/dev/e2e/internal/subject"
	"example.com/fakeapi/internal/dev/e2e/internal/until"
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

// bed is a server with a namespace for the test, and a client that reads from the server.
type bed struct {
	client.Client
	t         *testing.T
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
}

// newBed is a server that does not know the operator's definitions.
func newBed(t *testing.T, config *rest.Config) *bed {
	t.Helper()
	b := &bed{t: t, config: config, scheme: newScheme(t)}
	var err error
	b.Client, err = client.New(config, client.Options{Scheme: b.scheme})
	require.NoError(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-"}}
	require.NoError(t, b.Create(t.Context(), namespace))
	b.namespace = namespace.Name
	return b
}

// withSites is a server on which the operator's definitions are installed until the test ends.
func withSites(t *testing.T) *bed {
	t.Helper()
	b := newBed(t, subject.Start(t))
	b.install()
	return b
}

func (b *bed) install() {
	b.t.Helper()
	_, err := envtest.InstallCRDs(b.config, installed())
	require.NoError(b.t, err)
	b.t.Cleanup(b.uninstall)
}

// uninstall lets go what finalizers hold, and waits until the definitions are gone.
func (b *bed) uninstall() {
	require.NoError(b.t, envtest.UninstallCRDs(b.config, installed()))
	until.Passes(b.t, func(ctx context.Context) error {
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
		return b.missing(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: sitesCRD}})
	})
}

// missing is an error as long as an object is there.
func (b *bed) missing(ctx context.Context, o client.Object) error {
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
func (b *bed) site(name string) *hostingv1.Site {
	return &hostingv1.Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name},
		Spec:       hostingv1.SiteSpec{Image: "example.com/web:1"},
	}
}

// created is such a site on the server.
func (b *bed) created(name string, change ...func(*hostingv1.Site)) *hostingv1.Site {
	b.t.Helper()
	site := b.site(name)
	for _, c := range change {
		c(site)
	}
	require.NoError(b.t, b.Create(b.t.Context(), site))
	return site
}

// becomes waits for a check of an object to pass.
func (b *bed) becomes(o client.Object, check func() error) {
	b.t.Helper()
	until.Passes(b.t, func(ctx context.Context) error {
		if err := b.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		return check()
	})
}
