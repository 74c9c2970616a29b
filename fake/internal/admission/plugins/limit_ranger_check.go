package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	resourcehelper "k8s.io/component-helpers/resource"
)

// limitChecker collects the violations of the items of a LimitRange.
type limitChecker struct {
	item *corev1.LimitRangeItem
	errs []error
}

// err returns the violations as a real server formats them.
func (c *limitChecker) err() error { return utilerrors.NewAggregate(c.errs) }

// checkPod compares the containers of a pod, or their sum, with an item.
func (c *limitChecker) checkPod(pod *corev1.Pod) {
	switch c.item.Type {
	case corev1.LimitTypeContainer:
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				c.checkResources(containers[i].Resources.Requests, containers[i].Resources.Limits)
			}
		}
	case corev1.LimitTypePod:
		requests, limits := podTotals(pod)
		c.checkResources(requests, limits)
	}
}

// podTotals returns the sums of the resources of containers. Processor time and memory of the pod
// itself replace them; other resources of the pod do not, as in kube-apiserver.
func podTotals(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	opts := resourcehelper.PodResourcesOptions{ExcludeOverhead: true, SkipPodLevelResources: true}
	requests, limits = resourcehelper.PodRequests(pod, opts), resourcehelper.PodLimits(pod, opts)
	if own := pod.Spec.Resources; own != nil {
		for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := own.Requests[name]; ok {
				requests[name] = quantity
			}
			if quantity, ok := own.Limits[name]; ok {
				limits[name] = quantity
			}
		}
	}
	return requests, limits
}

func (c *limitChecker) checkResources(requests, limits corev1.ResourceList) {
	c.checkMin(requests, limits)
	c.checkMax(requests, limits)
	c.checkRatio(requests, limits)
}

func (c *limitChecker) checkMin(requests, limits corev1.ResourceList) {
	eachLimit(c.item.Min, func(name corev1.ResourceName) {
		request, hasRequest := requests[name]
		limit, hasLimit := limits[name]
		req, lim, bound := comparable3(request, limit, c.item.Min[name])
		var cause string
		switch {
		case !hasRequest:
			cause = ".  No request is specified"
		case req < bound:
			cause = ", but request is " + request.String()
		case hasLimit && lim < bound:
			cause = ", but limit is " + limit.String()
		default:
			return
		}
		c.errs = append(c.errs, notWithin("minimum", name, c.item, c.item.Min, cause))
	})
}

func (c *limitChecker) checkMax(requests, limits corev1.ResourceList) {
	eachLimit(c.item.Max, func(name corev1.ResourceName) {
		request, hasRequest := requests[name]
		limit, hasLimit := limits[name]
		req, lim, bound := comparable3(request, limit, c.item.Max[name])
		var cause string
		switch {
		case !hasLimit:
			cause = ".  No limit is specified"
		case lim > bound:
			cause = ", but limit is " + limit.String()
		case hasRequest && req > bound:
			cause = ", but request is " + request.String()
		default:
			return
		}
		c.errs = append(c.errs, notWithin("maximum", name, c.item, c.item.Max, cause))
	})
}

// checkMaxRequest is checkMax for objects without limits.
func (c *limitChecker) checkMaxRequest(requests corev1.ResourceList) {
	eachLimit(c.item.Max, func(name corev1.ResourceName) {
		request, hasRequest := requests[name]
		req, _, bound := comparable3(request, apiresource.Quantity{}, c.item.Max[name])
		var cause string
		switch {
		case !hasRequest:
			cause = ".  No request is specified"
		case req > bound:
			cause = ", but request is " + request.String()
		default:
			return
		}
		c.errs = append(c.errs, notWithin("maximum", name, c.item, c.item.Max, cause))
	})
}

// checkRatio compares the ratio of limit to request with the item.
func (c *limitChecker) checkRatio(requests, limits corev1.ResourceList) {
	eachLimit(c.item.MaxLimitRequestRatio, func(name corev1.ResourceName) {
		bound := c.item.MaxLimitRequestRatio[name]
		req, lim, _ := comparable3(requests[name], limits[name], bound)
		ratio := float64(lim) / float64(req)
		compared, allowed := ratio, float64(bound.Value())
		if bound.Value() <= apiresource.MaxMilliValue {
			compared, allowed = ratio*1000, float64(bound.MilliValue()) // rounded as in kube-apiserver
		}
		var cause string
		switch {
		case req == 0:
			cause = "no request is specified or request is 0"
		case lim == 0:
			cause = "no limit is specified or limit is 0"
		case compared > allowed:
			cause = fmt.Sprintf("provided ratio is %f", ratio)
		default:
			return
		}
		c.errs = append(c.errs, fmt.Errorf("%s max limit to request ratio per %s is %s, but %s", name, c.item.Type, bound.String(), cause))
	})
}

// comparable3 returns the values of three quantities: in thousandths, or, if one is too large for
// that, rounded up to whole numbers.
func comparable3(request, limit, bound apiresource.Quantity) (int64, int64, int64) {
	if request.Value() <= apiresource.MaxMilliValue && limit.Value() <= apiresource.MaxMilliValue && bound.Value() <= apiresource.MaxMilliValue {
		return request.MilliValue(), limit.MilliValue(), bound.MilliValue()
	}
	return request.Value(), limit.Value(), bound.Value()
}
