// Package quota measures what the objects in a namespace use, and compares it with ResourceQuotas.
package quota

import (
	"fmt"
	"maps"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Lister reads the stored objects of a resource in a namespace.
type Lister interface {
	// Has reports whether a resource is served, and its objects are in namespaces.
	Has(gr schema.GroupResource) bool
	// List returns the objects in the storage version.
	List(gr schema.GroupResource, namespace string) ([]runtime.Object, error)
	// Count returns the number of objects, without decoding them.
	Count(gr schema.GroupResource, namespace string) int
	// DeviceClasses returns the names of the DeviceClasses, each with its extended resource, "" if it
	// has none.
	DeviceClasses() map[string]string
}

// Write is a write that may increase what a namespace uses.
type Write struct {
	Operation     admissionv1.Operation
	GroupResource schema.GroupResource
	Subresource   string
	Namespace     string
	// Object is the new object and Old the stored one, nil if there is none.
	Object, Old runtime.Object
	// Now is the time of the server: pods whose grace period is over do not count.
	Now time.Time
}

// IsCounted reports whether a quota can be about the write.
func (w *Write) IsCounted() bool {
	return w.Namespace != "" && !isIgnored(w.GroupResource) && evaluatorFor(w.GroupResource, nil).handles(w)
}

// Check returns the reason why the write exceeds one of quotas. applies reports whether a quota
// applies to it, so that the result depends on stored objects.
func (w *Write) Check(quotas []*corev1.ResourceQuota, stored Lister) (applies bool, err error) {
	e := evaluatorFor(w.GroupResource, stored)
	quotas, err = w.matching(e, quotas)
	if err != nil {
		return true, err
	}
	for _, q := range quotas {
		matching, wanted := e.matchingNames(q), e.usage(w.Object, w.Now)
		if w.Old != nil && e.isInScopes(q, w.Old) {
			wanted = increase(wanted, e.usage(w.Old, w.Now))
		}
		wanted = increase(only(wanted, matching), nil)
		if len(wanted) == 0 {
			continue
		}
		applies = true
		used := corev1.ResourceList{}
		for _, gr := range countedWith(w.GroupResource) {
			more, err := usedOf(q, gr, w.Now, stored)
			if err != nil {
				return true, err
			}
			add(used, more)
		}
		if err := checkHard(q, wanted, used); err != nil {
			return true, err
		}
	}
	return applies, nil
}

// matching returns those of quotas that are about the write, or an error if it does not specify
// what one of them requires.
func (w *Write) matching(e *evaluator, quotas []*corev1.ResourceQuota) (matching []*corev1.ResourceQuota, err error) {
	for _, q := range quotas {
		names := e.matchingNames(q)
		if len(names) == 0 || !e.isInScopes(q, w.Object) {
			continue
		}
		if e.missing != nil {
			if text := e.missing(names, w.Object); text != "" {
				return nil, fmt.Errorf("failed quota: %s: must specify %s", q.Name, text)
			}
		}
		matching = append(matching, q)
	}
	return matching, nil
}

// checkHard returns an error if wanted and used together exceed the hard limits of a quota.
func checkHard(q *corev1.ResourceQuota, wanted, used corev1.ResourceList) error {
	var exceeded []corev1.ResourceName
	for _, name := range names(wanted) {
		total := used[name].DeepCopy()
		total.Add(wanted[name])
		if total.Cmp(q.Spec.Hard[name]) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if len(exceeded) == 0 {
		return nil
	}
	return fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
		q.Name, format(only(wanted, exceeded)), format(only(used, exceeded)), format(only(q.Spec.Hard, exceeded)))
}

// matchingNames returns the names of the hard limits that are about the resource, sorted.
func (e *evaluator) matchingNames(q *corev1.ResourceQuota) []corev1.ResourceName {
	return slices.DeleteFunc(names(q.Spec.Hard), func(name corev1.ResourceName) bool { return !e.matches(name) })
}

// isInScopes reports whether an object is in all scopes of a quota.
func (e *evaluator) isInScopes(q *corev1.ResourceQuota, obj runtime.Object) bool {
	return !slices.ContainsFunc(scopesOf(q), func(scope corev1.ScopedResourceSelectorRequirement) bool {
		return e.inScope == nil || !e.inScope(scope, obj)
	})
}

// countsOnly reports whether all that a quota limits of the resource is the number of its objects.
func (e *evaluator) countsOnly(q *corev1.ResourceQuota, matching []corev1.ResourceName) bool {
	return len(scopesOf(q)) == 0 &&
		!slices.ContainsFunc(matching, func(name corev1.ResourceName) bool { return !slices.Contains(e.counted, name) })
}

// countedWith returns the resources whose objects count for the limits that a resource counts for:
// devices are requested by pods, as extended resources, and by ResourceClaims.
func countedWith(gr schema.GroupResource) []schema.GroupResource {
	switch pods := (schema.GroupResource{Resource: "pods"}); gr {
	case pods:
		return []schema.GroupResource{pods, resourceClaims}
	case resourceClaims:
		return []schema.GroupResource{resourceClaims, pods}
	}
	return []schema.GroupResource{gr}
}

// usedOf returns what the stored objects of a resource use of the limits of a quota.
func usedOf(q *corev1.ResourceQuota, gr schema.GroupResource, now time.Time, stored Lister) (corev1.ResourceList, error) {
	e := evaluatorFor(gr, stored)
	matching := e.matchingNames(q)
	if len(matching) == 0 {
		return nil, nil
	}
	if e.countsOnly(q, matching) {
		return times(stored.Count(gr, q.Namespace), matching), nil
	}
	sum := times(0, matching)
	objects, err := stored.List(gr, q.Namespace)
	if err != nil {
		return nil, err
	}
	for _, obj := range objects {
		if e.isInScopes(q, obj) {
			add(sum, only(e.usage(obj, now), matching))
		}
	}
	return sum, nil
}

// Status returns the status of a quota: its limits, and what the stored objects use of them. The
// usage of other names remains as it is: objects that are never counted, a resource that is not
// served, and what only other controllers know.
func Status(q *corev1.ResourceQuota, now time.Time, stored Lister) (corev1.ResourceQuotaStatus, error) {
	limits, counted := names(q.Spec.Hard), corev1.ResourceList{}
	status := corev1.ResourceQuotaStatus{Hard: q.Spec.Hard.DeepCopy(), Used: only(q.Status.Used, limits)}
	done := map[schema.GroupResource]bool{}
	for _, name := range limits {
		named, ok := Resource(name)
		if !ok {
			continue
		}
		for _, gr := range countedWith(named) {
			if done[gr] || isIgnored(gr) || !stored.Has(gr) {
				continue
			}
			done[gr] = true
			used, err := usedOf(q, gr, now, stored)
			if err != nil {
				return status, err
			}
			add(counted, used)
		}
	}
	maps.Copy(status.Used, counted)
	return status, nil
}
