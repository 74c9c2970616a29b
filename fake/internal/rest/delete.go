package rest

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// BeforeDelete applies the options of a delete, which WithGrantedGracePeriod returned, to obj.
// deleteNow reports whether the object is to be removed now, and storeFirst whether obj must be
// stored before that or, if it is not removed, instead. isCollection is whether the delete is part
// of a deletecollection, which removes CustomResourceDefinitions without their custom resources, as
// on a real server.
func BeforeDelete(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, isCollection bool, now metav1.Time) (deleteNow, storeFirst bool) {
	if ns, ok := obj.(*corev1.Namespace); ok && !isNamespaceFinalized(ns) {
		terminateNamespace(ns, opts, now)
		return false, true
	}
	m := resource.Accessor(obj)
	if res.MarkTerminating != nil && m.GetDeletionTimestamp() == nil && !isCollection {
		res.MarkTerminating(obj, now.Time)
		return false, true
	}
	graceful, pending := setGracePeriod(res, obj, opts, now)
	if pending && !graceful {
		return false, false // nothing changes during the grace period (DL-24)
	}
	finalizers, changed := deletionFinalizers(res.GarbageCollection, m.GetFinalizers(), opts)
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

// WithGrantedGracePeriod returns the options of a delete with the grace period that obj gets, which
// may be opts. A real server sets it before admission, but not for namespaces and
// CustomResourceDefinitions, which it deletes in another way.
func WithGrantedGracePeriod(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions) *metav1.DeleteOptions {
	if IsNamespaces(res) || res.MarkTerminating != nil {
		return opts
	}
	period := opts.GracePeriodSeconds
	if period != nil && *period < 0 {
		period = new(int64(1)) // DL-25
	}
	if res.GracePeriod != nil && resource.Accessor(obj).GetDeletionTimestamp() == nil {
		period = new(res.GracePeriod(obj, period))
	}
	if period == opts.GracePeriodSeconds {
		return opts
	}
	granted := *opts
	granted.GracePeriodSeconds = period
	return &granted
}

// IsDeletePending reports whether a delete with options that WithGrantedGracePeriod returned
// changes nothing, because the object is being deleted and is removed later: a namespace that is
// not finalized, or an object whose grace period does not become shorter (DL-24).
func IsDeletePending(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions) bool {
	m := resource.Accessor(obj)
	if m.GetDeletionTimestamp() == nil {
		return false
	}
	if ns, ok := obj.(*corev1.Namespace); ok {
		return !isNamespaceFinalized(ns)
	}
	return res.GracePeriod != nil && isGracePeriodKept(m, opts.GracePeriodSeconds)
}

// isGracePeriodKept reports whether an object in its grace period keeps it when a delete requests
// another one.
func isGracePeriodKept(m metav1.Object, requested *int64) bool {
	granted := m.GetDeletionGracePeriodSeconds()
	return granted != nil && *granted != 0 && (requested == nil || *requested >= *granted)
}

// setGracePeriod starts or shortens the grace period of an object whose resource has one (DL-22 to
// DL-25). graceful reports whether obj was changed, and pending whether the grace period is not
// over.
func setGracePeriod(res *resource.Resource, obj runtime.Object, opts *metav1.DeleteOptions, now metav1.Time) (graceful, pending bool) {
	if res.GracePeriod == nil {
		return false, false // DL-26
	}
	m := resource.Accessor(obj)
	if m.GetDeletionTimestamp() != nil {
		return shortenGracePeriod(m, opts.GracePeriodSeconds, now)
	}
	period := *opts.GracePeriodSeconds
	setDeletion(m, now.Add(time.Duration(period)*time.Second), period)
	return true, period > 0
}

// shortenGracePeriod handles a delete of an object in its grace period, which can only become
// shorter (DL-24). Its results are those of setGracePeriod.
func shortenGracePeriod(m metav1.Object, requested *int64, now metav1.Time) (graceful, pending bool) {
	granted := m.GetDeletionGracePeriodSeconds()
	switch {
	case granted == nil || *granted == 0:
		return false, false
	case isGracePeriodKept(m, requested):
		return false, true
	}
	period := *requested
	begin := m.GetDeletionTimestamp().Add(-time.Duration(*granted) * time.Second)
	end := begin.Add(time.Duration(period) * time.Second)
	if end.Before(now.Time) {
		end = now.Time
		period = min(period, 1)
	}
	setDeletion(m, end, period)
	return true, period > 0
}

// setDeletion sets the time of deletion and the grace period in seconds. The first time increments
// the generation (MD-16).
func setDeletion(m metav1.Object, end time.Time, period int64) {
	if m.GetDeletionTimestamp() == nil && m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	t := metav1.NewTime(end)
	m.SetDeletionTimestamp(&t)
	m.SetDeletionGracePeriodSeconds(&period)
}

// markDeleted sets the time of deletion of an object with finalizers (DL-03, MD-16), if it has none
// (DL-04).
func markDeleted(m metav1.Object, now metav1.Time) {
	end := now.Time
	if t := m.GetDeletionTimestamp(); t != nil {
		end = t.Time
	}
	setDeletion(m, end, 0)
}

// deletionFinalizers returns the finalizers that an object has after a delete, and whether they
// differ from the current ones. The finalizers of the garbage collector depend on the propagation
// policy (DL-12 to DL-14).
func deletionFinalizers(byDefault resource.GarbageCollectionPolicy, current []string, opts *metav1.DeleteOptions) (finalizers []string, changed bool) {
	policy := propagationPolicy(byDefault, current, opts)
	for _, f := range current {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			finalizers = append(finalizers, f)
		}
	}
	switch policy {
	case metav1.DeletePropagationOrphan:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	return finalizers, !equalSets(current, finalizers)
}

// propagationPolicy returns the policy of the options or, if they have none, that of the finalizers
// or, without those, the default of the resource.
func propagationPolicy(byDefault resource.GarbageCollectionPolicy, finalizers []string, opts *metav1.DeleteOptions) metav1.DeletionPropagation {
	if byDefault == resource.GarbageCollectionUnsupported {
		return metav1.DeletePropagationBackground
	}
	if orphan := OrphanDependents(opts); orphan != nil {
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
	case byDefault == resource.OrphanDependents:
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// OrphanDependents returns the option that propagationPolicy replaced and that old clients still
// send.
func OrphanDependents(opts *metav1.DeleteOptions) *bool {
	return opts.OrphanDependents //lint:ignore SA1019 see above
}

// equalSets reports whether all of a are in b, which is as long.
func equalSets(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	inB := make(map[string]bool, len(b))
	for _, s := range b {
		inB[s] = true
	}
	return !slices.ContainsFunc(a, func(s string) bool { return !inB[s] })
}

// CheckPreconditions returns the 409 of a delete whose preconditions m does not meet (DL-10,
// DL-11). p may be nil. The error names the kind instead of the resource (OC-20), except for
// namespaces and CustomResourceDefinitions, which a real server handles separately.
func CheckPreconditions(res *resource.Resource, m metav1.Object, p *metav1.Preconditions) error {
	kind := schema.GroupResource{Group: res.Group, Resource: res.Kind}
	separate := separatePreconditionError(res)
	switch {
	case p == nil:
		return nil
	case p.UID != nil && *p.UID != m.GetUID():
		if separate != nil {
			return separate(res.GroupResource(), m.GetName(), "UID", *p.UID, m.GetUID())
		}
		return status.UIDPreconditionFailed(kind, m.GetName(), *p.UID, m.GetUID())
	case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():
		if separate != nil {
			return separate(res.GroupResource(), m.GetName(), "ResourceVersion", *p.ResourceVersion, m.GetResourceVersion())
		}
		return status.ResourceVersionPreconditionFailed(kind, m.GetName(), *p.ResourceVersion, m.GetResourceVersion())
	}
	return nil
}

// separatePreconditionError returns the function for the errors of preconditions of namespaces and
// CustomResourceDefinitions, nil for other resources.
func separatePreconditionError(res *resource.Resource) func(gr schema.GroupResource, name, field string, sent, stored any) error {
	switch {
	case IsNamespaces(res):
		return status.PreconditionFailed
	case res.Group == apiextensionsv1.GroupName:
		return status.DefinitionPreconditionFailed
	}
	return nil
}
