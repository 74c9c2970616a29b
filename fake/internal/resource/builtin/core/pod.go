package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// setPodDefaults sets the defaults of a pod: first those that templates do not have, then the
// shared ones.
func setPodDefaults(pod *corev1.Pod) {
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil && *seconds < 0 {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	setRequestsFromLimits(pod.Spec.InitContainers)
	setRequestsFromLimits(pod.Spec.Containers)
	if pod.Spec.EnableServiceLinks == nil {
		pod.Spec.EnableServiceLinks = new(corev1.DefaultEnableServiceLinks)
	}
	if pod.Spec.HostNetwork {
		setHostPorts(pod.Spec.InitContainers)
		setHostPorts(pod.Spec.Containers)
	}
	setPodSpecDefaults(&pod.Spec)
	setPodStatusDefaults(&pod.Status)
	DropInitContainerAnnotations(pod.Annotations)
}

// setRequestsFromLimits requests as much as the limit of each resource that has no request.
func setRequestsFromLimits(containers []corev1.Container) {
	for i := range containers {
		r := &containers[i].Resources
		r.Requests = copyMissing(r.Requests, r.Limits)
	}
}

// setHostPorts sets the ports of containers that share the network of their node.
func setHostPorts(containers []corev1.Container) {
	for i := range containers {
		ports := containers[i].Ports
		for j := range ports {
			if ports[j].HostPort == 0 {
				ports[j].HostPort = ports[j].ContainerPort
			}
		}
	}
}

// setPodStatusDefaults makes podIP and podIPs agree. If both are set, podIP is right.
func setPodStatusDefaults(status *corev1.PodStatus) {
	switch ips := status.PodIPs; {
	case status.PodIP != "" && (len(ips) == 0 || ips[0].IP != status.PodIP):
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	case status.PodIP == "" && len(ips) > 0:
		status.PodIP = ips[0].IP
	}
	for _, statuses := range [...][]corev1.ContainerStatus{
		status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			setResourceListDefaults(statuses[i].AllocatedResources)
			if r := statuses[i].Resources; r != nil {
				setResourceListDefaults(r.Limits)
				setResourceListDefaults(r.Requests)
			}
		}
	}
	setResourceListDefaults(status.AllocatedResources)
	if r := status.Resources; r != nil {
		setResourceListDefaults(r.Limits)
		setResourceListDefaults(r.Requests)
	}
}

// preparePodForCreate sets the status of a new pod, its resources as a whole, and what follows from
// its labels and annotations.
func preparePodForCreate(ctx context.Context, pod *corev1.Pod) {
	setPodLevelResourceDefaults(&pod.Spec)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(pod)}
	dropDisabledPodSpecFields(&pod.Spec, nil)
	setSchedulingGatedCondition(pod)
	mergeLabelKeys(pod)
	copyAppArmorAnnotations(ctx, pod)
}

func preparePodForUpdate(_ context.Context, pod, old *corev1.Pod) {
	keepPodLevelResources(&pod.Spec, &old.Spec)
	if !equality.Semantic.DeepEqual(pod.Spec.Resources, old.Spec.Resources) {
		setPodLevelResourceDefaults(&pod.Spec)
	}
	dropDisabledPodSpecFields(&pod.Spec, &old.Spec)
}

// setSchedulingGatedCondition tells why a pod with scheduling gates is not scheduled (KEP-3521).
func setSchedulingGatedCondition(pod *corev1.Pod) {
	if len(pod.Spec.SchedulingGates) == 0 {
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason:             corev1.PodReasonSchedulingGated,
		Message:            "Scheduling is blocked due to non-empty scheduling gates",
		LastTransitionTime: pod.CreationTimestamp,
	})
}

// podGracePeriod returns the grace period of a pod (DL-22): the requested one, or that of the pod,
// or 30 seconds. It is 0 for a pod that is not scheduled or has terminated.
func podGracePeriod(obj runtime.Object, requested *int64) int64 {
	pod := obj.(*corev1.Pod)
	period := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		period = *seconds
	}
	if requested != nil {
		period = *requested
	}
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return 0
	case period < 0:
		return 1 // DL-25
	}
	return period
}
