package plugins

import (
	"context"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
)

// podTopologyLabels copies the labels of a node for its zone and region to the pods that are bound
// to it or created on it.
type podTopologyLabels struct {
	objects Objects
}

func newPodTopologyLabels(d Dependencies) admission.Interface { return &podTopologyLabels{d.Objects} }

func (p *podTopologyLabels) Name() string { return "PodTopologyLabels" }

func (p *podTopologyLabels) Handles(attrs *admission.Attributes) bool {
	return attrs.Operation == admissionv1.Create && (attrs.Subresource == "" || attrs.Subresource == "binding") &&
		attrs.GroupResource() == pods.GroupResource()
}

// Admit sets the labels of a pod, or those of a binding, which become those of the pod.
func (p *podTopologyLabels) Admit(_ context.Context, attrs *admission.Attributes) error {
	switch obj := attrs.Object.(type) {
	case *corev1.Pod:
		return p.copyLabels(obj.Spec.NodeName, obj)
	case *corev1.Binding:
		if obj.Target.Kind == "Node" {
			return p.copyLabels(obj.Target.Name, obj)
		}
	}
	return nil
}

// copyLabels copies the labels of a node, if it exists.
func (p *podTopologyLabels) copyLabels(node string, to metav1.Object) error {
	if node == "" {
		return nil
	}
	obj, err := p.objects.Get(nodes, "", node)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	labels := to.GetLabels()
	for _, key := range [...]string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		value, ok := resource.Accessor(obj).GetLabels()[key]
		if !ok {
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
	}
	to.SetLabels(labels)
	return nil
}
