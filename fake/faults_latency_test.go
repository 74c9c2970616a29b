package fakeapi_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// With RealisticLatency, responses and events come some milliseconds later, at the same times in
// each run with the same seed. Initial events are not delayed one by one.
func TestRealisticLatency(t *testing.T) {
	first, second, other := latencies(t, 7), latencies(t, 7), latencies(t, 8)
	require.Equal(t, first, second)
	require.NotEqual(t, first, other)
	for name, took := range first {
		require.GreaterOrEqual(t, took, time.Millisecond, name)
		require.Less(t, took, 5*time.Millisecond, name)
	}
	require.Len(t, first, 7)
}

// latencies returns how long requests and events take.
func latencies(t *testing.T, seed uint64) map[string]time.Duration {
	took := map[string]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		var objects []runtime.Object
		for i := range 100 {
			objects = append(objects, newPod(fmt.Sprint("p", i)))
		}
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(objects...), fakeapi.WithFaults(faults.RealisticLatency(seed)...))
		pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
		last := time.Now()
		record := func(name string) {
			took[name], last = time.Since(last), time.Now()
		}
		initial := true
		w, err := pods.Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: &initial, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		require.NoError(t, err)
		defer w.Stop()
		for event := range w.ResultChan() {
			if event.Type == watch.Bookmark {
				break
			}
		}
		record("streaming list")

		_, err = pods.Create(t.Context(), newPod("new"), metav1.CreateOptions{})
		require.NoError(t, err)
		record("create")
		require.Equal(t, watch.Added, (<-w.ResultChan()).Type)
		record("ADDED")
		_, err = pods.Get(t.Context(), "new", metav1.GetOptions{})
		require.NoError(t, err)
		record("get")
		require.NoError(t, pods.Delete(t.Context(), "new", metav1.DeleteOptions{}))
		record("delete")
		require.Equal(t, watch.Modified, (<-w.ResultChan()).Type)
		record("MODIFIED")
		require.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
		record("DELETED")
	})
	return took
}
