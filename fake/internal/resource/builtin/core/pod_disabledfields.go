package core

import corev1 "k8s.io/api/core/v1"

// dropDisabledPodSpecFields removes the fields of features that are off by default in v1.37. The
// fields of a feature stay if the old spec uses it. old is nil for a new object.
func dropDisabledPodSpecFields(spec, old *corev1.PodSpec) {
	used := func(uses func(*corev1.PodSpec) bool) bool { return old != nil && uses(old) }
	if spec.SchedulingGroup != nil && !used(usesSchedulingGroup) { // GenericWorkload
		spec.SchedulingGroup = nil
	}
	if spec.EvictionResponders != nil && !used(usesEvictionResponders) { // EvictionRequestAPI
		spec.EvictionResponders = nil
	}
	if usesEmptyDirMode(spec) && !used(usesEmptyDirMode) { // EmptyDirVolumeMode
		for i := range spec.Volumes {
			if dir := spec.Volumes[i].EmptyDir; dir != nil {
				dir.Mode = nil
			}
		}
	}
	if usesVolumeUsers(spec) && !used(usesVolumeUsers) { // AtomicWriteVolumeUserFields
		visitVolumeUsers(spec, func(user **int64) { *user = nil })
	}
	if usesStopSignal(spec) && !used(usesStopSignal) { // ContainerStopSignals
		visitContainers(spec, func(c *corev1.Container) {
			if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
				return
			}
			c.Lifecycle.StopSignal = nil
			if *c.Lifecycle == (corev1.Lifecycle{}) {
				c.Lifecycle = nil
			}
		})
	}
	if usesBindMountOptions(spec) && !used(usesBindMountOptions) { // VolumeBindMountOptions
		visitContainers(spec, func(c *corev1.Container) {
			for i := range c.VolumeMounts {
				c.VolumeMounts[i].BindMountOptions = nil
			}
		})
	}
	if usesProbeProtocol(spec) && !used(usesProbeProtocol) { // H2CContainerProbe
		visitHTTPGets(spec, func(action *corev1.HTTPGetAction) { action.Protocol = nil })
	}
	if usesGRPCMode(spec) && !used(usesGRPCMode) { // GRPCContainerProbeTLS
		visitProbes(spec, func(p *corev1.Probe) {
			if p.GRPC != nil {
				p.GRPC.Mode = nil
			}
		})
	}
}

// dropDisabledPodStatusFields removes the fields of the status of a pod that are off by default,
// unless the old status has them.
func dropDisabledPodStatusFields(status, old *corev1.PodStatus) {
	if len(old.NodeAllocatableResourceClaimStatuses) == 0 { // DRANodeAllocatableResources
		status.NodeAllocatableResourceClaimStatuses = nil
	}
	if len(old.VolumeHealth) == 0 { // CSIVolumeHealth
		status.VolumeHealth = nil
	}
	if !usesVolumeStatus(old) { // ImageVolumeWithDigest
		visitVolumeMountStatuses(status, func(s *corev1.VolumeMountStatus) { s.VolumeStatus = nil })
	}
}

func usesVolumeStatus(status *corev1.PodStatus) (uses bool) {
	visitVolumeMountStatuses(status, func(s *corev1.VolumeMountStatus) { uses = uses || s.VolumeStatus != nil })
	return uses
}

// visitVolumeMountStatuses calls f for the volumes of all containers.
func visitVolumeMountStatuses(status *corev1.PodStatus, f func(*corev1.VolumeMountStatus)) {
	for _, statuses := range [...][]corev1.ContainerStatus{
		status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			for j := range statuses[i].VolumeMounts {
				f(&statuses[i].VolumeMounts[j])
			}
		}
	}
}

func usesSchedulingGroup(spec *corev1.PodSpec) bool { return spec.SchedulingGroup != nil }

func usesEvictionResponders(spec *corev1.PodSpec) bool { return len(spec.EvictionResponders) > 0 }

func usesEmptyDirMode(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if dir := spec.Volumes[i].EmptyDir; dir != nil && dir.Mode != nil {
			return true
		}
	}
	return false
}

func usesVolumeUsers(spec *corev1.PodSpec) (uses bool) {
	visitVolumeUsers(spec, func(user **int64) { uses = uses || *user != nil })
	return uses
}

func usesStopSignal(spec *corev1.PodSpec) (uses bool) {
	visitContainers(spec, func(c *corev1.Container) {
		uses = uses || c.Lifecycle != nil && c.Lifecycle.StopSignal != nil
	})
	return uses
}

func usesBindMountOptions(spec *corev1.PodSpec) (uses bool) {
	visitContainers(spec, func(c *corev1.Container) {
		for i := range c.VolumeMounts {
			uses = uses || c.VolumeMounts[i].BindMountOptions != nil
		}
	})
	return uses
}

func usesProbeProtocol(spec *corev1.PodSpec) (uses bool) {
	visitHTTPGets(spec, func(action *corev1.HTTPGetAction) { uses = uses || action.Protocol != nil })
	return uses
}

func usesGRPCMode(spec *corev1.PodSpec) (uses bool) {
	visitProbes(spec, func(p *corev1.Probe) { uses = uses || p.GRPC != nil && p.GRPC.Mode != nil })
	return uses
}

// visitProbes calls f for the probes of all containers.
func visitProbes(spec *corev1.PodSpec, f func(*corev1.Probe)) {
	visitContainers(spec, func(c *corev1.Container) {
		for _, p := range [...]*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p != nil {
				f(p)
			}
		}
	})
}

// visitHTTPGets calls f for the HTTP requests of the probes and lifecycle handlers of all
// containers.
func visitHTTPGets(spec *corev1.PodSpec, f func(*corev1.HTTPGetAction)) {
	visitProbes(spec, func(p *corev1.Probe) {
		if p.HTTPGet != nil {
			f(p.HTTPGet)
		}
	})
	visitContainers(spec, func(c *corev1.Container) {
		if c.Lifecycle == nil {
			return
		}
		for _, h := range [...]*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil && h.HTTPGet != nil {
				f(h.HTTPGet)
			}
		}
	})
}

// visitVolumeUsers calls f for the fields with the owner of the files of a volume.
func visitVolumeUsers(spec *corev1.PodSpec, f func(user **int64)) {
	keys := func(items []corev1.KeyToPath) {
		for i := range items {
			f(&items[i].User)
		}
	}
	files := func(items []corev1.DownwardAPIVolumeFile) {
		for i := range items {
			f(&items[i].User)
		}
	}
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		if v.Secret != nil {
			f(&v.Secret.DefaultUser)
			keys(v.Secret.Items)
		}
		if v.ConfigMap != nil {
			f(&v.ConfigMap.DefaultUser)
			keys(v.ConfigMap.Items)
		}
		if v.DownwardAPI != nil {
			f(&v.DownwardAPI.DefaultUser)
			files(v.DownwardAPI.Items)
		}
		if v.Projected == nil {
			continue
		}
		f(&v.Projected.DefaultUser)
		for j := range v.Projected.Sources {
			source := &v.Projected.Sources[j]
			if source.Secret != nil {
				keys(source.Secret.Items)
			}
			if source.ConfigMap != nil {
				keys(source.ConfigMap.Items)
			}
			if source.DownwardAPI != nil {
				files(source.DownwardAPI.Items)
			}
			if source.ServiceAccountToken != nil {
				f(&source.ServiceAccountToken.User)
			}
			if source.ClusterTrustBundle != nil {
				f(&source.ClusterTrustBundle.User)
			}
			if source.PodCertificate != nil {
				f(&source.PodCertificate.User)
			}
		}
	}
}
