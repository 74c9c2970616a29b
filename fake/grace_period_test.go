package fakeapi_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// createPod creates a Pod that is assigned to a node, with a grace period in its spec or without.
func (p *controllersTest) createPod(namespace, name string, grace *int64) *corev1.Pod {
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

// timeUntilDeleted deletes a Pod and returns the time until it is removed.
func (p *controllersTest) timeUntilDeleted(name string, opts metav1.DeleteOptions) time.Duration {
	p.Helper()
	pods := p.client.CoreV1().Pods("default")
	require.NoError(p, pods.Delete(p.Context(), name, opts))
	return p.podAge(name)
}

// podAge waits until a Pod is removed and returns how long that took.
func (p *controllersTest) podAge(name string) time.Duration {
	p.Helper()
	for start := time.Now(); ; time.Sleep(time.Second) {
		synctest.Wait()
		pod, err := p.client.CoreV1().Pods("default").Get(p.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return time.Since(start)
		}
		require.NoError(p, err)
		require.NotNil(p, pod.DeletionTimestamp)
		require.Less(p, time.Since(start), time.Hour)
	}
}

func newInt64(n int64) *int64 { return &n }

// The grace period is that of the delete options, that of the spec or 30 seconds (DL-22).
func TestPodGracePeriod(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		for name, tt := range map[string]struct {
			spec, options *int64
			want          time.Duration
		}{
			"default": {nil, nil, 30 * time.Second},
			"spec":    {newInt64(7), nil, 7 * time.Second},
			"options": {newInt64(7), newInt64(3), 3 * time.Second},
			"longer":  {newInt64(7), newInt64(90), 90 * time.Second},
			"none":    {newInt64(7), newInt64(0), 0},
		} {
			p.createPod("default", name, tt.spec)
			require.Equal(p, tt.want, p.timeUntilDeleted(name, metav1.DeleteOptions{GracePeriodSeconds: tt.options}), name)
		}
	})
}

// A second delete can shorten the grace period, but not extend it (DL-24).
func TestShortenGracePeriod(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		for name, tt := range map[string]struct {
			second *int64
			want   time.Duration
		}{
			"shorter": {newInt64(12), 2 * time.Second}, // it counts from the first delete
			"longer":  {newInt64(90), 20 * time.Second},
			"same":    {nil, 20 * time.Second},
			"none":    {newInt64(0), 0},
		} {
			p.createPod("default", name, nil)
			require.NoError(p, p.client.CoreV1().Pods("default").Delete(p.Context(), name, metav1.DeleteOptions{}))
			time.Sleep(10 * time.Second)
			require.Equal(p, tt.want, p.timeUntilDeleted(name, metav1.DeleteOptions{GracePeriodSeconds: tt.second}), name)
		}
	})
}

// A pod with finalizers stays after its grace period, which is 0 then, until the finalizers are
// removed.
func TestFinalizersAfterGracePeriod(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createPod("default", "held", nil)
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
		require.Zero(p, p.podAge("held"))
	})
}

// The grace period of a deleted pod does not affect a new pod of the same name.
func TestGracePeriodOfRecreatedPod(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createPod("default", "web", nil)
		pods := p.client.CoreV1().Pods("default")
		require.NoError(p, pods.Delete(p.Context(), "web", metav1.DeleteOptions{}))
		require.NoError(p, pods.Delete(p.Context(), "web", *metav1.NewDeleteOptions(0)))
		p.createPod("default", "web", nil)
		time.Sleep(time.Minute)
		pod, err := pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.NoError(p, err)
		require.Nil(p, pod.DeletionTimestamp)
	})
}

// Without controllers, the grace period passes as well. RunControllers does not wait for it.
func TestGracePeriodWithoutControllers(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createPod("default", "web", nil)
		pods := p.client.CoreV1().Pods("default")
		require.NoError(p, pods.Delete(p.Context(), "web", metav1.DeleteOptions{}))
		start := time.Now()
		require.NoError(p, p.srv.RunControllers(p.Context()))
		require.Zero(p, time.Since(start))
		time.Sleep(time.Minute)
		_, err := pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.NoError(p, err)
		require.NoError(p, p.srv.RunControllers(p.Context()))
		_, err = pods.Get(p.Context(), "web", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	}, fakeapi.WithoutControllers())
}

// The response of a deletion without a grace period has the resourceVersion of the last of its two
// writes, which is that of the watch event DELETED.
func TestResponseOfForcedDeletion(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		p.createPod("default", "web", nil)
		pods := p.client.CoreV1().Pods("default")
		w, err := pods.Watch(p.Context(), metav1.ListOptions{ResourceVersion: p.srv.ResourceVersion()})
		require.NoError(p, err)
		defer w.Stop()
		code, _, body := send(p.T, p.srv, "DELETE", "/api/v1/namespaces/default/pods/web", "", []byte(`{"gracePeriodSeconds":0}`))
		require.Equal(p, 200, code)
		var deleted corev1.Pod
		require.NoError(p, json.Unmarshal(body, &deleted))
		require.Equal(p, watch.Modified, (<-w.ResultChan()).Type)
		event := <-w.ResultChan()
		require.Equal(p, watch.Deleted, event.Type)
		require.Equal(p, deleted.ResourceVersion, event.Object.(*corev1.Pod).ResourceVersion)
	})
}

// A deletion without a grace period is that of the client alone, even if webhooks are slow.
func TestReviewsOfForcedDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		p := &controllersTest{T: t, srv: srv, client: kubernetes.NewForConfigOrDie(srv.RESTConfig())}
		h.review("slow", func(*admissionRequest) *admissionResponse {
			time.Sleep(100 * time.Millisecond)
			return allow()
		})
		requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "slow", `"rules":[`+rule("DELETE", "", "v1", "pods")+`]`)))
		p.createPod("default", "web", nil)
		require.Zero(t, p.timeUntilDeleted("web", *metav1.NewDeleteOptions(0)))
		time.Sleep(time.Minute)
		var users []string
		for _, call := range h.take() {
			users = append(users, call.UserInfo.Username)
		}
		require.Equal(t, []string{"system:admin", "system:admin"}, users, "one for each step of the deletion")
	})
}
