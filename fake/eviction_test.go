package fakeapi_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	fakeapi "example.com/fakeapi/fake"
)

// running is a pod that counts for its budget and that goes without grace.
func running(p *corev1.Pod) {
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "n", new(int64)
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func unready(p *corev1.Pod) {
	running(p)
	p.Status.Conditions[0].Status = corev1.ConditionFalse
}

// budget is one that its controller has seen, for all pods with the label app=name.
func budget(name string, allowed int32, change ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		Status: policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 1, DisruptionsAllowed: allowed, CurrentHealthy: 2 + allowed, DesiredHealthy: 2, ExpectedPods: 3,
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func eviction(name string) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// An eviction takes one from the budget, tells its controller of the pod, says in
// the pod's status why it goes, and deletes it (SU-14).
func TestEviction(t *testing.T) {
	_, client := startClient(t, fakeapi.WithObjects(podOf("p", running), budget("p", 1)))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	watch, err := pods.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	require.Equal(t, "p", (<-watch.ResultChan()).Object.(*corev1.Pod).Name)

	dry := eviction("p")
	dry.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{"All"}}
	require.NoError(t, pods.EvictV1(ctx, dry))
	require.NoError(t, pods.EvictV1(ctx, eviction("p")))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))

	told := (<-watch.ResultChan()).Object.(*corev1.Pod).Status.Conditions
	require.Len(t, told, 2)
	require.Equal(t, corev1.DisruptionTarget, told[1].Type)
	require.Equal(t, "EvictionByEvictionAPI", told[1].Reason)
	require.Equal(t, "Eviction API: evicting", told[1].Message)

	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, b.Status.DisruptionsAllowed, "the dry run took none")
	require.Contains(t, b.Status.DisruptedPods, "p")
	require.Len(t, b.Status.Conditions, 1)
	require.Equal(t, policyv1.InsufficientPodsReason, b.Status.Conditions[0].Reason)
}

// A budget that allows nothing, or of which nobody knows yet, refuses.
func TestEvictionIsRefused(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(
		podOf("none-left", running), budget("none-left", 0),
		podOf("unseen", running), budget("unseen", 1, func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }),
		podOf("two", running), budget("two", 1), budget("two-more", 1, func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "two"}}
		}),
		podOf("below", running), budget("below", -1),
	))
	pods := client.CoreV1().Pods("default")
	before := srv.ResourceVersion()
	for name, tc := range map[string]struct {
		code    int32
		message string
		cause   string
		after   int32
	}{
		"none-left": {429, "Cannot evict pod as it would violate the pod's disruption budget.", "The disruption budget none-left needs 2 healthy pods and has 2 currently", 0},
		"unseen":    {429, "Cannot evict pod as it would violate the pod's disruption budget.", "The disruption budget unseen is still being processed by the server.", 10},
		"two":       {500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", "", 0},
		"below":     {403, `poddisruptionbudget.policy "below" is forbidden: pdb disruptions allowed is negative`, "", 0},
		"absent":    {404, `pods "absent" not found`, "", 0},
	} {
		code, s := ask(t, srv, "POST", "/api/v1/namespaces/default/pods/"+name+"/eviction", "application/json",
			`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"`+name+`"}}`)
		require.EqualValues(t, tc.code, code, name)
		require.Equal(t, tc.message, s.Message, name)
		if tc.cause != "" {
			require.Equal(t, []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: tc.cause}}, s.Details.Causes)
			require.Equal(t, tc.after, s.Details.RetryAfterSeconds)
		}
	}
	require.Equal(t, before, srv.ResourceVersion(), "nothing of it was done")
	require.ErrorContains(t, pods.EvictV1(context.WithoutCancel(t.Context()), eviction("two")), "more than one PodDisruptionBudget")
}

// Pods that do not count for a budget go whatever it says; those that are not ready
// as its policy says (KEP-3017).
func TestEvictionOfUnhealthyPods(t *testing.T) {
	always := policyv1.AlwaysAllow
	_, client := startClient(t, fakeapi.WithObjects(
		podOf("pending", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), budget("pending", 0),
		podOf("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), budget("done", 0),
		podOf("always", unready), budget("always", 0, func(b *policyv1.PodDisruptionBudget) {
			b.Spec.UnhealthyPodEvictionPolicy, b.Status.CurrentHealthy = &always, 0
		}),
		podOf("enough", unready), budget("enough", 0),
		podOf("few", unready), budget("few", 0, func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 }),
		podOf("unbudgeted", running),
	))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	for _, name := range []string{"pending", "done", "always", "enough", "unbudgeted"} {
		require.NoError(t, pods.EvictV1(ctx, eviction(name)), name)
		_, err := pods.Get(ctx, name, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), name)
	}
	require.True(t, apierrors.IsTooManyRequests(pods.EvictV1(ctx, eviction("few"))))
}

// The body has the options of the delete, in the version of today or the one before.
func TestEvictionOptions(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(podOf("p", running), podOf("q", running), budget("p", 1)))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")

	other := types.UID("other")
	e := eviction("p")
	e.DeleteOptions = metav1.NewPreconditionDeleteOptions(string(other))
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)))
	stale := "1"
	e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &stale}}
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)))
	e.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{"Some"}}
	require.True(t, apierrors.IsInvalid(pods.EvictV1(ctx, e)))
	code, _ := ask(t, srv, "POST", "/api/v1/namespaces/default/pods/p/eviction?dryRun=All", "application/json",
		`{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`)
	require.Equal(t, 201, code)
	p, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, p.DeletionTimestamp)
	require.Len(t, p.Status.Conditions, 1, "no refusal and no dry run marks the pod")
	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, b.Status.DisruptionsAllowed, "nor does one cost anything")

	seconds := int64(7)
	e.DeleteOptions = &metav1.DeleteOptions{GracePeriodSeconds: &seconds, Preconditions: &metav1.Preconditions{ResourceVersion: &p.ResourceVersion, UID: &p.UID}}
	require.NoError(t, pods.EvictV1(ctx, e))
	p, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, *p.DeletionGracePeriodSeconds)

	require.NoError(t, pods.EvictV1beta1(ctx, &policyv1beta1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: "default"}}))
	_, err = pods.Get(ctx, "q", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// However many ask at a time, no more go than the budget allows.
func TestEvictionsAtATime(t *testing.T) {
	const pods, allowed = 12, 5
	objects := []runtime.Object{budget("web", allowed)}
	for i := range pods {
		objects = append(objects, podOf("web"+strconv.Itoa(i), running, func(p *corev1.Pod) { p.Labels["app"] = "web" }))
	}
	_, client := startClient(t, fakeapi.WithObjects(objects...))
	var gone atomic.Int32
	var all sync.WaitGroup
	for i := range pods {
		all.Go(func() {
			if client.CoreV1().Pods("default").EvictV1(t.Context(), eviction("web"+strconv.Itoa(i))) == nil {
				gone.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, allowed, gone.Load())
	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, b.Status.DisruptionsAllowed)
	require.Len(t, b.Status.DisruptedPods, allowed)
}

// A namespace that is being deleted takes no evictions, for they are creations there;
// drain knows the cause.
func TestEvictionInATerminatingNamespace(t *testing.T) {
	_, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(podOf("p", running, func(p *corev1.Pod) { p.Namespace = "ending" })))
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "ending", metav1.DeleteOptions{}))
	e := eviction("p")
	e.Namespace = "ending"
	err := client.CoreV1().Pods("ending").EvictV1(t.Context(), e)
	require.True(t, apierrors.IsForbidden(err))
	require.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
}
