package operator_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/fakeapi/internal/dev/e2e/internal/server"
)

// setFailurePolicy sets the failurePolicy of the webhooks.
func (w *webhookEnv) setFailurePolicy(policy admissionregistrationv1.FailurePolicyType) {
	w.t.Helper()
	for _, c := range w.hooks.MutatingWebhooks {
		c.Webhooks[0].FailurePolicy = &policy
		require.NoError(w.t, w.Update(w.t.Context(), c))
	}
	for _, c := range w.hooks.ValidatingWebhooks {
		c.Webhooks[0].FailurePolicy = &policy
		require.NoError(w.t, w.Update(w.t.Context(), c))
	}
}

// A slow webhook fails a request at its timeout, with the failurePolicy Fail. With Ignore the
// request goes on without it. The time is virtual.
func TestSlowWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withWebhooksInMemory(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(time.Minute):
					next.ServeHTTP(rw, r)
				case <-r.Context().Done():
				}
			})
		})
		took := func(do func()) time.Duration {
			begin := time.Now()
			do()
			return time.Since(begin)
		}
		require.Equal(t, 10*time.Second, took(func() {
			err := w.Create(t.Context(), w.site("web"))
			require.True(t, apierrors.IsInternalError(err), "%v", err)
			require.ErrorContains(t, err, `failed calling webhook "msite-v1.kb.io": failed to call webhook: Post "https://`)
			require.ErrorContains(t, err, `/mutate-hosting-example-com-v1-site?timeout=10s": context deadline exceeded`)
		}))
		w.setFailurePolicy(admissionregistrationv1.Ignore)
		var site client.Object
		require.Equal(t, 20*time.Second, took(func() { site = w.create("web") }))
		require.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(site), site))
		require.EqualError(t, w.Create(t.Context(), w.site("web")), `sites.hosting.example.com "web" already exists`)
	})
}

// The webhook of an operator that is starting serves before the operator writes its own objects.
func TestOperatorWithOwnWebhooksStarts(t *testing.T) {
	w := newWebhookEnv(t, server.Start(t))
	mgr := w.manageWebhooks(w.webhookServer())
	require.NoError(t, mgr.Add(w.createsAtStart(mgr, "home")))
	w.runInBackground(mgr.Start)
	home := w.site("home")
	w.requireStatus(home, metav1.ConditionFalse, "0 of 1 pods are ready")
	require.Equal(t, []string{"home.sites.example.com"}, home.Spec.Hosts)
}

// An operator whose webhooks are down cannot write the objects that they guard, with the
// failurePolicy Fail. With Ignore it starts.
func TestOperatorWithoutOwnWebhooks(t *testing.T) {
	start := func(t *testing.T, policy admissionregistrationv1.FailurePolicyType) (w *webhookEnv, mgr ctrl.Manager) {
		w = newWebhookEnv(t, server.Start(t))
		w.setFailurePolicy(policy)
		mgr = w.manageWebhooks(webhook.NewServer(webhook.Options{Port: -1}))
		require.NoError(t, mgr.Add(w.createsAtStart(mgr, "home")))
		return w, mgr
	}
	t.Run("Fail", func(t *testing.T) {
		w, mgr := start(t, admissionregistrationv1.Fail)
		err := mgr.Start(t.Context())
		require.ErrorContains(t, err, `Internal error occurred: failed calling webhook "msite-v1.kb.io": failed to call webhook: Post "https://`)
		require.ErrorContains(t, err, "connect: connection refused")
		require.NoError(t, w.checkNotFound(t.Context(), w.site("home")))
	})
	t.Run("Ignore", func(t *testing.T) {
		w, mgr := start(t, admissionregistrationv1.Ignore)
		w.runInBackground(mgr.Start)
		home := w.site("home")
		w.requireStatus(home, metav1.ConditionFalse, "0 of 1 pods are ready")
		require.Empty(t, home.Spec.Hosts)
	})
}

// createsAtStart returns what a manager runs at its start: it creates a site.
func (w *webhookEnv) createsAtStart(mgr ctrl.Manager, name string) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error { return mgr.GetClient().Create(ctx, w.site(name)) })
}
