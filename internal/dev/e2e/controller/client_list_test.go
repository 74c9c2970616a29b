package controller_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fakeapi "example.com/fakeapi/fake"
)

func TestClientListSelects(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	elsewhere := configMap("web", map[string]string{"tier": "web"})
	elsewhere.Namespace = "other"
	require.NoError(t, srv.Load(
		configMap("bare", nil),
		configMap("db", map[string]string{"tier": "db"}),
		configMap("web", map[string]string{"tier": "web"}),
		elsewhere,
	))
	notWeb, err := labels.Parse("tier,tier notin (web)")
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		opts []client.ListOption
		want []string
	}{
		"by label":              {[]client.ListOption{client.MatchingLabels{"tier": "web"}}, []string{"web", "web"}},
		"by label in namespace": {[]client.ListOption{client.InNamespace("other"), client.MatchingLabels{"tier": "web"}}, []string{"web"}},
		"by presence":           {[]client.ListOption{client.InNamespace("default"), client.HasLabels{"tier"}}, []string{"db", "web"}},
		"by expression":         {[]client.ListOption{client.MatchingLabelsSelector{Selector: notWeb}}, []string{"db"}},
		"by name":               {[]client.ListOption{client.MatchingFields{"metadata.name": "bare"}}, []string{"bare"}},
		"by both":               {[]client.ListOption{client.MatchingFields{"metadata.namespace": "other"}, client.HasLabels{"tier"}}, []string{"web"}},
		"nothing":               {[]client.ListOption{client.MatchingLabels{"tier": "cache"}}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			var list corev1.ConfigMapList
			require.NoError(t, c.List(t.Context(), &list, tt.opts...))
			require.Equal(t, tt.want, names(&list))
		})
	}

	var list corev1.ConfigMapList
	err = c.List(t.Context(), &list, client.MatchingFields{"data.colour": "blue"})
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	require.EqualError(t, err, `"data.colour" is not a known field selector: only "metadata.name", "metadata.namespace"`)
}

func TestClientListInPagesIsConsistent(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	for i := range 5 {
		require.NoError(t, c.Create(t.Context(), configMap(fmt.Sprintf("c%d", i), nil)))
	}

	var page corev1.ConfigMapList
	require.NoError(t, c.List(t.Context(), &page, client.InNamespace("default"), client.Limit(2)))
	require.Equal(t, []string{"c0", "c1"}, names(&page))
	require.EqualValues(t, 3, *page.RemainingItemCount)
	version := page.ResourceVersion

	// An object created between two pages is not in the second page.
	require.NoError(t, c.Create(t.Context(), configMap("c2a", nil)))
	require.NoError(t, c.Delete(t.Context(), configMap("c3", nil)))

	rest := []string{}
	for page.Continue != "" {
		next := client.Continue(page.Continue)
		page = corev1.ConfigMapList{}
		require.NoError(t, c.List(t.Context(), &page, client.InNamespace("default"), client.Limit(2), next))
		require.Equal(t, version, page.ResourceVersion)
		rest = append(rest, names(&page)...)
	}
	require.Equal(t, []string{"c2", "c3", "c4"}, rest)
}

func TestClientListContinuedTooLateExpires(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	require.NoError(t, srv.Load(configMap("a", nil), configMap("b", nil)))
	var page corev1.ConfigMapList
	require.NoError(t, c.List(t.Context(), &page, client.InNamespace("default"), client.Limit(1)))
	require.NoError(t, c.Delete(t.Context(), configMap("a", nil)))
	srv.Compact()

	err := c.List(t.Context(), &page, client.InNamespace("default"), client.Limit(1), client.Continue(page.Continue))
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestClientListsUnstructuredAndMetadataOnly(t *testing.T) {
	srv := fakeapi.Start(t)
	c := newClient(t, srv.RESTConfig())
	require.NoError(t, srv.Load(configMap("a", nil), configMap("b", nil)))

	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	require.NoError(t, c.List(t.Context(), untyped, client.InNamespace("default")))
	require.Equal(t, []string{"a", "b"}, names(untyped))
	require.Equal(t, "ConfigMap", untyped.Items[0].GetKind())

	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	require.NoError(t, c.List(t.Context(), partial, client.InNamespace("default")))
	require.Equal(t, []string{"a", "b"}, names(partial))
}
