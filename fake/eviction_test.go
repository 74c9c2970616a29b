package fakeapi_test

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

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

// makeRunning makes a pod running and ready, with a grace period of 0.
func makeRunning(p *corev1.Pod) {
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "n", new(int64)
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func makeUnready(p *corev1.Pod) {
	makeRunning(p)
	p.Status.Conditions[0].Status = corev1.ConditionFalse
}

// newPDB returns a budget for all pods with the label app=name, with an up-to-date status.
func newPDB(name string, allowed int32, change ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
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

// disruptionCondition returns a change of a budget that has more healthy pods than desired.
func disruptionCondition(conditionStatus metav1.ConditionStatus, reason, message string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) {
		b.Status.CurrentHealthy++
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: conditionStatus, Reason: reason, Message: message}}
	}
}

func newEviction(name string) *policyv1.Eviction {
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// An eviction decrements disruptionsAllowed, adds the pod to disruptedPods, sets a condition of the
// pod and deletes it (SU-14).
func TestEviction(t *testing.T) {
	_, client := startClient(t, fakeapi.WithObjects(newPod("p", makeRunning), newPDB("p", 1)))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")
	watch, err := pods.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	require.Equal(t, "p", (<-watch.ResultChan()).Object.(*corev1.Pod).Name)

	dry := newEviction("p")
	dry.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{"All"}}
	require.NoError(t, pods.EvictV1(ctx, dry))
	require.NoError(t, pods.EvictV1(ctx, newEviction("p")))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))

	got := (<-watch.ResultChan()).Object.(*corev1.Pod).Status.Conditions
	require.Len(t, got, 2)
	require.Equal(t, corev1.DisruptionTarget, got[1].Type)
	require.Equal(t, "EvictionByEvictionAPI", got[1].Reason)
	require.Equal(t, "Eviction API: evicting", got[1].Message)
	require.Zero(t, got[1].ObservedGeneration)

	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, b.Status.DisruptionsAllowed, "the dry run does not count")
	require.Contains(t, b.Status.DisruptedPods, "p")
	require.Len(t, b.Status.Conditions, 1)
	require.Equal(t, policyv1.InsufficientPodsReason, b.Status.Conditions[0].Reason)
}

// An eviction fails if the budget allows none or its status is not up to date.
func TestEvictionErrors(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithObjects(
		newPod("none-left", makeRunning), newPDB("none-left", 0),
		newPod("unseen", makeRunning), newPDB("unseen", 1, func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }),
		newPod("two", makeRunning), newPDB("two", 1), newPDB("two-more", 1, func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "two"}}
		}),
		newPod("below", makeRunning), newPDB("below", -1),
		newPod("crowded", makeRunning), newPDB("crowded", 1, func(b *policyv1.PodDisruptionBudget) {
			b.Status.DisruptedPods = map[string]metav1.Time{}
			for i := range 2001 {
				b.Status.DisruptedPods["p"+strconv.Itoa(i)] = metav1.Now()
			}
		}),
		newPod("unsynced", makeRunning), newPDB("unsynced", 0, disruptionCondition("False", policyv1.SyncFailedReason, "no scale")),
		newPod("refused", makeRunning), newPDB("refused", 0, disruptionCondition("False", "Other", "not now")),
		newPod("unexplained", makeRunning), newPDB("unexplained", 0, disruptionCondition("True", policyv1.SyncFailedReason, "x")),
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
		"below": {403, `poddisruptionbudget.policy "below" is forbidden: pdb disruptions allowed is negative`,
			"The disruption budget below does not allow evicting pods currently: pdb disruptions allowed is negative", 0},
		"crowded": {403, `poddisruptionbudget.policy "crowded" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller`,
			"The disruption budget crowded does not allow evicting pods currently: too many pending evictions not confirmed by PDB controller", 0},
		"unsynced": {429, "Cannot evict pod as it would violate the pod's disruption budget.",
			"The disruption budget unsynced does not allow evicting pods currently because it failed sync: no scale", 0},
		"refused": {429, "Cannot evict pod as it would violate the pod's disruption budget.",
			"The disruption budget refused does not allow evicting pods currently (Other): not now", 0},
		"unexplained": {429, "Cannot evict pod as it would violate the pod's disruption budget.",
			"The disruption budget unexplained does not allow evicting pods currently", 0},
		"absent": {404, `pods "absent" not found`, "", 0},
		"a%b":    {400, `Name parameter invalid: "a%b": may not contain '%'`, "", 0},
	} {
		code, s := sendForStatus(t, srv, "POST", "/api/v1/namespaces/default/pods/"+url.PathEscape(name)+"/eviction", "application/json",
			`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"`+name+`"}}`)
		require.EqualValues(t, tc.code, code, name)
		require.Equal(t, tc.message, s.Message, name)
		if tc.cause != "" {
			require.Equal(t, []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: tc.cause}}, s.Details.Causes)
			require.Equal(t, tc.after, s.Details.RetryAfterSeconds)
		}
	}
	require.Equal(t, before, srv.ResourceVersion(), "the resourceVersion after the failed requests")
	require.ErrorContains(t, pods.EvictV1(context.WithoutCancel(t.Context()), newEviction("two")), "more than one PodDisruptionBudget")
}

