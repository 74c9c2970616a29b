package conversion

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fakeapi/fake/internal/webhookclient"
)

func TestNone(t *testing.T) {
	for name, crd := range map[string]*apiextensionsv1.CustomResourceDefinition{
		"named": newCRD(nil),
		"left out": func() *apiextensionsv1.CustomResourceDefinition {
			crd := newCRD(nil)
			crd.Spec.Conversion = nil
			return crd
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			c := newConverter(t, crd, nil, nil)
			old, unchanged := newWidget(v1, "a"), newWidget(v2, "b")
			got, err := c.Convert(t.Context(), []*unstructured.Unstructured{old, unchanged}, "v2")
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(newWidget(v2, "a"), got[0]))
			require.Same(t, unchanged, got[1])
			require.Empty(t, cmp.Diff(newWidget(v1, "a"), old), "the argument is unchanged")
			got[0].Object["spec"].(map[string]any)["size"] = int64(9)
			require.Empty(t, cmp.Diff(newWidget(v1, "a"), old), "the result shares no memory")
		})
	}
}

func TestUnknownVersions(t *testing.T) {
	c := newConverter(t, newCRD(nil), nil, nil)
	for _, test := range []struct{ from, to, message string }{
		{v1, "v3", "request to convert CR to an invalid group/version: example.com/v3"},
		{"example.com/v3", "v1", "request to convert CR from an invalid group/version: example.com/v3"},
		{"other.com/v1", "v1", `other.com/v1, Kind=Widget is unstructured and is not suitable for converting to "example.com/v1"`},
	} {
		_, err := convertOne(t, c, newWidget(test.from, "a"), test.to)
		require.EqualError(t, err, test.message)
	}
	_, err := convertOne(t, c, nil, "v1")
	require.EqualError(t, err, "conversion to example.com/v1: object 0 is nil")
	_, err = convertOne(t, c, &unstructured.Unstructured{}, "v1")
	require.Error(t, err)
}

func TestNewErrors(t *testing.T) {
	for name, test := range map[string]struct {
		crd     *apiextensionsv1.CustomResourceDefinition
		message string
	}{
		"nil":      {nil, "the CustomResourceDefinition is nil"},
		"strategy": {withStrategy("Magic"), `unknown conversion strategy "Magic" for CRD widgets.example.com`},
		"no webhook": {withStrategy(apiextensionsv1.WebhookConverter),
			"conversion of widgets.example.com: the strategy is Webhook, and spec.conversion.webhook.clientConfig is missing"},
		"no address": {newCRD(&apiextensionsv1.WebhookClientConfig{}), "webhook configuration must have either service or URL"},
		"no url":     {newCRD(&apiextensionsv1.WebhookClientConfig{URL: new("https://a b")}), "Unparsable URL"},
		"caBundle": {newCRD(&apiextensionsv1.WebhookClientConfig{URL: new(hookURL), CABundle: []byte("x")}),
			"unable to load root certificates"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.crd, webhookclient.Network{})
			require.ErrorContains(t, err, test.message)
		})
	}
}

func withStrategy(strategy apiextensionsv1.ConversionStrategyType) *apiextensionsv1.CustomResourceDefinition {
	crd := newCRD(nil)
	crd.Spec.Conversion.Strategy = strategy
	return crd
}

// The request is that of a real server, over HTTP/2 on loopback.
func TestWebhook(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			var calls atomic.Int64
			client, _ := startOnLoopback(t, newWebhook(&calls, func(r review) {
				if r["apiVersion"] != "apiextensions.k8s.io/"+version {
					t.Errorf("the review has version %v", r["apiVersion"])
				}
				r.metadata()["labels"] = map[string]any{"new": "label"}
				r.metadata()["annotations"] = map[string]any{"new": "annotation"}
				r.metadata()["resourceVersion"] = "99"
				r.metadata()["finalizers"] = []any{"a/b"}
			}))
			crd := newCRD(client, "v7", version)
			c := newConverter(t, crd, nil, nil)
			old, unchanged, second := newWidget(v1, "a"), newWidget(v2, "b"), newWidget(v1, "c")
			got, err := c.Convert(t.Context(), []*unstructured.Unstructured{old, unchanged, second}, "v2")
			require.NoError(t, err)
			require.Same(t, unchanged, got[1])
			require.EqualValues(t, 2, calls.Load(), "one call for each object of another version")
			want := newWidget(v2, "a")
			maps.Copy(want.Object["metadata"].(map[string]any), map[string]any{
				"labels": map[string]any{"new": "label"}, "annotations": map[string]any{"new": "annotation"},
			})
			want.Object["spec"] = map[string]any{"size": int64(3), "was": v1}
			require.Empty(t, cmp.Diff(want, got[0]), "only labels and annotations of the metadata may change")
			require.Equal(t, "c", got[2].GetName())
			require.Empty(t, cmp.Diff(newWidget(v1, "a"), old), "the argument is unchanged")
		})
	}
}

// An object with nothing but apiVersion and kind is converted without a call, as on a real server.
func TestNoCallWithoutContent(t *testing.T) {
	client, dial := startInMemory(t, newWebhook(nil, func(review) { t.Error("called") }))
	c := newConverter(t, newCRD(client), dial, nil)
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": v1, "kind": "Widget"}}
	got, err := convertOne(t, c, empty, "v2")
	require.NoError(t, err)
	require.Equal(t, v2, got.GetAPIVersion())
	none, err := c.Convert(t.Context(), nil, "v2")
	require.NoError(t, err)
	require.Empty(t, none)
}

// An error ends the conversion, and so does a context that is done.
func TestConvertStopsAtFailure(t *testing.T) {
	var calls atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	client, dial := startInMemory(t, newWebhook(&calls, func(r review) {
		switch r.metadata()["name"] {
		case "bad":
			r.response()["result"] = map[string]any{"status": "Failure", "message": "invalid object"}
		case "last":
			cancel()
		}
	}))
	c := newConverter(t, newCRD(client), dial, nil)
	got, err := c.Convert(ctx, []*unstructured.Unstructured{newWidget(v1, "a"), newWidget(v1, "bad"), newWidget(v1, "c")}, "v2")
	require.EqualError(t, err, "conversion webhook for example.com/v1, Kind=Widget failed: invalid object")
	require.Nil(t, got)
	require.EqualValues(t, 2, calls.Load())

	got, err = c.Convert(ctx, []*unstructured.Unstructured{newWidget(v1, "last"), newWidget(v1, "never")}, "v2")
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, got)
	require.EqualValues(t, 3, calls.Load())
}

func TestConcurrentUse(t *testing.T) {
	client, dial := startInMemory(t, newWebhook(nil, nil))
	c := newConverter(t, newCRD(client), dial, nil)
	shared := newWidget(v1, "shared")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				got, err := c.Convert(t.Context(), []*unstructured.Unstructured{shared}, "v2")
				if err != nil || got[0].GetAPIVersion() != v2 {
					t.Errorf("%v %v", got, err)
				}
			}
		})
	}
	group.Wait()
	require.Empty(t, cmp.Diff(newWidget(v1, "shared"), shared))
}
