package handlers

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// maxDisruptedPods is the most pods that a budget may be waiting for before it allows no
// more evictions.
const maxDisruptedPods = 2000

// spendDisruptionBudget takes the eviction of a pod from the budget that it counts for, if there is
// one. free tells that a budget, which is named, has a say and that an eviction
// costs nothing, since the pod is not healthy as it is now.
func (a *API) spendDisruptionBudget(namespace string, pod *corev1.Pod, dryRun bool) (name string, free bool, err error) {
	res := a.types.Table().Lookup("policy", "v1", "poddisruptionbudgets")
	budgets, err := a.matchingBudgets(res, namespace, pod)
	switch {
	case err != nil:
		return "", false, err
	case len(budgets) > 1:
		return "", false, status.MultipleDisruptionBudgets()
	case len(budgets) == 0:
		return "", false, nil
	}
	b := budgets[0]
	if !isReady(pod) && canEvictUnhealthy(b) {
		return b.Name, true, nil
	}
	return b.Name, false, a.decrementBudget(res, b, pod.Name, dryRun)
}

// matchingBudgets gives the budgets whose selector matches a pod.
func (a *API) matchingBudgets(res *resource.Resource, namespace string, pod *corev1.Pod) (all []*policyv1.PodDisruptionBudget, err error) {
	for rec := range a.store.View().Range(codec.Key(res, namespace, ""), "") {
		obj, err := a.objects.get(res, rec)
		if err != nil {
			return nil, err
		}
		b := obj.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) { // an invalid one matches nothing
			all = append(all, b)
		}
	}
	return all, nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// canEvictUnhealthy reports whether a budget lets pods go that are not ready: always if
// it says so, or else while there are as many healthy ones as it wants (KEP-3017).
func canEvictUnhealthy(b *policyv1.PodDisruptionBudget) bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// decrementBudget writes down that a budget allows one eviction less, as a real server does
// through its own client.
func (a *API) decrementBudget(res *resource.Resource, b *policyv1.PodDisruptionBudget, pod string, dryRun bool) error {
	tracker, err := a.types.FieldManager(res, "status")
	if err != nil {
		return err
	}
	_, err = a.updateStore(res, codec.Key(res, b.Namespace, b.Name), dryRun, func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), b.Name)
		}
		now := old.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		if err := checkBudget(now); err != nil {
			return nil, err
		}
		recordDisruption(now, pod, a.now())
		return a.clock.updateManagedFields(tracker, old, now, "kube-apiserver"), nil
	})
	return err
}

// checkBudget refuses an eviction that a budget does not allow.
func checkBudget(b *policyv1.PodDisruptionBudget) error {
	refuse := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: policyv1.GroupName, Resource: "poddisruptionbudget"}, b.Name, errors.New(why))
	}
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		return budgetNotProcessed(b.Name)
	case b.Status.DisruptionsAllowed < 0:
		return refuse("pdb disruptions allowed is negative")
	case len(b.Status.DisruptedPods) > maxDisruptedPods:
		return refuse("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case b.Status.DisruptionsAllowed == 0:
		return status.DisruptionBudgetViolated(disruptionCause(b), 0)
	}
	return nil
}

// budgetNotProcessed is the refusal while nobody knows what the budget allows.
func budgetNotProcessed(name string) error {
	return status.DisruptionBudgetViolated("The disruption budget "+name+" is still being processed by the server.", 10)
}

// disruptionCause says why a budget allows no disruption.
func disruptionCause(b *policyv1.PodDisruptionBudget) string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	hasMessage := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case hasMessage && c.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, c.Message)
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
			b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case hasMessage:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

// recordDisruption tells the budget's controller which pod is about to go.
func recordDisruption(b *policyv1.PodDisruptionBudget, pod string, at metav1.Time) {
	b.Status.DisruptionsAllowed--
	if b.Status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
			Reason: policyv1.InsufficientPodsReason, ObservedGeneration: b.Status.ObservedGeneration,
		})
	}
	if b.Status.DisruptedPods == nil {
		b.Status.DisruptedPods = map[string]metav1.Time{}
	}
	b.Status.DisruptedPods[pod] = at
}