// Pods that are not running are evicted regardless of the budget, unready ones according to its
// unhealthyPodEvictionPolicy (KEP-3017).
func TestEvictionOfUnhealthyPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the client waits before it retries
		always := policyv1.AlwaysAllow
		_, client := startClient(t, fakeapi.WithObjects(
			newPod("pending", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), newPDB("pending", 0),
			newPod("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), newPDB("done", 0),
			newPod("always", makeUnready), newPDB("always", 0, func(b *policyv1.PodDisruptionBudget) {
				b.Spec.UnhealthyPodEvictionPolicy, b.Status.CurrentHealthy = &always, 0
			}),
			newPod("enough", makeUnready), newPDB("enough", 0),
			newPod("few", makeUnready), newPDB("few", 0, func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy = 1 }),
			newPod("unbudgeted", makeRunning), newPod("unattached", makeRunning),
			newPod("unready", makeUnready), newPDB("unready", 0),
			newPod("stale", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		))
		ctx := t.Context()
		pods := client.CoreV1().Pods("default")
		for _, name := range []string{"pending", "done", "always", "enough", "unbudgeted"} {
			require.NoError(t, pods.EvictV1(ctx, newEviction(name)), name)
			_, err := pods.Get(ctx, name, metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err), name)
		}
		require.True(t, apierrors.IsTooManyRequests(pods.EvictV1(ctx, newEviction("few"))))

		for name, isExpected := range map[string]func(error) bool{ // with preconditions that do not hold
			"few":        apierrors.IsTooManyRequests,
			"stale":      apierrors.IsConflict, // not ready, but it does not count for a budget
			"unready":    apierrors.IsTooManyRequests,
			"unattached": apierrors.IsConflict,
		} {
			e := newEviction(name)
			e.DeleteOptions = metav1.NewPreconditionDeleteOptions("other")
			err := pods.EvictV1(ctx, e)
			require.True(t, isExpected(err), "%s: %v", name, err)
		}
		e := newEviction("unready")
		e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("1")}}
		require.NoError(t, pods.EvictV1(ctx, e), "the resourceVersion of an unready pod is replaced")
	})
}

