package handlers

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/rest"
	"example.com/fakeapi/fake/internal/status"
)

// maxEvictionAttempts is how often an eviction is tried if the pod is changed at the same time.
const maxEvictionAttempts = 20

// evict deletes a pod if its PodDisruptionBudget allows it (SU-14).
func (a *API) evict(q *request) error {
	opts, obj, admission, err := a.decodePost(q.withBodyResource(q.sub.BodyResource()))
	if err != nil {
		return err
	}
	eviction := obj.(*policyv1.Eviction)
	if eviction.Name != q.info.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if o := eviction.DeleteOptions; o != nil && ignoresReadErrors(o) {
		return status.UnsafeEviction(eviction.Name)
	}
	deleteOpts, err := evictionDeleteOptions(eviction, opts.DryRun)
	if err != nil {
		return err
	}
	if err := admission.validate(eviction, nil); err != nil {
		return err
	}
	if err := q.checkName(); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		retry, err := a.tryEvict(q, deleteOpts)
		switch {
		case err == nil:
			return q.replyStatus(status.Created())
		case !retry || attempt == maxEvictionAttempts:
			return err
		}
	}
}

// evictionDeleteOptions returns the options of the delete of an eviction. The dry run can be
// requested in the query and in the body.
func evictionDeleteOptions(eviction *policyv1.Eviction, dryRun []string) (*metav1.DeleteOptions, error) {
	opts := cmp.Or(eviction.DeleteOptions, &metav1.DeleteOptions{})
	switch {
	case len(opts.DryRun) == 0:
		opts.DryRun = dryRun
	case len(dryRun) > 0 && !slices.Equal(dryRun, opts.DryRun):
		//lint:ignore ST1005 the text of a real server
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", dryRun, opts.DryRun)
	}
	return opts, nil
}

// hasResourceVersion reports whether opts have a precondition on the resourceVersion.
func hasResourceVersion(opts *metav1.DeleteOptions) bool {
	return opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil
}

// nonEmpty returns the preconditions of p that are not the empty string.
func nonEmpty(p *metav1.Preconditions) *metav1.Preconditions {
	var set metav1.Preconditions
	if p != nil && p.UID != nil && *p.UID != "" {
		set.UID = p.UID
	}
	if p != nil && p.ResourceVersion != nil && *p.ResourceVersion != "" {
		set.ResourceVersion = p.ResourceVersion
	}
	return &set
}

// withResourceVersion returns opts with a precondition on the resourceVersion, in place of any
// other.
func withResourceVersion(opts *metav1.DeleteOptions, revision string) *metav1.DeleteOptions {
	opts = opts.DeepCopy()
	opts.Preconditions = cmp.Or(opts.Preconditions, &metav1.Preconditions{})
	opts.Preconditions.ResourceVersion = &revision
	return opts
}

// tryEvict evicts the pod. retry reports whether the pod was changed at the same time and nothing
// was done.
func (a *API) tryEvict(q *request, opts *metav1.DeleteOptions) (retry bool, err error) {
	rec := a.store.View().Get(q.key())
	if rec == nil {
		return false, apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
	}
	obj, err := a.store.Decode(q.res, rec)
	if err != nil {
		return false, err
	}
	pod := obj.(*corev1.Pod)
	if err := status.InvalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts)); err != nil {
		return false, err // a real server decrements the budget first
	}
	switch phase := pod.Status.Phase; {
	case phase == corev1.PodSucceeded, phase == corev1.PodFailed, pod.DeletionTimestamp != nil:
		return false, a.deleteEvicted(q, opts) // it does not count for the budget any more
	case phase == corev1.PodPending && hasResourceVersion(opts):
		return false, a.deleteEvicted(q, opts)
	case phase == corev1.PodPending: // it does not count for the budget yet
		err := a.deleteEvicted(q, withResourceVersion(opts, pod.ResourceVersion))
		return apierrors.IsConflict(err), err
	}
	budget, isUnhealthy, err := a.spendDisruptionBudget(q, pod, opts)
	switch {
	case err != nil:
		return false, err
	case !isUnhealthy:
		return false, a.deleteEvicted(q, opts)
	}
	err = a.deleteEvicted(q, withResourceVersion(opts, pod.ResourceVersion))
	if apierrors.IsConflict(err) && !hasResourceVersion(opts) {
		return false, budgetNotProcessed(budget) // it may have become healthy
	}
	return false, err
}

// deleteEvicted deletes the pod, after it has set the condition DisruptionTarget.
func (a *API) deleteEvicted(q *request, opts *metav1.DeleteOptions) error {
	if !isDryRun(opts.DryRun) {
		var err error
		if opts, err = a.addDisruptionCondition(q, opts); err != nil {
			return err
		}
	}
	_, err := a.deleteObject(q.r.Context(), nil, q.res, q.key(), q.info.Name, opts, nil) // admission has run for the eviction
	return err
}

// addDisruptionCondition sets the condition DisruptionTarget, which distinguishes an eviction from
// a delete. It returns opts with the precondition on the resourceVersion, if they have one, set to
// the new one. Unlike the delete, it ignores preconditions that are the empty string.
func (a *API) addDisruptionCondition(q *request, opts *metav1.DeleteOptions) (*metav1.DeleteOptions, error) {
	result, err := a.store.GuaranteedUpdate(q.r.Context(), q.res, q.key(), false, func(old runtime.Object) (runtime.Object, error) {
		if old == nil {
			return nil, apierrors.NewNotFound(q.res.GroupResource(), q.info.Name)
		}
		pod := old.(*corev1.Pod)
		if err := rest.CheckPreconditions(q.res, pod, nonEmpty(opts.Preconditions)); err != nil {
			return nil, err
		}
		setPodCondition(pod, a.clock.Timestamp(), corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
		return pod, nil
	})
	if err != nil || !hasResourceVersion(opts) {
		return opts, err
	}
	return withResourceVersion(opts, result.Event.Record.Revision.String()), nil
}
