package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fakeapi "example.com/fakeapi/fake"
)

// pod makes a Pod that a node runs, with a grace period in its spec or none.
func (p *plane) pod(namespace, name string, grace *int64) *corev1.Pod {
	p.Helper()
	pod, err := p.client.CoreV1().Pods(namespace).Create(p.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: "n", TerminationGracePeriodSeconds: grace,
			Containers: []corev1.Container{{Name: "c", Image: "i"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(p, err)
	return pod
}

// lives deletes a Pod with options and gives how long it is there afterwards.
func (p *plane) lives(name string, opts metav1.DeleteOptions) time.Duration {
	p.Helper()
	pods := p.client.CoreV1().Pods("default")
	require.NoError(p, pods.Delete(p.Context(), name, opts))
	return p.age(name)
}

// age gives how long a Pod is there from now on.
func (p *plane) age(name string) time.Duration {
	p.Helper()
	for begin := time.Now(); ; time.Sleep(time.Second) {
		synctest.Wait()
		pod, err := p.client.CoreV1().Pods("default").Get(p.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return time.Since(begin)
		}
		require.NoError(p, err)
		require.NotNil(p, pod.DeletionTimestamp)
		require.Less(p, time.Since(begin), time.Hour)
	}
}

func seconds(n int64) *int64 { return &n }

// A pod lives for the time that the delete says, or its spec, or 30 seconds (DL-22).
func TestPodsHaveTheirGrace(t *testing.T) {
	onPlane(t, func(p *plane) {
		for name, tt := range map[string]struct {
			own, asked *int64
			want       time.Duration
		}{
			"default": {nil, nil, 30 * time.Second},
			"own":     {seconds(7), nil, 7 * time.Second},
			"asked":   {seconds(7), seconds(3), 3 * time.Second},
			"longer":  {seconds(7), seconds(90), 90 * time.Second},
			"none":    {seconds(7), seconds(0), 0},
		} {
			p.pod("default", name, tt.own)
			require.Equal(p, tt.want, p.lives(name, metav1.DeleteOptions{GracePeriodSeconds: tt.asked}), name)
		}
	})
}

// A second delete can make the grace shorter and never longer (DL-24).
func TestGraceIsShortened(t *testing.T) {
	onPlane(t, func(p *plane) {
		for name, tt := range map[string]struct {
			second *int64
			want   time.Duration
		}{
			"shorter": {seconds(12), 2 * time.Second}, // of its time since the first delete
			"longer":  {seconds(90), 20 * time.Second},
			"same":    {nil, 20 * time.Second},
			"none":    {seconds(0), 0},
		} {
			p.pod("default", name, nil)
			require.NoError(p, p.client.CoreV1().Pods("default").Delete(p.Context(), name, metav1.DeleteOptions{}))
			time.Sleep(10 * time.Second)
			require.Equal(p, tt.want, p.lives(name, metav1.DeleteOptions{GracePeriodSeconds: tt.second}), name)
		}
	})
}

// A pod with finalizers is there after its grace, with none left, until they are
// gone.
func TestFinalizersOutliveTheGrace(t *testing.T) {
	onPlane(t, func(p *plane) {
		p.pod("default", "held", nil)
		pods := p.client.CoreV1().Pods("default")
		finalizers := func(text string) {
			_, err := pods.Patch(p.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":`+text+`}}`), metav1.PatchOptions{})
			require.NoError(p, err)
		}
		finalizers(`["example.com/hold"]`)
		require.NoError(p, pods.Delete(p.Context(), "held", metav1.DeleteOptions{}))
		time.Sleep(time.Minute)
		pod, err := pods.Get(p.Context(), "held", metav1.GetOptions{})
		require.NoError(p, err)
		require.Zero(p, *pod.DeletionGracePeriodSeconds)
		finalizers("null")
		require.Zero(p, p.age("held"))
	})
}

// A pod of the same name that comes after one in its grace is not taken for it.
func TestGraceIsOfOnePod(t *testing.T) {
	onPlane(t, func(p *plane) {
		p.pod("default", "web", nil)
		pods := p.client.CoreV1().Pods("default")
		require.NoError(p, pods.Delete(p.Context(), "web", metav1.DeleteOptions{}))
		require.NoError(p, pods.Delete(p.Context(), "web", *metav1.NewDeleteOptions(0)))
		p.pod("default", "web", nil)
		time.Sleep(time.Minute)
		pod, err := pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.NoError(p, err)
		require.Nil(p, pod.DeletionTimestamp)
	})
}

// By hand, the grace of a pod passes as it does otherwise, and Settle does not wait
// for it.
func TestGraceByHand(t *testing.T) {
	onPlane(t, func(p *plane) {
		p.pod("default", "web", nil)
		pods := p.client.CoreV1().Pods("default")
		require.NoError(p, pods.Delete(p.Context(), "web", metav1.DeleteOptions{}))
		begin := time.Now()
		require.NoError(p, p.srv.RunControllers(p.Context()))
		require.Zero(p, time.Since(begin))
		time.Sleep(time.Minute)
		_, err := pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.NoError(p, err)
		require.NoError(p, p.srv.RunControllers(p.Context()))
		_, err = pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithoutControllers())
}
