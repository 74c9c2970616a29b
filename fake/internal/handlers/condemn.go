package handlers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// condemn does to an object what a delete with these options does to it now. gone
// tells that it is to be removed now, and marked that it is to be stored as it is
// before that, or instead.
func condemn(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, now metav1.Time) (gone, marked bool) {
	if ns, ok := obj.(*corev1.Namespace); ok && !namespaceFinalized(ns) {
		terminate(ns, opts, now)
		return false, true
	}
	if res.MarkTerminating != nil && accessor(obj).GetDeletionTimestamp() == nil {
		res.MarkTerminating(obj, now.Time)
		return false, true
	}
	m := accessor(obj)
	graceful, waits := grant(res, obj, opts, now)
	if waits && !graceful {
		return false, false // an end that has begun stays as it is, finalizers included (DL-24)
	}
	finalizers, change := garbageFinalizers(m.GetFinalizers(), opts)
	if change {
		m.SetFinalizers(finalizers)
	}
	if len(m.GetFinalizers()) == 0 {
		return !waits, graceful || waits
	}
	if !graceful && !waits {
		markDeleted(m, now)
	}
	return false, true
}

// grant gives an object of a graceful type its grace period (DL-22 to DL-25).
// graceful tells that it has been marked, waits that it has time left.
func grant(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, now metav1.Time) (graceful, waits bool) {
	if res.GracePeriod == nil {
		return false, false // DL-26
	}
	m := accessor(obj)
	if m.GetDeletionTimestamp() != nil {
		return shorten(m, opts.GracePeriodSeconds, now)
	}
	period := res.GracePeriod(obj, opts.GracePeriodSeconds)
	expire(m, now.Add(time.Duration(period)*time.Second), period)
	return true, period > 0
}

// shorten is a delete of an object in its grace period, which may only become
// shorter (DL-24).
func shorten(m metav1.Object, asked *int64, now metav1.Time) (graceful, waits bool) {
	granted := m.GetDeletionGracePeriodSeconds()
	switch {
	case granted == nil || *granted == 0:
		return false, false
	case asked == nil || max(*asked, 0) >= *granted:
		return false, true
	}
	period := *asked
	if period < 0 {
		period = 1
	}
	begin := m.GetDeletionTimestamp().Add(-time.Duration(*granted) * time.Second)
	end := begin.Add(time.Duration(period) * time.Second)
	if end.Before(now.Time) {
		end = now.Time
		period = min(period, 1)
	}
	expire(m, end, period)
	return true, period > 0
}

// expire says when an object will be gone. The first time is a change of its
// specification (MD-16).
func expire(m metav1.Object, end time.Time, period int64) {
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
	expire(m, end, 0)
}

// garbageFinalizers gives the finalizers that an object has after a delete: those
// of the garbage collector come and go with the policy (DL-12 to DL-14), and stay
// as they are without one.
func garbageFinalizers(have []string, opts *metav1.DeleteOptions) (want []string, change bool) {
	policy := policyOf(have, opts)
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
	return want, !sameSet(have, want)
}

// policyOf is the policy that the options name or, without one, the finalizers.
func policyOf(finalizers []string, opts *metav1.DeleteOptions) metav1.DeletionPropagation {
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

func sameSet(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return len(a) == len(b)
}
