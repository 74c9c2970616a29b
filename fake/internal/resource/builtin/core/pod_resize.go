package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
)

// resizeSubresource changes the CPU and memory of running containers (KEP-1287), and of the pod as
// a whole (KEP-5419).
func resizeSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "resize", Verbs: resource.ObjectSubresourceVerbs(),
		OwnedFields: []string{
			"spec.containers.*.resources", "spec.containers.*.resizePolicy",
			"spec.initContainers.*.resources", "spec.initContainers.*.resizePolicy",
			"spec.resources",
		},
		PrepareForUpdate: preparePodResizeForUpdate,
		ValidateUpdate:   validatePodResizeUpdate,
	}
}

// preparePodResizeForUpdate changes nothing if containers were added, removed, renamed or moved;
// the validation reports that.
func preparePodResizeForUpdate(_ context.Context, obj, old runtime.Object) {
	pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
	if len(validateContainerOrder(pod, oldPod)) > 0 {
		return
	}
	sent := pod.Spec
	resetPod(pod, oldPod)
	copyContainerResources(pod.Spec.Containers, sent.Containers)
	copyContainerResources(pod.Spec.InitContainers, sent.InitContainers)
	pod.Spec.Resources = sent.Resources
}

func copyContainerResources(to, from []corev1.Container) {
	for i := range to {
		to[i].Resources, to[i].ResizePolicy = from[i].Resources, from[i].ResizePolicy
	}
}

// validateContainerOrder checks that the containers are the same, in the same order.
func validateContainerOrder(pod, oldPod *corev1.Pod) (errs field.ErrorList) {
	for _, list := range []struct {
		name            string
		containers, old []corev1.Container
	}{
		{"containers", pod.Spec.Containers, oldPod.Spec.Containers},
		{"initContainers", pod.Spec.InitContainers, oldPod.Spec.InitContainers},
	} {
		path := field.NewPath("spec", list.name)
		if len(list.containers) != len(list.old) {
			errs = append(errs, field.Forbidden(path, list.name+" may not be added or removed on resize"))
			continue
		}
		for i := range list.containers {
			if list.containers[i].Name != list.old[i].Name {
				errs = append(errs, field.Forbidden(path.Index(i).Child("name"), list.name+" may not be renamed or reordered on resize"))
			}
		}
	}
	return errs
}

func validatePodResizeUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
	switch {
	case isMirrorPod(oldPod):
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case oldPod.Spec.OS != nil && oldPod.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if class := qosClass(pod); class != qosClass(oldPod) {
		errs = append(errs, field.Invalid(spec, class, "Pod QOS Class may not change as a result of resizing"))
	}
	if others := validateContainerOrder(pod, oldPod); len(others) > 0 {
		return append(errs, others...)
	}
	for i := range pod.Spec.InitContainers {
		errs = append(errs, validateInitContainerResize(&pod.Spec.InitContainers[i], &oldPod.Spec.InitContainers[i], spec.Child("initContainers").Index(i))...)
	}
	for i := range pod.Spec.Containers {
		errs = append(errs, validateContainerResize(&pod.Spec.Containers[i], &oldPod.Spec.Containers[i], spec.Child("containers").Index(i))...)
	}
	return append(errs, validatePodLevelResize(pod.Spec.Resources, oldPod.Spec.Resources, spec)...)
}

// validateContainerResize checks the change of one container.
func validateContainerResize(c, old *corev1.Container, at *field.Path) field.ErrorList {
	errs := validateContainerResourcesNotRemoved(c, old, at.Child("resources"))
	if !equalExceptCPUAndMemory(c, old) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "only cpu and memory resources are mutable"))
	}
	return errs
}

// validateInitContainerResize checks the change of one init container. One that has terminated
// cannot be restarted for a resize.
func validateInitContainerResize(c, old *corev1.Container, at *field.Path) field.ErrorList {
	errs := validateContainerResourcesNotRemoved(c, old, at.Child("resources"))
	if !equalExceptCPUAndMemory(c, old) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	restarts := slices.ContainsFunc(old.ResizePolicy, func(p corev1.ContainerResizePolicy) bool { return p.RestartPolicy == corev1.RestartContainer })
	if restarts && !sidecar && !equality.Semantic.DeepEqual(c.Resources, old.Resources) {
		errs = append(errs, field.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
	}
	return errs
}

func validateContainerResourcesNotRemoved(c, old *corev1.Container, path *field.Path) field.ErrorList {
	return append(validateResourcesNotRemoved(c.Resources.Requests, old.Resources.Requests, path.Child("requests"), "resource requests cannot be removed"),
		validateResourcesNotRemoved(c.Resources.Limits, old.Resources.Limits, path.Child("limits"), "resource limits cannot be removed")...)
}

// equalExceptCPUAndMemory reports whether a resize changes nothing but CPU and memory.
func equalExceptCPUAndMemory(c, old *corev1.Container) bool {
	return equality.Semantic.DeepEqual(withoutCPUAndMemory(&c.Resources), withoutCPUAndMemory(&old.Resources)) &&
		equality.Semantic.DeepEqual(c.ResizePolicy, old.ResizePolicy)
}

// validatePodLevelResize checks the change of the resources of the pod as a whole.
func validatePodLevelResize(now, old *corev1.ResourceRequirements, spec *field.Path) (errs field.ErrorList) {
	path := spec.Child("resources")
	switch {
	case old == nil && now == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(path, "pod-level resources cannot be removed")}
	case old == nil:
		old = &corev1.ResourceRequirements{}
	}
	errs = append(errs, validateResourcesNotRemoved(now.Requests, old.Requests, path.Child("requests"), "pod-level resource requests cannot be removed")...)
	errs = append(errs, validateResourcesNotRemoved(now.Limits, old.Limits, path.Child("limits"), "pod-level resource limits cannot be removed")...)
	if !equality.Semantic.DeepEqual(withoutCPUAndMemory(now), withoutCPUAndMemory(old)) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// validateResourcesNotRemoved checks that now has all resources of old.
func validateResourcesNotRemoved(now, old corev1.ResourceList, path *field.Path, message string) field.ErrorList {
	for name := range old {
		if _, ok := now[name]; !ok {
			return field.ErrorList{field.Forbidden(path, message)}
		}
	}
	return nil
}

// withoutCPUAndMemory returns a copy without CPU and memory.
func withoutCPUAndMemory(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	rest := r.DeepCopy()
	for _, list := range []corev1.ResourceList{rest.Requests, rest.Limits} {
		delete(list, corev1.ResourceCPU)
		delete(list, corev1.ResourceMemory)
	}
	return rest
}
