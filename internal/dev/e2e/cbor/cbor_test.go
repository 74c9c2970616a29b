// Package cbor_test runs client-go with its feature gates for CBOR against the server. The gates
// apply to the whole process, so the package has no other tests.
package cbor_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// mediaCounter counts the media types of requests and responses.
type mediaCounter struct {
	mu   sync.Mutex
	sent map[string]int
}

func (w *mediaCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent["> "+r.Header.Get("Content-Type")]++
		if err == nil {
			w.sent["< "+resp.Header.Get("Content-Type")]++
		}
		return resp, err
	})
}

func (w *mediaCounter) requests(media string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[media]
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// start starts a server and returns a config that prefers CBOR and the counter of its media types.
func start(t *testing.T, opts ...fakeapi.Option) (*rest.Config, *mediaCounter) {
	t.Helper()
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)
	config := fakeapi.Start(t, opts...).RESTConfig()
	config.ContentType, config.AcceptContentTypes = "", "application/cbor;q=1,application/json;q=0.9"
	w := &mediaCounter{sent: map[string]int{}}
	config.Wrap(w.wrap)
	return config, w
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"k": value}}
}

// TestTypedClient uses the typed client, its apply and its informer, which starts with a streaming
// list.
func TestTypedClient(t *testing.T) {
	config, counter := start(t, fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(configMap("old", "1")))
	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps("default")
	ctx := t.Context()
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	old, err := lister.ConfigMaps("default").Get("old")
	require.NoError(t, err)
	require.Equal(t, "1", old.Data["k"])

	created, err := maps.Create(ctx, configMap("new", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	created.Data["k"] = "2"
	updated, err := maps.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Len(t, updated.ManagedFields, 1)
	require.JSONEq(t, `{"f:data":{".":{},"f:k":{}}}`, string(updated.ManagedFields[0].FieldsV1.GetRawBytes()))
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("new", "default").WithData(map[string]string{"more": "3"}), metav1.ApplyOptions{FieldManager: "test"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "2", "more": "3"}, applied.Data)
	require.Eventually(t, func() bool {
		seen, err := lister.ConfigMaps("default").Get("new")
		return err == nil && seen.ResourceVersion == applied.ResourceVersion
	}, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, maps.Delete(ctx, "new", metav1.DeleteOptions{}))
	_, err = maps.Get(ctx, "new", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	for _, media := range []string{"> application/cbor", "> application/apply-patch+cbor", "< application/cbor", "< application/cbor-seq"} {
		require.NotZero(t, counter.requests(media), media)
	}
	require.Zero(t, counter.requests("< application/json"))
}

// TestDynamicClient uses the dynamic client and its informer.
func TestDynamicClient(t *testing.T) {
	config, counter := start(t, fakeapi.WithFeature(fakeapi.CBOR, true), fakeapi.WithObjects(configMap("old", "1")))
	client := dynamic.NewForConfigOrDie(config)
	ctx := t.Context()
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(configMaps)
	factory.Start(ctx.Done())
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced))
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "new"}, "data": map[string]any{"k": "1"},
	}}
	maps := client.Resource(configMaps).Namespace("default")
	applied, err := maps.Apply(ctx, "new", obj, metav1.ApplyOptions{FieldManager: "test"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		seen, err := informer.Lister().ByNamespace("default").Get("new")
		return err == nil && seen.(*unstructured.Unstructured).GetResourceVersion() == applied.GetResourceVersion()
	}, 2*time.Minute, 5*time.Millisecond)
	list, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	require.NotEmpty(t, list.GetContinue())
	require.NotZero(t, counter.requests("< application/cbor-seq"))
	require.NotZero(t, counter.requests("> application/apply-patch+cbor"))
	require.Zero(t, counter.requests("< application/json"))
}

// On a server without CBOR the same clients fall back to JSON after the response to the first write
// (CB-04).
func TestFallback(t *testing.T) {
	config, counter := start(t)
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), configMap("new", "1"), metav1.CreateOptions{})
	require.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
	require.True(t, strings.Contains(err.Error(), "accepted media types include: application/json"))
	_, err = maps.Create(t.Context(), configMap("new", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Zero(t, counter.requests("< application/cbor"))
}
