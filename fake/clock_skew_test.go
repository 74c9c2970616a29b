package fakeapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// A skewed clock affects the times that the server writes and nothing else.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(configMap("a", "0")))
			client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
			maps := client.ConfigMaps("default")
			setValue(t, maps, "right")
			wrong := func() time.Time { return time.Now().Add(skew).Truncate(time.Second) }
			srv.SkewClock(skew)

			_, header, _ := send(t, srv, "GET", "/version", "", nil)
			require.Equal(t, wrong().UTC().Format(http.TimeFormat), header.Get("Date"))
			made, err := maps.Create(t.Context(), configMap("b", "0"), metav1.CreateOptions{FieldManager: "one"})
			require.NoError(t, err)
			require.True(t, made.CreationTimestamp.Equal(&metav1.Time{Time: wrong()}))
			require.True(t, made.ManagedFields[0].Time.Equal(&metav1.Time{Time: wrong()}))
			revision := made.ResourceVersion

			time.Sleep(time.Minute)
			made, err = maps.Update(t.Context(), made, metav1.UpdateOptions{FieldManager: "one"})
			require.NoError(t, err)
			require.Equal(t, revision, made.ResourceVersion, "an update without a change is not written")
			applied, err := maps.Patch(t.Context(), "b", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"y"}}`), metav1.PatchOptions{FieldManager: "two"})
			require.NoError(t, err)
			require.Equal(t, "two", applied.ManagedFields[0].Manager)
			require.True(t, applied.ManagedFields[0].Time.Equal(&metav1.Time{Time: wrong()}))
			require.True(t, applied.ManagedFields[1].Time.Equal(made.ManagedFields[0].Time), "the time of the other manager")

			srv.SkewClock(0)
			_, header, _ = send(t, srv, "GET", "/version", "", nil)
			require.Equal(t, time.Now().UTC().Format(http.TimeFormat), header.Get("Date"))
		})
	}
}

// A skewed clock does not change the length of a grace period. If the clock is changed during it,
// it ends at another time.
func TestGracePeriodWithClockSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := func(name string) *corev1.Pod {
			return newPod(name, func(p *corev1.Pod) { p.Spec.NodeName = "n" })
		}
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithObjects(pod("a"), pod("b")))
		pods := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Pods("default")
		deleted := func(name string) bool {
			synctest.Wait()
			_, err := pods.Get(t.Context(), name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}
		srv.SkewClock(-time.Hour)
		require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		a, err := pods.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		require.True(t, a.DeletionTimestamp.Time.Equal(time.Now().Add(30*time.Second-time.Hour)))
		time.Sleep(29 * time.Second)
		require.False(t, deleted("a"))
		time.Sleep(2 * time.Second)
		require.True(t, deleted("a"))

		require.NoError(t, pods.Delete(t.Context(), "b", metav1.DeleteOptions{}))
		require.False(t, deleted("b"))
		srv.SkewClock(0) // the clock moves forward by an hour
		require.True(t, deleted("b"))
	})
}
