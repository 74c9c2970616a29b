package operator_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	kcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
	hostingv1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

func codecs(scheme *runtime.Scheme) runtime.NegotiatedSerializer {
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

func paid(s *hostingv1.Site) { s.Spec.Tier = hostingv1.TierPaid }

// A list can be selected by the selectable fields of the CRD, and by no other fields of the spec.
func TestSelectableFields(t *testing.T) {
	b := withSites(t)
	b.create("free")
	b.create("paid", paid)
	names := func(selected client.ListOption) []string {
		var sites hostingv1.SiteList
		require.NoError(t, b.List(t.Context(), &sites, client.InNamespace(b.namespace), selected))
		var names []string
		for _, s := range sites.Items {
			names = append(names, s.Name)
		}
		return names
	}
	require.Equal(t, []string{"paid"}, names(client.MatchingFields{"spec.tier": "Paid"}))
	require.Equal(t, []string{"free"}, names(client.MatchingFieldsSelector{Selector: fields.ParseSelectorOrDie("spec.tier!=Paid")}))
	require.Equal(t, []string{"free", "paid"}, names(client.MatchingFields{"status.phase": ""}))
	require.Equal(t, []string{"free"}, names(client.MatchingFields{"metadata.name": "free"}))
	err := b.List(t.Context(), &hostingv1.SiteList{}, client.MatchingFields{"spec.image": "x"})
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	require.ErrorContains(t, err, "field label not supported: spec.image")
}

// A cache with a field selector adds sites that start to match and removes those that no longer
// match.
func TestCacheSelectsByField(t *testing.T) {
	b := withSites(t)
	b.create("a", paid)
	site := b.create("b")
	c, err := cache.New(b.config, cache.Options{Scheme: b.scheme, ByObject: map[client.Object]cache.ByObject{
		&hostingv1.Site{}: {Field: fields.ParseSelectorOrDie("spec.tier=Paid"), Namespaces: map[string]cache.Config{b.namespace: {}}},
	}})
	require.NoError(t, err)
	b.runInBackground(c.Start)
	has := func(want ...string) {
		t.Helper()
		poll.UntilNoError(t, func(ctx context.Context) error {
			var sites hostingv1.SiteList
			if err := c.List(ctx, &sites); err != nil {
				return err
			}
			var names []string
			for _, s := range sites.Items {
				names = append(names, s.Name)
			}
			slices.Sort(names)
			if !slices.Equal(names, want) {
				return errors.New("the cache does not have the expected sites")
			}
			return nil
		})
	}
	has("a")
	before := site.DeepCopy()
	paid(site)
	require.NoError(t, b.Patch(t.Context(), site, client.MergeFrom(before)))
	has("a", "b")
	require.NoError(t, b.Delete(t.Context(), b.site("a")))
	has("b")
	before = site.DeepCopy()
	site.Spec.Tier = hostingv1.TierFree
	require.NoError(t, b.Patch(t.Context(), site, client.MergeFrom(before)))
	has()
}

// runInBackground runs start in a goroutine until the test ends.
func (b *testEnv) runInBackground(start func(context.Context) error) {
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- start(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		require.NoError(b.t, <-ended)
	})
}

// informerEvents returns a channel with the event type and the name of the site for each event of
// an informer.
func informerEvents(t *testing.T, informer kcache.SharedIndexInformer) <-chan string {
	t.Helper()
	events := make(chan string, 100)
	tell := func(what string, o any) {
		name, err := kcache.DeletionHandlingObjectToName(o)
		if err != nil {
			what += err.Error()
		}
		events <- what + " " + name.Name
	}
	_, err := informer.AddEventHandler(kcache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell("added", o) },
		UpdateFunc: func(_, o any) { tell("updated", o) },
		DeleteFunc: func(o any) { tell("deleted", o) },
	})
	require.NoError(t, err)
	return events
}

// TestDynamicInformer uses the dynamic client and its informers.
func TestDynamicInformer(t *testing.T) {
	b := withSites(t)
	b.create("old")
	c, err := dynamic.NewForConfig(b.config)
	require.NoError(t, err)
	informer := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c, 0, b.namespace, nil).ForResource(sitesV1)
	events := informerEvents(t, informer.Informer())
	b.runInBackground(func(ctx context.Context) error { informer.Informer().RunWithContext(ctx); return nil })
	require.Equal(t, "added old", <-events)

	site := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": "example.com/web:1"}}}
	site.SetGroupVersionKind(hostingv1.GroupVersion.WithKind("Site"))
	site.SetName("new")
	sites := c.Resource(sitesV1).Namespace(b.namespace)
	created, err := sites.Create(t.Context(), site, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "added new", <-events)
	require.NoError(t, unstructured.SetNestedField(created.Object, "Ready", "status", "phase"))
	_, err = sites.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, "updated new", <-events)
	require.NoError(t, sites.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.tier=Free"}))
	require.ElementsMatch(t, []string{"deleted new", "deleted old"}, []string{<-events, <-events})
}

// Informers of metadata receive only the metadata of objects.
func TestMetadataInformer(t *testing.T) {
	b := withSites(t)
	site := b.create("web")
	c, err := metadata.NewForConfig(b.config)
	require.NoError(t, err)
	informer := metadatainformer.NewFilteredSharedInformerFactory(c, 0, b.namespace, nil).ForResource(sitesV1)
	events := informerEvents(t, informer.Informer())
	b.runInBackground(func(ctx context.Context) error { informer.Informer().RunWithContext(ctx); return nil })
	require.Equal(t, "added web", <-events)
	o, err := informer.Lister().ByNamespace(b.namespace).Get("web")
	require.NoError(t, err)
	meta, ok := o.(*metav1.PartialObjectMetadata)
	require.True(t, ok, "%T", o)
	require.Equal(t, site.UID, meta.UID)
	require.NoError(t, b.Delete(t.Context(), site))
	require.Equal(t, "deleted web", <-events)
}
