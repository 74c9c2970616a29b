package fakeapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/dev/verify/harness"
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "x"}},
		Data:       map[string]string{"k": value},
	}
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// handlerLog records the calls of an informer's event handlers.
type handlerLog struct {
	mu     sync.Mutex
	events []string
}

func (s *handlerLog) add(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
}

func (s *handlerLog) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

func (s *handlerLog) handlers() cache.ResourceEventHandlerFuncs {
	name := func(obj any) string {
		if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = deleted.Obj
		}
		cm := obj.(*corev1.ConfigMap)
		return cm.Name + "=" + cm.Data["k"]
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { s.add("add " + name(obj)) },
		UpdateFunc: func(_, obj any) { s.add("update " + name(obj)) },
		DeleteFunc: func(obj any) { s.add("delete " + name(obj)) },
	}
}

// startInformer runs a shared informer for the ConfigMaps of a namespace.
func startInformer(t *testing.T, config *rest.Config, s *handlerLog) cache.SharedIndexInformer {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(s.handlers())
	require.NoError(t, err)
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown) // the context of the test has ended by then
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	return informer
}

// cachedVersions returns the resourceVersion of each object in the store of an informer, by name.
func cachedVersions(informer cache.SharedIndexInformer) map[string]string {
	m := map[string]string{}
	for _, obj := range informer.GetStore().List() {
		cm := obj.(*corev1.ConfigMap)
		m[cm.Name] = cm.ResourceVersion
	}
	return m
}

// serverVersions returns the resourceVersion of each ConfigMap of the server, by name.
func serverVersions(t *testing.T, client kubernetes.Interface) map[string]string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	m := map[string]string{}
	for _, cm := range list.Items {
		m[cm.Name] = cm.ResourceVersion
	}
	return m
}

func TestInformerSeesChanges(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(configMap("old", "0")))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	var s handlerLog
	informer := startInformer(t, srv.RESTConfig(), &s)
	ctx := t.Context()
	maps := client.CoreV1().ConfigMaps("default")

	created, err := maps.Create(ctx, configMap("new", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	created.Data["k"] = "2"
	_, err = maps.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = maps.Patch(ctx, "old", types.MergePatchType, []byte(`{"data":{"k":"3"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(ctx, "new", metav1.DeleteOptions{}))

	want := []string{"add old=0", "add new=1", "update new=2", "update old=3", "delete new=2"}
	require.Eventually(t, func() bool { return len(s.all()) == len(want) }, time.Minute, time.Millisecond)
	require.Equal(t, want, s.all())
	require.Equal(t, serverVersions(t, client), cachedVersions(informer))
}

// An informer is equal to the store after ten minutes without a connection in which the history
// that it would resume from was forgotten.
func TestInformerAfterOutageAndForgottenHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("stays", "0"), configMap("goes", "0")))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		config := srv.RESTConfig()
		network := harness.NewNetwork(config)
		var s handlerLog
		informer := startInformer(t, config, &s)
		ctx := t.Context()
		maps := client.CoreV1().ConfigMaps("default")

		network.Disconnect()
		require.NoError(t, maps.Delete(ctx, "goes", metav1.DeleteOptions{}))
		for i := range 10 {
			_, err := maps.Create(ctx, configMap("new-"+strconv.Itoa(i), "1"), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		time.Sleep(10 * time.Minute)
		srv.ForgetHistory()
		network.Restore()
		time.Sleep(time.Minute) // longer than the maximum back-off of a reflector

		synctest.Wait()
		require.Len(t, cachedVersions(informer), 11)
		require.Equal(t, serverVersions(t, client), cachedVersions(informer))
		require.Contains(t, s.all(), "delete goes=0")
	})
}

// An informer whose connections break resumes from its last resourceVersion and misses no event.
func TestInformerResumesAfterDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		config := srv.RESTConfig()
		network := harness.NewNetwork(config)
		var lists atomic.Int32
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Has("sendInitialEvents") || !r.URL.Query().Has("watch") {
					lists.Add(1)
				}
				return next.RoundTrip(r)
			})
		})
		var s handlerLog
		informer := startInformer(t, config, &s)
		for i := range 20 {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("n"+strconv.Itoa(i), "1"), metav1.CreateOptions{})
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			network.BreakConnections()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		adds := map[string]int{}
		for _, event := range s.all() {
			verb, name, _ := strings.Cut(event, " ")
			require.NotEqual(t, "delete", verb)
			if verb == "add" {
				adds[name]++
			}
		}
		require.Len(t, adds, 20)
		require.EqualValues(t, 1, lists.Load(), "number of lists")
		for name, n := range adds {
			require.Equal(t, 1, n, name)
		}
		require.Equal(t, serverVersions(t, client), cachedVersions(informer))
	})
}
