package handlers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// beforeDelete does to an object what a delete with these options does to it now. gone
// tells that it is to be removed now, and marked that it is to be stored as it is
// before that, or instead.
func beforeDelete(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, now metav1.Time) (deleteNow, storeFirst bool) {
	if ns, ok := obj.(*corev1.Namespace); ok && !isNamespaceFinalized(ns) {
		terminateNamespace(ns, opts, now)
		return false, true
	}
	if res.MarkTerminating != nil && accessor(obj).GetDeletionTimestamp() == nil {
		res.MarkTerminating(obj, now.Time)
		return false, true
	}
	m := accessor(obj)
	graceful, pending := setGracePeriod(res, obj, opts, now)
	if pending && !graceful {
		return false, false // an end that has begun stays as it is, finalizers included (DL-24)
	}
	finalizers, changed := deletionFinalizers(m.GetFinalizers(), opts)
	if changed {
		m.SetFinalizers(finalizers)
	}
	if len(m.GetFinalizers()) == 0 {
		return !pending, graceful || pending
	}
	if !graceful && !pending {
		markDeleted(m, now)
	}
	return false, true
}

// setGracePeriod gives an object of a graceful type its grace period (DL-22 to DL-25).
// graceful tells that it has been marked, waits that it has time left.
func setGracePeriod(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, now metav1.Time) (graceful, pending bool) {
	if res.GracePeriod == nil {
		return false, false // DL-26
	}
	m := accessor(obj)
	if m.GetDeletionTimestamp() != nil {
		return shortenGracePeriod(m, opts.GracePeriodSeconds, now)
	}
	period := res.GracePeriod(obj, opts.GracePeriodSeconds)
	setDeletion(m, now.Add(time.Duration(period)*time.Second), period)
	return true, period > 0
}

// shortenGracePeriod is a delete of an object in its grace period, which may only become
// shorter (DL-24).
func shortenGracePeriod(m metav1.Object, requested *int64, now metav1.Time) (graceful, pending bool) {
	granted := m.GetDeletionGracePeriodSeconds()
	switch {
	case granted == nil || *granted == 0:
		return false, false
	case requested == nil || max(*requested, 0) >= *granted:
		return false, true
	}
	period := *requested
	if period < 0 {
		period = 1
	}
	begin := m.GetDeletionTimestamp().Add(-time.Duration(*granted) * time.Second)
	end := begin.Add(time.Duration(period) * time.Second)
	if end.Before(now.Time) {
		end = now.Time
		period = min(period, 1)
	}
	setDeletion(m, end, period)
	return true, period > 0
}

// setDeletion says when an object will be gone. The first time is a change of its
// specification (MD-16).
func setDeletion(m metav1.Object, end time.Time, period int64) {
	if m.GetDeletionTimestamp() == nil && m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	t := metav1.NewTime(end)
	m.SetDeletionTimestamp(&t)
	m.SetDeletionGracePeriodSeconds(&period)
}

// markDeleted says of an object with finalizers that it is being deleted
// (DL-03, MD-16). Saying it again changes nothing (DL-04).
func markDeleted(m metav1.Object, now metav1.Time) {
	end := now.Time
	if t := m.GetDeletionTimestamp(); t != nil {
		end = t.Time
	}
	setDeletion(m, end, 0)
}

// deletionFinalizers gives the finalizers that an object has after a delete: those
// of the garbage collector come and go with the policy (DL-12 to DL-14), and stay
// as they are without one.
func deletionFinalizers(have []string, opts *metav1.DeleteOptions) (want []string, changed bool) {
	policy := propagationPolicy(have, opts)
	for _, f := range have {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			want = append(want, f)
		}
	}
	switch policy {
	case metav1.DeletePropagationOrphan:
		want = append(want, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		want = append(want, metav1.FinalizerDeleteDependents)
	}
	return want, !equalSets(have, want)
}

// propagationPolicy is the policy that the options name or, without one, the finalizers.
func propagationPolicy(finalizers []string, opts *metav1.DeleteOptions) metav1.DeletionPropagation {
	if orphan := orphanDependents(opts); orphan != nil {
		if *orphan {
			return metav1.DeletePropagationOrphan
		}
		return metav1.DeletePropagationBackground
	}
	if opts.PropagationPolicy != nil {
		return *opts.PropagationPolicy
	}
	switch {
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

func equalSets(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return len(a) == len(b)
}
