package fakeapi_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// startWithReplica returns a replica of a server with a ConfigMap, and clients of both.
func startWithReplica(t *testing.T) (replica *fakeapi.Replica, current, stale typedcorev1.ConfigMapInterface) {
	t.Helper()
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	maps := func(s *fakeapi.Server) typedcorev1.ConfigMapInterface {
		return kubernetes.NewForConfigOrDie(s.RESTConfig()).CoreV1().ConfigMaps("default")
	}
	return replica, maps(srv), maps(replica.Server)
}

func setValue(t *testing.T, client typedcorev1.ConfigMapInterface, value string) string {
	t.Helper()
	cm, err := client.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	return cm.ResourceVersion
}

func getValue(t *testing.T, client typedcorev1.ConfigMapInterface, resourceVersion string) string {
	t.Helper()
	cm, err := client.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: resourceVersion})
	require.NoError(t, err)
	list, err := client.List(t.Context(), metav1.ListOptions{ResourceVersion: resourceVersion})
	require.NoError(t, err)
	require.Equal(t, cm.Data["k"], list.Items[0].Data["k"])
	return cm.Data["k"]
}

// A frozen replica serves reads that may be stale from its old view and other reads from the store.
// Reads that require a newer view wait.
func TestFrozenReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replica, current, stale := startWithReplica(t)
		replica.Freeze()
		rev := setValue(t, current, "1")
		require.Equal(t, "0", getValue(t, stale, "0"))
		require.Equal(t, "1", getValue(t, stale, ""))
		require.Equal(t, "1", getValue(t, current, "0"))
		var stored corev1.ConfigMap
		require.NoError(t, replica.Get("default", "a", &stored))
		require.Equal(t, "1", stored.Data["k"], "Get reads the store")
		start := time.Now()
		_, err := stale.List(t.Context(), metav1.ListOptions{ResourceVersion: rev, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		require.NoError(t, err, "exact reads use the store")

		code, header, _ := send(t, replica.Server, "GET", "/api/v1/namespaces/default/configmaps/a?resourceVersion="+rev, "", nil)
		require.Equal(t, 504, code)
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Equal(t, 3*time.Second, time.Since(start))

		// A write through the replica is checked against the store.
		setValue(t, stale, "2")
		require.Equal(t, "0", getValue(t, stale, "0"))
		replica.CatchUp()
		require.Equal(t, "2", getValue(t, stale, "0"))
	})
}

// A watch of a frozen replica receives events once the view has caught up.
func TestWatchOnReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replica, current, stale := startWithReplica(t)
		replica.Freeze()
		w, err := stale.Watch(t.Context(), metav1.ListOptions{ResourceVersion: setValue(t, current, "1")})
		require.NoError(t, err)
		defer w.Stop()
		setValue(t, current, "2")
		time.Sleep(time.Hour / 2)
		requireNoEvent(t, w)
		replica.CatchUp()
		e := <-w.ResultChan()
		require.EqualValues(t, "MODIFIED", e.Type)
	})
}

// A replica has the store of its server and no options for it.
func TestReplicaSharesStore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	for _, opt := range []fakeapi.Option{fakeapi.WithLimits(fakeapi.Limits{HistoryAge: time.Hour}), fakeapi.WithLimits(fakeapi.Limits{HistoryBytes: 1}), fakeapi.WithLimits(fakeapi.Limits{StorageBytes: 1 << 20})} {
		_, err := srv.Replica(fakeapi.WithInMemoryNetwork(), opt)
		require.ErrorContains(t, err, "a replica has the store of its server")
	}
}

// A replica has the controllers of its server. Here there are none, so that a namespace deleted
// through it stays.
func TestReplicaSharesControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		client := kubernetes.NewForConfigOrDie(replica.RESTConfig()).CoreV1().Namespaces()
		require.NoError(t, client.Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
		ns, err := client.Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, corev1.NamespaceTerminating, ns.Status.Phase)

		require.NoError(t, replica.RunControllers(t.Context()))
		_, err = client.Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

// A replica has the configuration of its server, except for its own options.
func TestReplicaConfiguration(t *testing.T) {
	deny := func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: "denied"}}
	}
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithBookmarkInterval(7*time.Second), fakeapi.WithWatchTimeout(20*time.Second),
			fakeapi.WithFeature(fakeapi.WatchList, false), fakeapi.WithAdmission(fakeapi.Admission{Name: "never", Review: deny}))
		for want, opts := range map[time.Duration][]fakeapi.Option{7 * time.Second: nil, 9 * time.Second: {fakeapi.WithBookmarkInterval(9 * time.Second)}} {
			replica, err := srv.Replica(append(opts, fakeapi.WithInMemoryNetwork())...)
			require.NoError(t, err)
			client := kubernetes.NewForConfigOrDie(replica.RESTConfig()).CoreV1().ConfigMaps("default")
			_, err = client.Create(t.Context(), configMap("a", "0"), metav1.CreateOptions{})
			require.ErrorContains(t, err, "denied")

			start := time.Now()
			w, err := client.Watch(t.Context(), metav1.ListOptions{AllowWatchBookmarks: true})
			require.NoError(t, err)
			first := <-w.ResultChan() // without WatchList no bookmark ends the initial events
			require.EqualValues(t, "BOOKMARK", first.Type)
			require.Equal(t, want, time.Since(start))
			for range w.ResultChan() {
			}
			require.GreaterOrEqual(t, time.Since(start), 20*time.Second)
			require.LessOrEqual(t, time.Since(start), 40*time.Second)
		}
	})
}

