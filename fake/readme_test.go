package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// TestNamespacesAreListed is the first test in the README.
func TestNamespacesAreListed(t *testing.T) {
	srv := fakeapi.Start(t)
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().Namespaces().Informer()
	go informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	if n := len(informer.GetStore().ListKeys()); n != 4 {
		t.Fatalf("%d namespaces", n)
	}
}

// The presets of the README, one line each.
func TestReadmeCacheAndReplicaCalls(t *testing.T) {
	srv := fakeapi.Start(t)
	srv.Faults().Add(faults.Expire410())           // watches that resume end with 410 Gone
	srv.Faults().Add(faults.Retry504(time.Second)) // gets and lists: 504, ResourceVersionTooLarge, Retry-After
	srv.Faults().Add(faults.DropBookmarks())       // bookmarks never arrive
	srv.Faults().Add(faults.ExpireContinue())      // every second page: 410 Expired
	require.Len(t, srv.Faults().Rules(), 4)

	w, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	defer w.Stop()
	require.Equal(t, watch.Error, (<-w.ResultChan()).Type)
}

func TestReadmeCredentials(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(fakeapi.Token{Value: "s3cret", User: "ann", ExpiresIn: 10 * time.Minute}))
	err := srv.ExpireToken("s3cret") // or now: 401 from here on, watches go on
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
}

// startMyController runs an informer for Namespaces, as controllers do.
func startMyController(t *testing.T, config *rest.Config) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	factory.Core().V1().Namespaces().Informer()
	factory.StartWithContext(t.Context())
	t.Cleanup(factory.Shutdown) // the context of the test has ended by then
}

func TestReadmeVirtualTime(t *testing.T) {
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		startMyController(t, srv.RESTConfig())
		time.Sleep(10 * time.Minute)
		srv.ForgetHistory()
		require.NotEmpty(t, srv.Timeline().Exchanges)
	})
	require.Less(t, time.Since(start), 5*time.Minute)
}

// With the rule of the README the object is stored, and the client receives no response.
func TestLostReply(t *testing.T) {
	rule, err := faults.Parse(`lost-reply: when during(committed) && verb(create) && resource(pods) && first(1) do reset`)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithFaults(rule))
	pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
	_, err = pods.Create(t.Context(), newPod("p"), metav1.CreateOptions{})
	require.Error(t, err)
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, srv.Faults().Hits(), 1)
}
