package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// The spec and the status are written separately, and only changes of the spec increase the
// generation.
func TestStatusIsASubresource(t *testing.T) {
	b := withSites(t)
	site := b.create("web", func(s *hostingv1.Site) { s.Status.Phase = hostingv1.PhaseReady })
	require.Empty(t, site.Status, "a new site has no status")

	site.Status.Phase, site.Status.ReadyReplicas = hostingv1.PhasePending, 1
	site.Spec.Replicas = new(int32(4))
	require.NoError(t, b.Status().Update(t.Context(), site))
	require.EqualValues(t, 1, site.Generation)
	require.EqualValues(t, 1, *site.Spec.Replicas, "an update of the status does not change the spec")
	require.Equal(t, hostingv1.SiteStatus{Phase: hostingv1.PhasePending, ReadyReplicas: 1}, site.Status)

	site.Status.Phase = hostingv1.PhaseReady
	site.Spec.Replicas = new(int32(4))
	require.NoError(t, b.Update(t.Context(), site))
	require.EqualValues(t, 2, site.Generation)
	require.EqualValues(t, 4, *site.Spec.Replicas)
	require.Equal(t, hostingv1.PhasePending, site.Status.Phase, "an update of the spec does not change the status")

	before := site.DeepCopy()
	site.Labels = map[string]string{"a": "b"}
	require.NoError(t, b.Patch(t.Context(), site, client.MergeFrom(before)))
	require.EqualValues(t, 2, site.Generation, "labels do not change the generation")

	site.Status.Phase = "Lost"
	err := b.Status().Update(t.Context(), site)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, `status.phase: Unsupported value: "Lost": supported values: "Pending", "Ready"`)
}

// An update with an old resourceVersion of a custom resource fails with a conflict.
func TestUpdateOfAnOldVersionConflicts(t *testing.T) {
	b := withSites(t)
	site := b.create("web")
	old := site.DeepCopy()
	site.Spec.Image = "example.com/web:2"
	require.NoError(t, b.Update(t.Context(), site))
	old.Spec.Image = "example.com/web:3"
	require.True(t, apierrors.IsConflict(b.Update(t.Context(), old)))
	old.Status.Phase = hostingv1.PhaseReady
	require.True(t, apierrors.IsConflict(b.Status().Update(t.Context(), old)))
}

// The scale subresource uses the paths that the CRD declares.
func TestScaleOfTheClient(t *testing.T) {
	b := withSites(t)
	site := b.create("web")
	site.Status.ReadyReplicas, site.Status.Selector = 1, "app=web"
	require.NoError(t, b.Status().Update(t.Context(), site))

	var now autoscalingv1.Scale
	require.NoError(t, b.SubResource("scale").Get(t.Context(), site, &now))
	require.EqualValues(t, 1, now.Spec.Replicas)
	require.Equal(t, autoscalingv1.ScaleStatus{Replicas: 1, Selector: "app=web"}, now.Status)
	require.Equal(t, site.UID, now.UID)
	require.Equal(t, site.ResourceVersion, now.ResourceVersion)

	now.Spec.Replicas = 3
	require.NoError(t, b.SubResource("scale").Update(t.Context(), site, client.WithSubResourceBody(&now)))
	require.NoError(t, b.Get(t.Context(), client.ObjectKeyFromObject(site), site))
	require.EqualValues(t, 3, *site.Spec.Replicas)
	require.EqualValues(t, 2, site.Generation)

	now.Spec.Replicas = 11
	now.ResourceVersion = ""
	err := b.SubResource("scale").Update(t.Context(), site, client.WithSubResourceBody(&now))
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "tier Free has 10 replicas at most")
}

// The scale client of an autoscaler has no types. It finds the kind of the scale subresource by
// discovery.
func TestScaleByAutoscaler(t *testing.T) {
	b := withSites(t)
	b.create("web")
	documents, err := discovery.NewDiscoveryClientForConfig(b.config)
	require.NoError(t, err)
	scales, err := scale.NewForConfig(b.config, b.RESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(documents))
	require.NoError(t, err)
	resource := sitesV1.GroupResource()

	now, err := scales.Scales(b.namespace).Get(t.Context(), resource, "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, now.Spec.Replicas)
	now.Spec.Replicas = 2
	now, err = scales.Scales(b.namespace).Update(t.Context(), resource, now, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2, now.Spec.Replicas)
	now, err = scales.Scales(b.namespace).Patch(t.Context(), sitesV1, "web", "application/merge-patch+json", []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 5, now.Spec.Replicas)
}

// A REST client for one group and version with its own types and codec needs no discovery.
func TestRESTClientOfTheGroup(t *testing.T) {
	b := withSites(t)
	b.create("web")
	config := rest.CopyConfig(b.config)
	config.GroupVersion, config.APIPath = &hostingv1.GroupVersion, "/apis"
	config.NegotiatedSerializer = codecs(b.scheme)
	c, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	var sites hostingv1.SiteList
	require.NoError(t, c.Get().Namespace(b.namespace).Resource("sites").Do(t.Context()).Into(&sites))
	require.Len(t, sites.Items, 1)
	var site hostingv1.Site
	require.NoError(t, c.Patch("application/merge-patch+json").Namespace(b.namespace).Resource("sites").Name("web").
		Body([]byte(`{"spec":{"tier":"Paid"}}`)).Do(t.Context()).Into(&site))
	require.Equal(t, hostingv1.TierPaid, site.Spec.Tier)
	err = c.Patch("application/strategic-merge-patch+json").Namespace(b.namespace).Resource("sites").Name("web").
		Body([]byte(`{"spec":{"tier":"Free"}}`)).Do(t.Context()).Error()
	require.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
}
