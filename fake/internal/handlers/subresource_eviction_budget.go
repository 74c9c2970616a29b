package handlers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
)

// maxDisruptedPods is the number of disrupted pods in the status of a budget above which it does
// not allow evictions.
const maxDisruptedPods = 2000

// spendDisruptionBudget decrements the PodDisruptionBudget of a pod and returns its name, or "" if
// there is none. isUnhealthy reports that the budget was not decremented, because the pod is not
// healthy now. The error is that of an eviction that the budget does not allow.
func (a *API) spendDisruptionBudget(q *request, pod *corev1.Pod, opts *metav1.DeleteOptions) (name string, isUnhealthy bool, err error) {
	res := a.types.Table().Lookup("policy", "v1", "poddisruptionbudgets")
	budgets, err := a.matchingBudgets(res, q.namespace(), pod)
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
	return b.Name, false, a.decrementBudget(q, res, b, pod, opts)
}

// matchingBudgets returns the budgets whose selector matches pod.
func (a *API) matchingBudgets(res *resource.Resource, namespace string, pod *corev1.Pod) (all []*policyv1.PodDisruptionBudget, err error) {
	for rec := range a.store.View().Range(codec.Key(res, namespace, ""), "") {
		obj, err := a.store.Decode(res, rec)
		if err != nil {
			return nil, err
		}
		b := obj.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) { // an invalid selector does not match
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

// canEvictUnhealthy reports whether a budget allows the eviction of pods that are not ready: by its
// policy, or because it has as many healthy pods as desired (KEP-3017).
func canEvictUnhealthy(b *policyv1.PodDisruptionBudget) bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// decrementBudget decrements disruptionsAllowed in the status of a budget. A real server does this
// through its own client, and before it checks the preconditions of the delete.
func (a *API) decrementBudget(q *request, res *resource.Resource, b *policyv1.PodDisruptionBudget, pod *corev1.Pod, opts *metav1.DeleteOptions) error {
	manager, err := a.types.FieldManager(res, "status")
	if err != nil {
		return err
	}
	_, err = a.store.GuaranteedUpdate(q.r.Context(), res, codec.Key(res, b.Namespace, b.Name), isDryRun(opts.DryRun), func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), b.Name)
		}
		updated := old.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		if err := checkBudget(updated); err != nil {
			return nil, err
		}
		if err := rest.CheckPreconditions(q.res, pod, nonEmpty(opts.Preconditions)); err != nil {
			return nil, err
		}
		recordDisruption(updated, pod.Name, a.clock.Timestamp())
		return a.clock.UpdateManagedFields(manager, old, updated, serverManager), nil
	})
	return err
}

// checkBudget returns the error of an eviction that a budget does not allow.
func checkBudget(b *policyv1.PodDisruptionBudget) error {
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		return budgetNotProcessed(b.Name)
	case b.Status.DisruptionsAllowed < 0:
		const problem = "pdb disruptions allowed is negative"
		return status.DisruptionBudgetForbidden(b.Name, problem, noDisruption(b)+": "+problem)
	case len(b.Status.DisruptedPods) > maxDisruptedPods:
		return status.DisruptionBudgetForbidden(b.Name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			noDisruption(b)+": too many pending evictions not confirmed by PDB controller")
	case b.Status.DisruptionsAllowed == 0:
		return status.DisruptionBudgetViolated(disruptionCause(b), 0)
	}
	return nil
}

// budgetNotProcessed is the 429 of an eviction while the status of the budget is not up to date.
func budgetNotProcessed(name string) error {
	return status.DisruptionBudgetViolated("The disruption budget "+name+" is still being processed by the server.", 10)
}

// disruptionCause returns the reason why a budget does not allow a disruption.
func disruptionCause(b *policyv1.PodDisruptionBudget) string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	hasMessage := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case hasMessage && c.Reason == policyv1.SyncFailedReason:
		return noDisruption(b) + " because it failed sync: " + c.Message
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently",
			b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case hasMessage:
		return fmt.Sprintf("%s (%s): %s", noDisruption(b), c.Reason, c.Message)
	}
	return noDisruption(b)
}

func noDisruption(b *policyv1.PodDisruptionBudget) string {
	return "The disruption budget " + b.Name + " does not allow evicting pods currently"
}

// recordDisruption decrements disruptionsAllowed and adds the pod to disruptedPods, for the
// controller of budgets.
func recordDisruption(b *policyv1.PodDisruptionBudget, pod string, now metav1.Time) {
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
	b.Status.DisruptedPods[pod] = now
}
