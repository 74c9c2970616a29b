package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// With a bump, revisions and continue tokens from before the restore are too old, and clients list
// again.
func TestRestoreWithBump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0"), configMap("b", "0")))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		maps := client.CoreV1().ConfigMaps("default")
		var s handlerLog
		informer := startInformer(t, srv.RESTConfig(), &s)
		snap := srv.Snapshot()
		require.Equal(t, srv.ResourceVersion(), snap.ResourceVersion())

		require.NoError(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		_, err := maps.Create(t.Context(), configMap("c", "0"), metav1.CreateOptions{})
		require.NoError(t, err)
		page, err := maps.List(t.Context(), metav1.ListOptions{Limit: 1})
		require.NoError(t, err)
		before := srv.ResourceVersion()

		synctest.Wait() // the informer has seen c; a restore can drop pending events
		require.NoError(t, srv.Restore(snap, 100))
		require.Equal(t, fmt.Sprint(parseVersion(t, before)+100), srv.ResourceVersion())
		_, err = maps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
		require.True(t, apierrors.IsResourceExpired(err), "%v", err)

		time.Sleep(time.Minute) // longer than the maximum back-off of a reflector
		synctest.Wait()
		require.Equal(t, serverVersions(t, client), cachedVersions(informer))
		require.Contains(t, cachedVersions(informer), "a")
		require.NotContains(t, cachedVersions(informer), "c")
		require.Contains(t, s.all(), "delete c=0")
	})
}

// Without a bump, an informer waits at a revision that the server has not reached again. It has
// objects that do not exist and misses changes.
func TestRestoreWithoutBump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
		maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
		var s handlerLog
		informer := startInformer(t, srv.RESTConfig(), &s)
		snap := srv.Snapshot()
		for _, v := range []string{"1", "2", "3"} {
			setValue(t, maps, v)
		}
		synctest.Wait()
		require.NoError(t, srv.Restore(snap, 0))
		require.Equal(t, snap.ResourceVersion(), srv.ResourceVersion())
		setValue(t, maps, "other")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"add a=0", "update a=1", "update a=2", "update a=3"}, s.all())
		require.Equal(t, "other", getValue(t, maps, ""))

		for _, v := range []string{"4", "5", "6"} { // use up the revisions
			setValue(t, maps, v)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "update a=6", s.all()[len(s.all())-1])
		require.Equal(t, srv.ResourceVersion(), cachedVersions(informer)["a"])
	})
}

// The remainingItemCount of a page is not cached across a restore.
func TestContinueAfterRestore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0"), configMap("b", "0")))
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	snap := srv.Snapshot()
	left := func(token string) int64 {
		page, err := maps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: token})
		require.NoError(t, err)
		return *page.RemainingItemCount
	}
	for _, name := range []string{"c", "d"} {
		_, err := maps.Create(t.Context(), configMap(name, "0"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	first, err := maps.List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2, left(first.Continue))
	require.NoError(t, srv.Restore(snap, 0))
	_, err = maps.Create(t.Context(), configMap("c", "0"), metav1.CreateOptions{})
	require.NoError(t, err)
	setValue(t, maps, "1")
	require.EqualValues(t, 1, left(first.Continue), "the revision of the token has another state now")
}

// After a restore the controllers delete a terminating namespace again, and a pod at the end of its
// grace period.
func TestControllersAfterRestore(t *testing.T) {
	for _, bump := range []uint64{0, 1000} {
		synctest.Test(t, func(t *testing.T) {
			pod := newPod("p", func(p *corev1.Pod) { p.Namespace, p.Spec.NodeName = "team", "n" })
			srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithNamespaceDeletionDelay(0), fakeapi.WithObjects(pod))
			client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
			deleted := func() bool {
				synctest.Wait()
				_, err := client.Namespaces().Get(t.Context(), "team", metav1.GetOptions{})
				return apierrors.IsNotFound(err)
			}
			require.NoError(t, client.Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}))
			require.False(t, deleted())
			snap := srv.Snapshot()
			time.Sleep(time.Minute)
			require.True(t, deleted())

			require.NoError(t, srv.Restore(snap, bump))
			require.True(t, deleted(), "the grace period is over")
			require.NoError(t, srv.RunControllers(t.Context()))
		})
	}
}

func TestRestoreErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
	before := srv.ResourceVersion()
	require.EqualError(t, srv.Restore(fakeapi.Snapshot{}, 0), "fakeapi: restore: the snapshot is empty; use Server.Snapshot")
	require.ErrorContains(t, srv.Restore(srv.Snapshot(), math.MaxUint64), "exceeds the highest resourceVersion")
	require.ErrorContains(t, srv.Restore(srv.Snapshot(), math.MaxInt64), "exceeds the highest resourceVersion")
	require.Equal(t, before, srv.ResourceVersion())
}