// Fault rules, middleware and a wrong clock are those of one server, and the tokens of a fork are
// its own.
func TestReplicasAndForksInheritNoFaults(t *testing.T) {
	calls := 0
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(annToken),
		fakeapi.WithFaults(faults.Rule{Do: []faults.Effect{faults.Reply(faults.Expired())}}),
		fakeapi.WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				next.ServeHTTP(w, r)
			})
		}))
	srv.SkewClock(24 * time.Hour)
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	bob := fakeapi.Token{Value: "bob-1", User: "bob"}
	fork := srv.ForkFor(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithTokens(bob))
	for _, s := range []*fakeapi.Server{replica.Server, fork} {
		code, header, _ := send(t, s, "GET", "/api/v1/namespaces/default", "", nil)
		require.Equal(t, 200, code)
		date, err := http.ParseTime(header.Get("Date"))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), date, time.Hour)
	}
	require.Zero(t, calls)
	_, err = whoami(t, fork.RESTConfigWithToken(annToken.Value))
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	user, err := whoami(t, fork.RESTConfigWithToken(bob.Value))
	require.NoError(t, err)
	require.Equal(t, "bob", user.Username)
}

// The controllers run independently of the replicas.
func TestCloseReplicaKeepsControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithNamespaceDeletionDelay(0))
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		require.NoError(t, kubernetes.NewForConfigOrDie(replica.RESTConfig()).CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
		synctest.Wait()
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces()
		_, err = client.Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)

		require.NoError(t, replica.Close())
		_, err = client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Delete(t.Context(), "team", metav1.DeleteOptions{}))
		synctest.Wait()
		_, err = client.Get(t.Context(), "team", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

// A replica that is a number of changes behind shows a change once as many others follow it, or the
// history does not reach back that far. Requests for the change wait for it.
func TestLaggingReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replica, current, stale := startWithReplica(t)
		replica.Lag(2)
		for _, v := range []string{"1", "2", "3"} {
			setValue(t, current, v)
		}
		require.Equal(t, "1", getValue(t, stale, "0"))
		replica.Lag(1)
		require.Equal(t, "2", getValue(t, stale, "0"))
		fourth := setValue(t, current, "4")
		w, err := stale.Watch(t.Context(), metav1.ListOptions{ResourceVersion: fourth})
		require.NoError(t, err)
		defer w.Stop()
		start := time.Now()
		var writes sync.WaitGroup
		writes.Go(func() {
			for _, value := range []string{"5", "6"} {
				time.Sleep(time.Second)
				setValue(t, current, value)
			}
		})
		require.Equal(t, "4", getValue(t, stale, fourth))
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, "5", (<-w.ResultChan()).Object.(*corev1.ConfigMap).Data["k"])
		require.Equal(t, 2*time.Second, time.Since(start))
		writes.Wait()
		replica.Lag(100)
		_, err = stale.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: "0"})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		replica.ForgetHistory()
		require.Equal(t, "6", getValue(t, stale, "0"), "the oldest state of the history")
	})
}

// With a delay, reads and watches see a change exactly when it is old enough.
func TestDelayedReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replica, current, stale := startWithReplica(t)
		time.Sleep(time.Minute)
		replica.Delay(10 * time.Second)
		w, err := stale.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		defer w.Stop()
		require.EqualValues(t, "ADDED", (<-w.ResultChan()).Type)
		start := time.Now()
		rev := setValue(t, current, "1")
		require.Equal(t, "0", getValue(t, stale, "0"))
		_, err = stale.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: rev})
		require.NoError(t, err, "client-go retries until the change is old enough")
		require.EqualValues(t, "MODIFIED", (<-w.ResultChan()).Type)
		require.Equal(t, 10*time.Second, time.Since(start))
		require.Equal(t, "1", getValue(t, stale, "0"))
	})
}

// An informer that restarts on a stale replica goes back in time: it sees an object that was
// deleted and that it had seen deleted. The replica has no streaming lists, so that the informer
// lists with resourceVersion "0", as all informers did before.
func ExampleServer_Replica() {
	srv, err := fakeapi.New(fakeapi.WithObjects(configMap("job", "running")))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	noStreams := faults.Rule{
		When: faults.And(faults.Verb("watch"), faults.Query("sendInitialEvents")),
		Do:   []faults.Effect{faults.Reply(metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid})},
	}
	behind, err := srv.Replica(fakeapi.WithFaults(noStreams))
	if err != nil {
		log.Fatal(err)
	}
	behind.Freeze()

	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	if err := client.Delete(context.Background(), "job", metav1.DeleteOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("current:", startedInformer(srv))
	fmt.Println("behind:", startedInformer(behind.Server))
	// Output:
	// current: []
	// behind: [default/job]
}

// startedInformer starts an informer and returns its keys once it has synced.
func startedInformer(srv *fakeapi.Server) []string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	return informer.GetStore().ListKeys()
}
