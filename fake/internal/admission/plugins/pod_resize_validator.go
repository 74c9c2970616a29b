package plugins

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/fakeapi/fake/internal/admission"
)

// The causes of a refused resize.
const (
	causeNodeCapacity        metav1.CauseType = "NodeCapacity"
	causeUnsupportedPlatform metav1.CauseType = "UnsupportedPlatform"
)

// podResizeValidator refuses to resize a pod on a node whose label has another system than Linux,
// or to more than its node has.
type podResizeValidator struct {
	objects Objects
}

func newPodResizeValidator(d Dependencies) admission.Interface {
	return &podResizeValidator{d.Objects}
}

func (p *podResizeValidator) Name() string { return "PodResizeValidator" }

func (p *podResizeValidator) Handles(attrs *admission.Attributes) bool {
	return isUpdateOf(attrs, pods, "resize")
}

func (p *podResizeValidator) Validate(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	if !isChangeOnNode(pod, attrs.OldObject.(*corev1.Pod)) {
		return nil
	}
	node, err := nodeOf(p.objects, attrs, pod)
	if err != nil {
		return err
	}
	if system, ok := node.Labels[corev1.LabelOSStable]; ok && system != "linux" {
		err := forbiddenf(attrs, "pod resize is only supported on linux nodes, node %q is %q", node.Name, system)
		return withCause(err, metav1.StatusCause{Type: causeUnsupportedPlatform})
	}
	if text := exceedsAllocatable(pod, node.Status.Allocatable); text != "" {
		return withCause(forbiddenf(attrs, "node didn't have enough allocatable resources: %s", text), metav1.StatusCause{Type: causeNodeCapacity})
	}
	return nil
}

// isChangeOnNode reports whether the spec of a pod changes that is bound to a node.
func isChangeOnNode(pod, old *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Generation != old.Generation
}

// nodeOf returns the node that a pod is bound to, or the refusal of a write if there is none.
func nodeOf(objects Objects, attrs *admission.Attributes, pod *corev1.Pod) (*corev1.Node, error) {
	obj, err := objects.Get(nodes, "", pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err):
		return nil, forbiddenf(attrs, "node %q not found", pod.Spec.NodeName)
	case err != nil:
		return nil, forbiddenf(attrs, "failed to get node %q: %w", pod.Spec.NodeName, err)
	}
	return obj.(*corev1.Node), nil
}

// exceedsAllocatable returns which requests of a pod exceed what its node has for pods, "" if none
// do.
func exceedsAllocatable(pod *corev1.Pod, allocatable corev1.ResourceList) string {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	var texts []string
	if wanted, has := requests.Cpu(), allocatable.Cpu(); wanted.Cmp(*has) > 0 {
		texts = append(texts, fmt.Sprintf("cpu, requested: %d, allocatable: %d", wanted.MilliValue(), has.MilliValue()))
	}
	if wanted, has := requests.Memory(), allocatable.Memory(); wanted.Cmp(*has) > 0 {
		texts = append(texts, fmt.Sprintf("memory, requested: %d, allocatable: %d", wanted.Value(), has.Value()))
	}
	return strings.Join(texts, "; ")
}
