package operator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
	"example.com/fakeapi/internal/dev/e2e/operator/internal/controller"
)

// manage returns a manager with the operator's controller, whose cache is limited to the namespace
// of the test. The caller starts it.
func (b *testEnv) manage(change ...func(*ctrl.Options)) ctrl.Manager {
	b.t.Helper()
	options := ctrl.Options{
		Scheme:                 b.scheme,
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             ctrlconfig.Controller{SkipNameValidation: new(true)},
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{b.namespace: {}}},
	}
	for _, c := range change {
		c(&options)
	}
	mgr, err := ctrl.NewManager(b.config, options)
	require.NoError(b.t, err)
	require.NoError(b.t, (&controller.SiteReconciler{
		Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Recorder: mgr.GetEventRecorder(controller.Manager),
	}).SetupWithManager(mgr))
	return mgr
}

func TestReconcile(t *testing.T) {
	b := withSites(t)
	b.runInBackground(b.manage().Start)
	b.runSiteLifecycle()
}

// TestReconcileInABubble runs the test of TestReconcile on virtual time.
func TestReconcileInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestEnv(t, fakeapi.Start(t, fakeapi.WithInMemoryNetwork()).RESTConfig())
		b.install()
		b.runInBackground(b.manage().Start)
		b.runSiteLifecycle()
	})
}

// TestEvents checks that the operator records events. It runs against fakeapi only, because a real
// API server started without the controllers may not serve events.
func TestEvents(t *testing.T) {
	b := newTestEnv(t, fakeapi.Start(t).RESTConfig())
	b.install()
	b.runInBackground(b.manage().Start)
	site := b.create("web", func(s *hostingv1.Site) { s.Spec.Replicas = new(int32(0)) })
	b.requireStatus(site, metav1.ConditionTrue, "0 of 0 pods are ready")
	b.hasEvents(site, "Claimed", "PodsReady")
}

// runSiteLifecycle creates a site, makes its pods ready, changes it and deletes it.
func (b *testEnv) runSiteLifecycle() {
	t := b.t
	site := b.create("web", func(s *hostingv1.Site) {
		s.Spec.Hosts, s.Spec.Replicas = []string{"www.example.com"}, new(int32(2))
	})
	b.requireStatus(site, metav1.ConditionFalse, "0 of 2 pods are ready")
	require.Equal(t, []string{controller.Finalizer}, site.Finalizers)
	require.EqualValues(t, 1, site.Generation, "finalizers and status do not change the generation")

	deployment, service, claim := &appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), deployment))
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), service))
	require.NoError(t, b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "web-hosts"}, claim))
	require.Equal(t, map[string]string{"www.example.com": "web"}, claim.Data)
	for _, owned := range []metav1.Object{deployment, service} {
		require.Equal(t, []metav1.OwnerReference{{
			APIVersion: "hosting.example.com/v1", Kind: "Site", Name: "web", UID: site.UID, Controller: new(true), BlockOwnerDeletion: new(true),
		}}, owned.GetOwnerReferences())
	}

	ready := deployment.DeepCopy()
	ready.Status.Replicas, ready.Status.ReadyReplicas = 2, 2
	require.NoError(t, b.Status().Patch(t.Context(), ready, client.MergeFrom(deployment)))
	b.requireStatus(site, metav1.ConditionTrue, "2 of 2 pods are ready")
	require.Equal(t, hostingv1.PhaseReady, site.Status.Phase)

	before := site.DeepCopy()
	site.Spec.Replicas, site.Spec.Ports = new(int32(3)), append(site.Spec.Ports, hostingv1.Port{Name: "metrics", Port: 9090})
	require.NoError(t, b.Patch(t.Context(), site, client.MergeFrom(before)))
	b.requireStatus(site, metav1.ConditionFalse, "2 of 3 pods are ready")
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), deployment))
	require.EqualValues(t, 3, *deployment.Spec.Replicas)
	require.Len(t, deployment.Spec.Template.Spec.Containers[0].Ports, 2)

	require.NoError(t, b.Delete(t.Context(), site))
	poll.UntilNoError(t, func(ctx context.Context) error {
		return errors.Join(b.checkNotFound(ctx, site), b.checkNotFound(ctx, claim))
	})
}

// requireStatus waits until the operator has reported on the newest generation.
func (b *testEnv) requireStatus(site *hostingv1.Site, ready metav1.ConditionStatus, message string) {
	b.t.Helper()
	b.requireEventually(site, func() error {
		c := meta.FindStatusCondition(site.Status.Conditions, hostingv1.Ready)
		if c == nil || c.Status != ready || c.Message != message || c.ObservedGeneration != site.Generation {
			return fmt.Errorf("the condition is %v", c)
		}
		return nil
	})
}

// hasEvents waits until the events about the site have the given reasons, each once or more often:
// a controller whose cache does not have its last write yet writes and records the same again.
func (b *testEnv) hasEvents(site *hostingv1.Site, reasons ...string) {
	b.t.Helper()
	poll.UntilNoError(b.t, func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := b.List(ctx, &events, client.InNamespace(b.namespace)); err != nil {
			return err
		}
		var have []string
		for _, e := range events.Items {
			if e.Regarding.UID == site.UID && e.Regarding.Kind == "Site" {
				have = append(have, e.Reason)
			}
		}
		slices.Sort(have)
		if have = slices.Compact(have); !slices.Equal(have, reasons) {
			return fmt.Errorf("the events are %v", have)
		}
		return nil
	})
}

// Deleting a site deletes the objects it owns. The test runs against fakeapi only, because a bare
// API server has no garbage collector.
func TestOwnedObjectsAreCollected(t *testing.T) {
	b := newTestEnv(t, fakeapi.Start(t).RESTConfig())
	b.install()
	b.runInBackground(b.manage().Start)
	site := b.create("web")
	b.requireStatus(site, metav1.ConditionFalse, "0 of 1 pods are ready")
	require.NoError(t, b.Delete(t.Context(), site, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	poll.UntilNoError(t, func(ctx context.Context) error { return b.checkNotFound(ctx, site) })
	// The controller may have created them again before it saw that the site is deleted.
	for _, owned := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
		owned.SetNamespace(b.namespace)
		owned.SetName("web")
		poll.UntilNoError(t, func(ctx context.Context) error { return b.checkNotFound(ctx, owned) })
	}
}

// Deleting a namespace deletes the sites in it.
func TestNamespaceDeletionDeletesSites(t *testing.T) {
	b := newTestEnv(t, fakeapi.Start(t).RESTConfig())
	b.install()
	b.runInBackground(b.manage().Start)
	site := b.create("web")
	b.requireStatus(site, metav1.ConditionFalse, "0 of 1 pods are ready")
	require.NoError(t, b.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}))
	poll.UntilNoError(t, func(ctx context.Context) error {
		return b.checkNotFound(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}})
	})
	require.NoError(t, b.checkNotFound(t.Context(), site))
}