// The body has delete options, in policy/v1 or v1beta1.
func TestEvictionOptions(t *testing.T) {
	srv, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(
		newPod("p", makeRunning), newPod("q", makeRunning), newPod("r", makeRunning), newPod("s", makeRunning), newPDB("p", 1), newPDB("s", 1)))
	ctx := t.Context()
	pods := client.CoreV1().Pods("default")

	other := types.UID("other")
	e := newEviction("p")
	e.DeleteOptions = metav1.NewPreconditionDeleteOptions(string(other))
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)))
	stale := "1"
	e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &stale}}
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)))
	e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("")}, DryRun: []string{"All"}}
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)), "a dry run of an eviction with an empty resourceVersion")
	e.DeleteOptions = &metav1.DeleteOptions{DryRun: []string{"Some"}}
	require.True(t, apierrors.IsInvalid(pods.EvictV1(ctx, e)))
	ignore := true
	e.DeleteOptions = &metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: &ignore}
	require.EqualError(t, pods.EvictV1(ctx, e), `Eviction.policy "p" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: `+
		`Invalid value: true: can not be set for pod eviction, try after removing the option`)
	for options, want := range map[string]int{`"All"`: 201, `"All","All"`: 500} {
		code, s := sendForStatus(t, srv, "POST", "/api/v1/namespaces/default/pods/p/eviction?dryRun=All", "application/json",
			`{"metadata":{"name":"p"},"deleteOptions":{"dryRun":[`+options+`]}}`)
		require.Equal(t, want, code)
		if want == 500 {
			require.Equal(t, "Non-matching dry-run options in request and content: [All] and [All All]", s.Message)
		}
	}
	p, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, p.DeletionTimestamp)
	require.Len(t, p.Status.Conditions, 1, "failed evictions and dry runs do not change the pod")
	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, b.Status.DisruptionsAllowed, "failed evictions and dry runs do not change the budget")

	seconds := int64(7)
	e.DeleteOptions = &metav1.DeleteOptions{GracePeriodSeconds: &seconds, Preconditions: &metav1.Preconditions{ResourceVersion: &p.ResourceVersion, UID: &p.UID}}
	require.NoError(t, pods.EvictV1(ctx, e))
	p, err = pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, *p.DeletionGracePeriodSeconds)

	e = newEviction("r")
	e.DeleteOptions = metav1.NewPreconditionDeleteOptions("")
	require.True(t, apierrors.IsConflict(pods.EvictV1(ctx, e)), "an eviction with an empty uid")
	p, err = pods.Get(ctx, "r", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.DisruptionTarget, p.Status.Conditions[len(p.Status.Conditions)-1].Type, "the condition is set before the delete fails")
	e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("")}}
	require.NoError(t, pods.EvictV1(ctx, e), "the new resourceVersion is in place of an empty one")
	e.Name = "s"
	require.NoError(t, pods.EvictV1(ctx, e), "with a budget")
	b, err = client.PolicyV1().PodDisruptionBudgets("default").Get(ctx, "s", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, b.Status.DisruptionsAllowed)

	require.NoError(t, pods.EvictV1beta1(ctx, &policyv1beta1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: "default"}}))
	_, err = pods.Get(ctx, "q", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// Concurrent evictions do not exceed the budget.
func TestConcurrentEvictions(t *testing.T) {
	const pods, allowed = 12, 5
	objects := []runtime.Object{newPDB("web", allowed)}
	for i := range pods {
		objects = append(objects, newPod("web"+strconv.Itoa(i), makeRunning, func(p *corev1.Pod) { p.Labels["app"] = "web" }))
	}
	_, client := startClient(t, fakeapi.WithObjects(objects...))
	var deleted atomic.Int32
	var all sync.WaitGroup
	for i := range pods {
		all.Go(func() {
			if client.CoreV1().Pods("default").EvictV1(t.Context(), newEviction("web"+strconv.Itoa(i))) == nil {
				deleted.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, allowed, deleted.Load())
	b, err := client.PolicyV1().PodDisruptionBudgets("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, b.Status.DisruptionsAllowed)
	require.Len(t, b.Status.DisruptedPods, allowed)
}

// An eviction in a terminating namespace fails, because it is a create there. drain evaluates the
// cause.
func TestEvictionInTerminatingNamespace(t *testing.T) {
	_, client := startClient(t, fakeapi.WithoutControllers(), fakeapi.WithObjects(newPod("p", makeRunning, func(p *corev1.Pod) { p.Namespace = "ending" })))
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "ending", metav1.DeleteOptions{}))
	e := newEviction("p")
	e.Namespace = "ending"
	err := client.CoreV1().Pods("ending").EvictV1(t.Context(), e)
	require.True(t, apierrors.IsForbidden(err))
	require.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause))
}
