package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

var limitRanges = corev1.SchemeGroupVersion.WithResource("limitranges")

// limitRangerAnnotation is the annotation that names the defaults of a pod.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// limitRanger sets the default requests and limits of containers, and refuses pods and claims that
// are not within the LimitRanges of their namespace.
type limitRanger struct {
	objects Objects
}

func newLimitRanger(d Dependencies) admission.Interface { return &limitRanger{d.Objects} }

func (p *limitRanger) Name() string { return "LimitRanger" }

// Handles reports whether a write sets resources: the update of a pod does so only in its
// subresource resize.
func (p *limitRanger) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create) || isUpdateOf(attrs, pods, "resize") ||
		isWriteOf(attrs, claims, admissionv1.Create, admissionv1.Update)
}

func (p *limitRanger) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod, ok := attrs.Object.(*corev1.Pod)
	if !ok || isBeingDeleted(attrs.OldObject) {
		return nil
	}
	return p.eachRange(attrs, func(limits *corev1.LimitRange) error {
		setContainerDefaults(pod, limits)
		return nil
	})
}

func (p *limitRanger) Validate(_ context.Context, attrs *admission.Attributes) error {
	if isBeingDeleted(attrs.OldObject) {
		return nil
	}
	return p.eachRange(attrs, func(limits *corev1.LimitRange) error {
		if err := checkLimitRange(limits, attrs.Object); err != nil {
			return forbidden(attrs, err)
		}
		return nil
	})
}

func isBeingDeleted(obj runtime.Object) bool {
	return obj != nil && resource.Accessor(obj).GetDeletionTimestamp() != nil
}

// eachRange calls do for the LimitRanges of a namespace until one returns an error.
func (p *limitRanger) eachRange(attrs *admission.Attributes, do func(*corev1.LimitRange) error) error {
	objects, err := p.objects.List(limitRanges, attrs.Namespace)
	if err != nil {
		return forbidden(attrs, err)
	}
	for _, obj := range objects {
		if err := do(obj.(*corev1.LimitRange)); err != nil {
			return err
		}
	}
	return nil
}

// setContainerDefaults sets the requests and limits that containers do not have, and annotates the
// pod with what was set. If several items of the range have a default, the last one counts.
func setContainerDefaults(pod *corev1.Pod, limits *corev1.LimitRange) {
	defaults := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, item := range limits.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			maps.Copy(defaults.Requests, item.DefaultRequest)
			maps.Copy(defaults.Limits, item.Default)
		}
	}
	var texts []string
	merge := func(containers []corev1.Container, kind string) {
		for i := range containers {
			c := &containers[i]
			if set := mergeDefaults(&c.Resources.Requests, defaults.Requests); set != "" {
				texts = append(texts, set+" request for "+kind+" "+c.Name)
			}
			if set := mergeDefaults(&c.Resources.Limits, defaults.Limits); set != "" {
				texts = append(texts, set+" limit for "+kind+" "+c.Name)
			}
		}
	}
	merge(pod.Spec.Containers, "container")
	merge(pod.Spec.InitContainers, "init container")
	if len(texts) == 0 {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(texts, "; ")
}

// mergeDefaults adds the defaults that list does not have, and returns their names.
func mergeDefaults(list *corev1.ResourceList, defaults corev1.ResourceList) string {
	var set []string
	for name, quantity := range defaults {
		if _, ok := (*list)[name]; ok {
			continue
		}
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = quantity.DeepCopy()
		set = append(set, string(name))
	}
	slices.Sort(set)
	return strings.Join(set, ", ")
}

// checkLimitRange returns an error with all violations of a range by a pod or a claim.
func checkLimitRange(limits *corev1.LimitRange, obj runtime.Object) error {
	var c limitChecker
	for i := range limits.Spec.Limits {
		c.item = &limits.Spec.Limits[i]
		switch obj := obj.(type) {
		case *corev1.Pod:
			c.checkPod(obj)
		case *corev1.PersistentVolumeClaim:
			if c.item.Type == corev1.LimitTypePersistentVolumeClaim {
				c.checkMin(obj.Spec.Resources.Requests, nil)
				c.checkMaxRequest(obj.Spec.Resources.Requests)
			}
		}
	}
	return c.err()
}

// eachLimit calls do for the limits in the order of their names.
func eachLimit(limits corev1.ResourceList, do func(name corev1.ResourceName)) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		do(name)
	}
}

// notWithin formats a violation as a real server does.
func notWithin(bound string, name corev1.ResourceName, item *corev1.LimitRangeItem, limits corev1.ResourceList, cause string) error {
	limit := limits[name]
	return fmt.Errorf("%s %s usage per %s is %s%s", bound, name, item.Type, limit.String(), cause)
}
