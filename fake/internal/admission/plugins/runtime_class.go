package plugins

import (
	"context"
	"errors"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/admission"
)

var runtimeClasses = nodev1.SchemeGroupVersion.WithResource("runtimeclasses")

// runtimeClass sets the overhead, the node selector and the tolerations of new pods by their
// RuntimeClass.
type runtimeClass struct {
	objects Objects
}

func newRuntimeClass(d Dependencies) admission.Interface { return &runtimeClass{d.Objects} }

func (p *runtimeClass) Name() string { return "RuntimeClass" }

func (p *runtimeClass) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create)
}

func (p *runtimeClass) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	class, err := p.classOf(attrs, pod)
	if class == nil || err != nil {
		return err
	}
	if overhead := class.Overhead; overhead != nil {
		if pod.Spec.Overhead != nil && !equality.Semantic.DeepEqual(overhead.PodFixed, pod.Spec.Overhead) {
			return overheadMismatch(attrs)
		}
		pod.Spec.Overhead = overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	if err := mergeNodeSelector(attrs, pod, class.Scheduling.NodeSelector); err != nil {
		return err
	}
	pod.Spec.Tolerations = mergeTolerations(pod.Spec.Tolerations, class.Scheduling.Tolerations)
	return nil
}

func (p *runtimeClass) Validate(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	class, err := p.classOf(attrs, pod)
	switch {
	case err != nil:
		return err
	case class != nil && class.Overhead != nil:
		if !equality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return overheadMismatch(attrs)
		}
	case pod.Spec.Overhead != nil:
		return forbiddenf(attrs, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	return nil
}

func overheadMismatch(attrs *admission.Attributes) error {
	return forbiddenf(attrs, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
}

// classOf returns the RuntimeClass of a pod, nil if the pod names none. An empty name is the error
// of the client of kube-apiserver, which reads a class that is not in its cache.
func (p *runtimeClass) classOf(attrs *admission.Attributes, pod *corev1.Pod) (*nodev1.RuntimeClass, error) {
	if pod.Spec.RuntimeClassName == nil {
		return nil, nil
	}
	if *pod.Spec.RuntimeClassName == "" {
		return nil, errors.New("resource name may not be empty")
	}
	obj, err := p.objects.Get(runtimeClasses, "", *pod.Spec.RuntimeClassName)
	switch {
	case apierrors.IsNotFound(err):
		return nil, forbiddenf(attrs, "pod rejected: RuntimeClass %q not found", *pod.Spec.RuntimeClassName)
	case err != nil:
		return nil, err
	}
	return obj.(*nodev1.RuntimeClass), nil
}

// mergeNodeSelector adds the node selector of a RuntimeClass to that of the pod.
func mergeNodeSelector(attrs *admission.Attributes, pod *corev1.Pod, selector map[string]string) error {
	if pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = selector
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value := selector[key]
		if old, ok := pod.Spec.NodeSelector[key]; ok && old != value {
			return forbiddenf(attrs, "conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, old)
		}
		pod.Spec.NodeSelector[key] = value
	}
	return nil
}

// mergeTolerations returns the tolerations of both lists without those that another one includes.
// Of two that are the same, the first stays.
func mergeTolerations(first, second []corev1.Toleration) (merged []corev1.Toleration) {
	all := slices.Concat(first, second)
	for i, t := range all {
		isIncluded := slices.ContainsFunc(merged, func(kept corev1.Toleration) bool { return includesToleration(kept, t) }) ||
			slices.ContainsFunc(all[i+1:], func(later corev1.Toleration) bool {
				return includesToleration(later, t) && !equality.Semantic.DeepEqual(later, t)
			})
		if !isIncluded {
			merged = append(merged, t)
		}
	}
	return merged
}

// includesToleration reports whether a pod with the toleration all tolerates what one with t does.
func includesToleration(all, t corev1.Toleration) bool {
	switch {
	case equality.Semantic.DeepEqual(all, t):
		return true
	case t.Key != all.Key && (all.Key != "" || all.Operator != corev1.TolerationOpExists),
		t.Effect != all.Effect && all.Effect != "":
		return false
	case all.Effect == corev1.TaintEffectNoExecute && all.TolerationSeconds != nil &&
		(t.TolerationSeconds == nil || *t.TolerationSeconds > *all.TolerationSeconds):
		return false
	}
	switch all.Operator {
	case corev1.TolerationOpEqual, "":
		return t.Operator == corev1.TolerationOpEqual && t.Value == all.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}