// A fork has the objects and the history of its server, but not its later changes.
func TestFork(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithSeed(1), fakeapi.WithObjects(configMap("a", "0")))
	past := srv.ResourceVersion()
	setValue(t, kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default"), "1")
	synctest.Test(t, func(t *testing.T) {
		fork, err := srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithSeed(1), fakeapi.WithObjects(configMap("b", "0")))
		require.NoError(t, err)
		defer func() { require.NoError(t, fork.Close()) }()
		maps := kubernetes.NewForConfigOrDie(fork.RESTConfig()).CoreV1().ConfigMaps("default")
		list, err := maps.List(t.Context(), metav1.ListOptions{ResourceVersion: past, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		require.NoError(t, err)
		require.Equal(t, "0", list.Items[0].Data["k"])

		b, err := maps.Get(t.Context(), "b", metav1.GetOptions{})
		require.NoError(t, err)
		for _, ns := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
			other, err := kubernetes.NewForConfigOrDie(fork.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
			require.NoError(t, err)
			require.NotEqual(t, other.UID, b.UID, "uids are unique despite the same seed")
		}
		setValue(t, maps, "2")
	})
	maps := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	require.Equal(t, "1", getValue(t, maps, ""))
	_, err := maps.Get(t.Context(), "b", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	_, err = srv.Fork(fakeapi.WithLimits(fakeapi.Limits{HistoryAge: time.Minute}))
	require.ErrorContains(t, err, "set WithLimits for the ")
	_, err = srv.Fork(fakeapi.WithAddress("0.0.0.0:0"))
	require.ErrorContains(t, err, "not a loopback address")
}

// While the watch cache is reinitialized, watches end, and requests that need the cache return 429
// with an increasing Retry-After. Other requests succeed.
func TestReinitializeCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
		client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		maps := client.CoreV1().ConfigMaps("default")
		var s handlerLog
		informer := startInformer(t, srv.RESTConfig(), &s)
		w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)

		srv.ReinitializeCache(time.Minute)
		_, open := <-w.ResultChan()
		require.False(t, open, "the watch ends")
		synctest.Wait() // that of the informer, too
		rev := setValue(t, maps, "1")
		const path = "/api/v1/namespaces/default/configmaps"
		for _, query := range []string{"?watch=true", "?watch=true&resourceVersion=" + rev, "?resourceVersion=0", "", "?resourceVersion=0&limit=5&labelSelector=a", "?resourceVersion=" + rev, "?resourceVersionMatch=Exact&resourceVersion=" + rev} {
			code, header, body := send(t, srv, "GET", path+query, "", nil)
			require.Equal(t, http.StatusTooManyRequests, code, query)
			require.Equal(t, "1", header.Get("Retry-After"), query)
			var status metav1.Status
			require.NoError(t, json.Unmarshal(body, &status))
			require.Equal(t, metav1.StatusReasonTooManyRequests, status.Reason)
			require.Equal(t, "storage is (re)initializing", status.Message)
			require.EqualValues(t, 1, status.Details.RetryAfterSeconds)
		}
		for _, query := range []string{"/a", "/a?resourceVersion=0", "?limit=5", "?limit=5&resourceVersion=0", "?limit=5&resourceVersionMatch=Exact&resourceVersion=" + rev} {
			code, _, body := send(t, srv, "GET", path+query, "", nil)
			require.Equal(t, http.StatusOK, code, "%s: %s", query, body)
		}
		time.Sleep(50 * time.Second)
		_, header, _ := send(t, srv, "GET", path, "", nil)
		require.Equal(t, "20", header.Get("Retry-After"))
		require.Equal(t, []string{"add a=0"}, s.all())

		time.Sleep(10 * time.Second)
		code, _, _ := send(t, srv, "GET", path, "", nil)
		require.Equal(t, http.StatusOK, code)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, serverVersions(t, client), cachedVersions(informer))
	})
}

// The cache can be initializing at the start. Informers wait until it is ready.
func TestCacheInitializing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithCacheInitializing(time.Minute))
		var s handlerLog
		startInformer(t, srv.RESTConfig(), &s)
		require.GreaterOrEqual(t, time.Since(start), time.Minute)
		srv.ReinitializeCache(time.Hour)
		srv.ReinitializeCache(0)
		code, _, _ := send(t, srv, "GET", "/api/v1/pods?resourceVersion=0", "", nil)
		require.Equal(t, http.StatusOK, code)
	})
}

// An operator with a resourceVersion from before a restore of etcd receives no event.
func ExampleServer_Restore() {
	srv, err := fakeapi.New(fakeapi.WithObjects(configMap("job", "running")))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")

	backup := srv.Snapshot()
	if err := client.Delete(ctx, "job", metav1.DeleteOptions{}); err != nil {
		log.Fatal(err)
	}
	if err := srv.Restore(backup, 0); err != nil {
		log.Fatal(err)
	}
	job, err := client.Get(ctx, "job", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Data["k"])
	// Output: running
}

func parseVersion(t *testing.T, resourceVersion string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	require.NoError(t, err)
	return n
}
