package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
	hostingv1beta1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1beta1"
	hostingwebhook "example.com/fakeapi/internal/dev/e2e/operator/internal/webhook/v1"
)

const denial = `admission webhook "vsite-v1.kb.io" denied the request: `

// The whole life of a site, with the controller, the defaults and the validation of the operator.
func TestReconcileWithWebhooks(t *testing.T) {
	onBothNetworks(t, func(_ *testing.T, w *webhookEnv) { w.runSiteLifecycle() })
}

// The defaulting webhook changes sites after the defaults of the schema, in creates, updates and
// applies. Nobody is the manager of what it has set.
func TestDefaultingWebhook(t *testing.T) {
	onBothNetworks(t, func(t *testing.T, w *webhookEnv) {
		site := w.create("plain")
		require.Equal(t, []string{"plain.sites.example.com"}, site.Spec.Hosts)
		require.Equal(t, hostingv1.TierFree, site.Spec.Tier, "the default of the schema")
		for _, m := range site.ManagedFields {
			require.NotContains(t, m.FieldsV1.GetRawString(), "f:hosts", m.Manager)
		}

		before := site.DeepCopy()
		site.Spec.Hosts = append(site.Spec.Hosts, "WWW.example.com")
		require.NoError(t, w.Patch(t.Context(), site, client.MergeFrom(before)))
		require.Equal(t, []string{"plain.sites.example.com", "www.example.com"}, site.Spec.Hosts)

		applied := w.applied("applied", spec(map[string]any{"image": "example.com/web:1"}))
		require.NoError(t, w.Apply(t.Context(), applied, client.FieldOwner("me")))
		stored := w.site("applied")
		w.requireStatus(stored, metav1.ConditionFalse, "0 of 1 pods are ready")
		require.Equal(t, []string{"applied.sites.example.com"}, stored.Spec.Hosts)
		require.NoError(t, w.Apply(t.Context(), w.applied("applied", spec(map[string]any{"image": "example.com/web:1"})), client.FieldOwner("me")))
		again := w.site("applied")
		require.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(again), again))
		require.Equal(t, stored.Generation, again.Generation, "a repeated apply changes nothing")
	})
}

// A denial has the code, reason, message and causes of the webhook. Warnings reach the client.
func TestValidatingWebhook(t *testing.T) {
	onBothNetworks(t, func(t *testing.T, w *webhookEnv) {
		bad := w.site("bad")
		bad.Spec.Image = "example.com/web:latest"
		err := w.Create(t.Context(), bad)
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		require.EqualError(t, err, denial+`Site.hosting.example.com "bad" is invalid: spec.image: Invalid value: "example.com/web:latest": the tag latest can change`)
		require.True(t, apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid))
		require.NoError(t, w.checkNotFound(t.Context(), bad))

		var site *hostingv1.Site
		require.Equal(t, []string{"spec.image: an image without a tag can change"}, w.warnings.during(func() {
			site = w.create("web", func(s *hostingv1.Site) { s.Spec.Image = "example.com/web" })
		}))
		require.NoError(t, w.Create(t.Context(), w.site("free")))
		change := func(text string) error {
			return w.Patch(t.Context(), site, client.RawPatch("application/merge-patch+json", []byte(text)))
		}
		require.NoError(t, change(`{"metadata":{"annotations":{"`+hostingwebhook.ProtectedAnnotation+`":"true"}}}`))
		for what, err := range map[string]error{
			"update":           change(`{"spec":{"tier":"Paid"}}`),
			"delete":           w.Delete(t.Context(), w.site("web")),
			"deletecollection": w.DeleteAllOf(t.Context(), &hostingv1.Site{}, client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": "web"}),
		} {
			require.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
			require.EqualError(t, err, denial+"site web is protected", what)
		}
		require.Equal(t, []string{"the hosts of free become free"}, w.warnings.during(func() {
			require.NoError(t, w.Delete(t.Context(), w.site("free")))
		}))
	})
}

// The rules name sites but not their subresources.
func TestWebhooksIgnoreSubresources(t *testing.T) {
	onBothNetworks(t, func(t *testing.T, w *webhookEnv) {
		site := w.create("web", func(s *hostingv1.Site) {
			s.Annotations = map[string]string{hostingwebhook.ProtectedAnnotation: "true"}
			s.Finalizers = []string{"hosting.example.com/hosts"} // what the controller would add
		})
		w.requireStatus(site, metav1.ConditionFalse, "0 of 1 pods are ready")
		before := site.DeepCopy()
		site.Status.Conditions[0].Reason = "Changed"
		require.NoError(t, w.Status().Patch(t.Context(), site, client.MergeFrom(before)))
		scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
		require.EqualError(t, w.Patch(t.Context(), site.DeepCopy(), scale), denial+"site web is protected")
		require.NoError(t, w.SubResource("scale").Patch(t.Context(), site.DeepCopy(), scale))
		w.requireStatus(site, metav1.ConditionFalse, "0 of 2 pods are ready")
	})
}

// A webhook without side effects is asked about a dry run, which stores nothing.
func TestWebhooksOfDryRuns(t *testing.T) {
	onBothNetworks(t, func(t *testing.T, w *webhookEnv) {
		dry := client.NewDryRunClient(w.Client)
		site := w.site("web")
		require.NoError(t, dry.Create(t.Context(), site))
		require.Equal(t, []string{"web.sites.example.com"}, site.Spec.Hosts)
		bad := w.site("web")
		bad.Spec.Image = "example.com/web:latest"
		require.ErrorContains(t, dry.Create(t.Context(), bad), denial)
		require.NoError(t, w.checkNotFound(t.Context(), site))
	})
}

// The webhooks of v1 also decide about requests for v1beta1, in v1.
func TestWebhooksOfConvertedSites(t *testing.T) {
	onBothNetworks(t, func(t *testing.T, w *webhookEnv) {
		old := &hostingv1beta1.Site{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "old"},
			Spec:       hostingv1beta1.SiteSpec{Image: "example.com/web"},
		}
		texts := w.warnings.during(func() { require.NoError(t, w.Create(t.Context(), old)) })
		require.Equal(t, []string{
			"hosting.example.com/v1beta1 Site is deprecated; use v1", "spec.image: an image without a tag can change",
		}, texts)
		require.Equal(t, "old.sites.example.com", old.Spec.Host)
		before := old.DeepCopy()
		old.Spec.Image = "example.com/web:latest"
		require.ErrorContains(t, w.Patch(t.Context(), old, client.MergeFrom(before)), denial)
		require.NoError(t, w.Delete(t.Context(), before))
	})
}
