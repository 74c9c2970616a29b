package controller_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

// startManager runs the settings controller until the test calls stop. stop fails the test if the
// manager returns an error. The manager opens no sockets, so that it can run in a bubble.
func startManager(t *testing.T, cfg *rest.Config) (mgr ctrl.Manager, stop func()) {
	t.Helper()
	log := logr.Discard()
	selected := cache.ByObject{Label: hasSite(t)}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme.Scheme,
		Logger:                 log,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{SkipNameValidation: new(true), Logger: log},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}: selected,
			&corev1.ConfigMap{}:  selected,
		}},
	})
	require.NoError(t, err)
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).
		For(&appsv1.Deployment{}).
		Owns(&corev1.ConfigMap{}).
		Complete(&settings{Client: mgr.GetClient(), secrets: mgr.GetAPIReader()}))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return mgr, func() {
		t.Helper()
		cancel()
		require.NoError(t, <-ended)
	}
}

// hasSite returns a selector of the objects that have the site label.
func hasSite(t *testing.T) labels.Selector {
	t.Helper()
	s, err := labels.Parse(site)
	require.NoError(t, err)
	return s
}

// newClient returns a client that reads from the server, not from a cache.
func newClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	return c
}

// deployment returns a Deployment of the site "north".
func deployment(name, image string) *appsv1.Deployment {
	app := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{site: "north"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
			},
		},
	}
}

// secret returns the Secret that the controller needs.
func secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: passwords},
		StringData: map[string]string{"root": "hunter2"},
	}
}

// waitReconciled waits until each Deployment of a site has its ConfigMap and its status, and there
// is no ConfigMap without a Deployment.
func waitReconciled(t *testing.T, c client.Client) {
	t.Helper()
	poll.UntilNoError(t, func(ctx context.Context) error { return checkReconciled(ctx, c) })
}

// checkReconciled returns an error for the first difference from the reconciled state.
func checkReconciled(ctx context.Context, c client.Client) error {
	var deployments appsv1.DeploymentList
	if err := c.List(ctx, &deployments, client.HasLabels{site}); err != nil {
		return err
	}
	var configs corev1.ConfigMapList
	if err := c.List(ctx, &configs, client.HasLabels{site}); err != nil {
		return err
	}
	if len(configs.Items) != len(deployments.Items) {
		return fmt.Errorf("%d ConfigMaps for %d Deployments", len(configs.Items), len(deployments.Items))
	}
	for i, d := range deployments.Items { // both lists are sorted by name
		if err := checkObjects(&d, &configs.Items[i]); err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	return nil
}

func checkObjects(d *appsv1.Deployment, c *corev1.ConfigMap) error {
	switch {
	case c.Name != d.Name:
		return fmt.Errorf("no ConfigMap, found the one of %s", c.Name)
	case !metav1.IsControlledBy(c, d):
		return fmt.Errorf("the owners of the ConfigMap are %v", c.OwnerReferences)
	case !reflect.DeepEqual(c.Data, wanted(d)):
		return fmt.Errorf("the data of the ConfigMap is %v, want %v", c.Data, wanted(d))
	case len(d.Status.Conditions) != 1 || d.Status.Conditions[0].Type != written:
		return fmt.Errorf("the conditions are %v", d.Status.Conditions)
	case d.Status.ObservedGeneration != d.Generation:
		return fmt.Errorf("observedGeneration is %d, generation is %d", d.Status.ObservedGeneration, d.Generation)
	}
	return nil
}
