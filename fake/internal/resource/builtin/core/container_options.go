package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// containerOptions are the rules for containers and volumes that depend on the spec that an update
// replaces: what it has already stays valid. The zero value has the rules for new pods.
type containerOptions struct {
	// anyHugePages accepts parts of huge pages.
	anyHugePages bool
	// anyTokenPath accepts paths of service account tokens that are outside of their volume.
	anyTokenPath bool
	// anyImageReference accepts volumes of images that are not named.
	anyImageReference bool
	// anyResizePolicy accepts that init containers restart when they are resized.
	anyResizePolicy bool
	// anySysAdmin accepts CAP_SYS_ADMIN in containers that cannot gain privileges
	// (kubernetes/kubernetes#138834).
	anySysAdmin bool
}

// containerOptionsFor returns the options for an update that replaces old, which is nil for a new
// spec.
func containerOptionsFor(old *corev1.PodSpec) (opts containerOptions) {
	if old == nil {
		return opts
	}
	opts.anyHugePages = hasPartsOfHugePages(old.Overhead)
	for i := range old.InitContainers {
		c := &old.InitContainers[i]
		opts.addContainer(c)
		opts.anyResizePolicy = opts.anyResizePolicy || !isSidecar(c) && restartsWhenResized(c)
	}
	for i := range old.Containers {
		opts.addContainer(&old.Containers[i])
	}
	for i := range old.EphemeralContainers {
		opts.addContainer(asContainer(&old.EphemeralContainers[i]))
	}
	for i := range old.Volumes {
		v := &old.Volumes[i]
		opts.anyTokenPath = opts.anyTokenPath || v.Projected != nil && hasTokenOutsideOfVolume(v.Projected)
		opts.anyImageReference = opts.anyImageReference || v.Image != nil && v.Image.Reference == ""
	}
	return opts
}

// addContainer accepts what a container of any kind has already.
func (opts *containerOptions) addContainer(c *corev1.Container) {
	opts.anyHugePages = opts.anyHugePages || requestsPartsOfHugePages(c)
	sc := c.SecurityContext
	opts.anySysAdmin = opts.anySysAdmin || sc != nil && !canEscalate(sc) && sc.Capabilities != nil &&
		slices.Contains(sc.Capabilities.Add, capSysAdmin)
}

func requestsPartsOfHugePages(c *corev1.Container) bool {
	return hasPartsOfHugePages(c.Resources.Limits) || hasPartsOfHugePages(c.Resources.Requests)
}

func hasPartsOfHugePages(list corev1.ResourceList) bool {
	for name, quantity := range list {
		if isHugePages(name) && !isMultipleOfPageSize(name, quantity) {
			return true
		}
	}
	return false
}

func hasTokenOutsideOfVolume(projected *corev1.ProjectedVolumeSource) bool {
	for i := range projected.Sources {
		token := projected.Sources[i].ServiceAccountToken
		if token != nil && len(validateLocalNonReservedPath(token.Path, (*validate.Path)(nil))) > 0 {
			return true
		}
	}
	return false
}

// isSidecar reports whether an init container runs as long as the pod.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func restartsWhenResized(c *corev1.Container) bool {
	for i := range c.ResizePolicy {
		if c.ResizePolicy[i].RestartPolicy == corev1.RestartContainer {
			return true
		}
	}
	return false
}
