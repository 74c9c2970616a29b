package core

import corev1 "k8s.io/api/core/v1"

// setPodSpecDefaults sets the defaults that the specs of pods and of templates share.
func setPodSpecDefaults(spec *corev1.PodSpec) {
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirst
	}
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	setString(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	for i := range spec.Volumes {
		setVolumeDefaults(&spec.Volumes[i])
	}
	for i := range spec.InitContainers {
		setContainerDefaults(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		setContainerDefaults(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		setContainerDefaults(asContainer(&spec.EphemeralContainers[i]))
	}
	setResourceListDefaults(spec.Overhead)
	if spec.Resources != nil {
		setResourceListDefaults(spec.Resources.Limits)
		setResourceListDefaults(spec.Resources.Requests)
	}
}

// asContainer returns an ephemeral container as a container, which has the same fields.
func asContainer(c *corev1.EphemeralContainer) *corev1.Container {
	return (*corev1.Container)(&c.EphemeralContainerCommon)
}

// visitContainers calls f for the containers of all three kinds.
func visitContainers(spec *corev1.PodSpec, f func(*corev1.Container)) {
	for i := range spec.InitContainers {
		f(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		f(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		f(asContainer(&spec.EphemeralContainers[i]))
	}
}

// containerCount returns the number of containers of all three kinds.
func containerCount(spec *corev1.PodSpec) int {
	return len(spec.InitContainers) + len(spec.Containers) + len(spec.EphemeralContainers)
}

// containerAt returns a container of any kind, the name of its list and its index there. i counts
// the containers in the order of visitContainers.
func containerAt(spec *corev1.PodSpec, i int) (c *corev1.Container, list string, index int) {
	if i < len(spec.InitContainers) {
		return &spec.InitContainers[i], "initContainers", i
	}
	i -= len(spec.InitContainers)
	if i < len(spec.Containers) {
		return &spec.Containers[i], "containers", i
	}
	i -= len(spec.Containers)
	return asContainer(&spec.EphemeralContainers[i]), "ephemeralContainers", i
}
