package plugins

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// nodeSelectorAnnotation is the annotation of a namespace with the node selector of its pods.
const nodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"

// podNodeSelector adds the node selector of a namespace to that of its pods. It has no
// configuration: other namespaces have no selector, and pods may have any other labels in theirs.
type podNodeSelector struct {
	objects Objects
}

func newPodNodeSelector(d Dependencies) admission.Interface { return &podNodeSelector{d.Objects} }

func (p *podNodeSelector) Name() string { return "PodNodeSelector" }

func (p *podNodeSelector) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create)
}

func (p *podNodeSelector) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	selector, err := p.selectorFor(attrs, pod)
	if err != nil {
		return err
	}
	pod.Spec.NodeSelector = labels.Merge(selector, pod.Spec.NodeSelector)
	return nil
}

func (p *podNodeSelector) Validate(_ context.Context, attrs *admission.Attributes) error {
	_, err := p.selectorFor(attrs, attrs.Object.(*corev1.Pod))
	return err
}

// selectorFor returns the node selector of the namespace of a pod, or an error if that of the pod
// has another value of one of its labels.
func (p *podNodeSelector) selectorFor(attrs *admission.Attributes, pod *corev1.Pod) (labels.Set, error) {
	namespace, err := p.objects.Get(namespaces, "", attrs.Namespace)
	switch {
	case apierrors.IsNotFound(err): // only without the plugin NamespaceLifecycle
		return nil, apierrors.NewInternalError(fmt.Errorf("namespace %s does not exist", attrs.Namespace))
	case err != nil:
		return nil, err
	}
	selector, err := labels.ConvertSelectorToLabelsMap(resource.Accessor(namespace).GetAnnotations()[nodeSelectorAnnotation])
	if err != nil {
		return nil, err
	}
	if labels.Conflicts(selector, pod.Spec.NodeSelector) {
		return nil, apierrors.NewForbidden(pods.GroupResource(), pod.Name,
			errors.New("pod node label selector conflicts with its namespace node label selector"))
	}
	return selector, nil
}
