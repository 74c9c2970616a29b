package rest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// A negative grace period is one second, which is not shorter than a grace period of one second.
func TestNegativeGracePeriodOfTerminatingObject(t *testing.T) {
	res := &resource.Resource{
		Plural: "pods", Kind: "Pod",
		GracePeriod: func(runtime.Object, *int64) int64 { return 30 },
	}
	begin := metav1.Unix(1_000_000_000, 0)
	end := metav1.NewTime(begin.Add(time.Second))
	for _, tt := range []struct {
		requested *int64
		isPending bool
	}{
		{nil, true},
		{new(int64(-5)), true},
		{new(int64(1)), true},
		{new(int64(0)), false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &end, DeletionGracePeriodSeconds: new(int64(1))}}
		opts := WithGrantedGracePeriod(res, pod, &metav1.DeleteOptions{GracePeriodSeconds: tt.requested})
		require.Equal(t, tt.isPending, IsDeletePending(res, pod, opts))

		now := metav1.NewTime(begin.Add(time.Minute))
		deleteNow, storeFirst := BeforeDelete(res, pod, opts, false, now)
		require.Equal(t, !tt.isPending, deleteNow)
		require.Equal(t, !tt.isPending, storeFirst)
		if tt.isPending {
			require.Equal(t, &end, pod.DeletionTimestamp)
		} else {
			require.Equal(t, &now, pod.DeletionTimestamp)
		}
	}
}
