package fakeapi_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	fakeapi "example.com/fakeapi/fake"
)

// twoDoors gives a server with one ConfigMap, a replica of it, and clients of
// both.
func twoDoors(t *testing.T) (srv *fakeapi.Server, replica *fakeapi.Replica, current, stale typedcorev1.ConfigMapInterface) {
	t.Helper()
	srv = fakeapi.Start(t, fakeapi.InMemory(), fakeapi.WithObjects(configMap("a", "0")))
	replica, err := srv.Replica(fakeapi.InMemory())
	require.NoError(t, err)
	maps := func(s *fakeapi.Server) typedcorev1.ConfigMapInterface {
		return kubernetes.NewForConfigOrDie(s.RESTConfig()).CoreV1().ConfigMaps("default")
	}
	return srv, replica, maps(srv), maps(replica.Server)
}

func set(t *testing.T, client typedcorev1.ConfigMapInterface, value string) string {
	t.Helper()
	cm, err := client.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"`+value+`"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	return cm.ResourceVersion
}

func value(t *testing.T, client typedcorev1.ConfigMapInterface, resourceVersion string) string {
	t.Helper()
	cm, err := client.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: resourceVersion})
	require.NoError(t, err)
	list, err := client.List(t.Context(), metav1.ListOptions{ResourceVersion: resourceVersion})
	require.NoError(t, err)
	require.Equal(t, cm.Data["k"], list.Items[0].Data["k"])
	return cm.Data["k"]
}

// A frozen view answers what may be old from the past, what must be recent from
// the store, and makes wait for what it has not seen.
func TestFrozenReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, replica, current, stale := twoDoors(t)
		replica.Freeze()
		rev := set(t, current, "1")
		require.Equal(t, "0", value(t, stale, "0"))
		require.Equal(t, "1", value(t, stale, ""))
		require.Equal(t, "1", value(t, current, "0"))
		begin := time.Now()
		_, err := stale.List(t.Context(), metav1.ListOptions{ResourceVersion: rev, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		require.NoError(t, err, "exact reads go to the store")

		code, header, _ := send(t, replica.Server, "GET", "/api/v1/namespaces/default/configmaps/a?resourceVersion="+rev, "", nil)
		require.Equal(t, 504, code)
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Equal(t, 3*time.Second, time.Since(begin))

		// A write through the stale door is checked against the store.
		set(t, stale, "2")
		require.Equal(t, "0", value(t, stale, "0"))
		replica.CatchUp()
		require.Equal(t, "2", value(t, stale, "0"))
	})
}

// A watch through a stale door is silent until its events come into view.
func TestWatchOnReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, replica, current, stale := twoDoors(t)
		replica.Freeze()
		w, err := stale.Watch(t.Context(), metav1.ListOptions{ResourceVersion: set(t, current, "1")})
		require.NoError(t, err)
		defer w.Stop()
		set(t, current, "2")
		time.Sleep(time.Hour / 2)
		synctest.Wait()
		require.Empty(t, w.ResultChan())
		replica.CatchUp()
		e := <-w.ResultChan()
		require.EqualValues(t, "MODIFIED", e.Type)
	})
}

func TestLaggingReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, replica, current, stale := twoDoors(t)
		replica.Lag(2)
		for _, v := range []string{"1", "2", "3"} {
			set(t, current, v)
		}
		require.Equal(t, "1", value(t, stale, "0"))
		replica.Lag(1)
		require.Equal(t, "2", value(t, stale, "0"))
	})
}

// A change comes into a delayed view when it is old enough, to the instant, for
// reads and for watches.
func TestDelayedReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, replica, current, stale := twoDoors(t)
		time.Sleep(time.Minute)
		replica.Delay(10 * time.Second)
		w, err := stale.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		defer w.Stop()
		require.EqualValues(t, "ADDED", (<-w.ResultChan()).Type)
		begin := time.Now()
		rev := set(t, current, "1")
		require.Equal(t, "0", value(t, stale, "0"))
		_, err = stale.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: rev})
		require.True(t, apierrors.IsTimeout(err) || err == nil, "%v", err)
		require.EqualValues(t, "MODIFIED", (<-w.ResultChan()).Type)
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.Equal(t, "1", value(t, stale, "0"))
	})
}

// An informer whose connection moves to a replica that is behind goes back in
// time: what it knew to be deleted is there again.
func ExampleServer_Replica() {
	srv, err := fakeapi.New(fakeapi.WithObjects(configMap("job", "running")))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	behind, err := srv.Replica()
	if err != nil {
		log.Fatal(err)
	}
	behind.Freeze()

	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ConfigMaps("default")
	if err := client.Delete(ctx, "job", metav1.DeleteOptions{}); err != nil {
		log.Fatal(err)
	}
	for _, door := range []*fakeapi.Server{srv, behind.Server} {
		client := kubernetes.NewForConfigOrDie(door.RESTConfig()).CoreV1().ConfigMaps("default")
		list, err := client.List(ctx, metav1.ListOptions{ResourceVersion: "0"}) // as a reflector lists
		fmt.Println(len(list.Items), err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}
