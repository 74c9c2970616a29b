package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// resizeSubresource changes the CPU and memory of running containers (KEP-1287), and of the pod as
// a whole (KEP-5419). It does not own the latter.
func resizeSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "resize", Verbs: resource.ObjectSubresourceVerbs(),
		OwnedFields: []string{
			"spec.containers.*.resources", "spec.containers.*.resizePolicy",
			"spec.initContainers.*.resources", "spec.initContainers.*.resizePolicy",
		},
		PrepareForUpdate: resource.OnUpdate(preparePodResizeForUpdate),
		ValidateUpdate:   resource.UpdateValidation(validatePodResizeUpdate),
	}
}

// preparePodResizeForUpdate restores everything but resources, unless containers were added or
// removed; the validation reports that. The defaults of the resources of the pod as a whole can
// follow from changed containers, too.
func preparePodResizeForUpdate(_ context.Context, pod, old *corev1.Pod) {
	if len(pod.Spec.Containers) == len(old.Spec.Containers) && len(pod.Spec.InitContainers) == len(old.Spec.InitContainers) {
		sent := pod.Spec
		resetPod(pod, old)
		pod.Spec.Containers = resizedContainers(pod.Spec.Containers, sent.Containers)
		pod.Spec.InitContainers = resizedContainers(pod.Spec.InitContainers, sent.InitContainers)
		pod.Spec.Resources = sent.Resources
	}
	keepPodLevelResources(&pod.Spec, &old.Spec)
	setPodLevelResourceDefaults(&pod.Spec)
}

// resizedContainers returns containers with the resources of sent. It returns sent if containers
// were renamed or moved; the validation reports that.
func resizedContainers(containers, sent []corev1.Container) []corev1.Container {
	for i := range containers {
		if containers[i].Name != sent[i].Name {
			return sent
		}
		containers[i].Resources, containers[i].ResizePolicy = sent[i].Resources, sent[i].ResizePolicy
	}
	return containers
}

// validatePodResizeUpdate validates a resize.
func validatePodResizeUpdate(pod, old *corev1.Pod) field.ErrorList {
	switch {
	case isMirrorPod(old.Annotations):
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	var root *validate.Path
	p := root.Child("spec")
	errs := validateUpdatedPod(pod, old)
	if class := qosClass(pod); class != qosClassOf(old) {
		errs = append(errs, p.Invalid(pod.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !isResizable(old) {
		errs = append(errs, p.Forbidden("Pod running on node without support for resize"))
	}
	errs = append(errs, validatePodLevelResize(pod.Spec.Resources, old.Spec.Resources, p)...)
	if problems := validateContainerOrder(pod, old, p); len(problems) > 0 {
		return append(errs, problems...)
	}
	for i := range old.Spec.InitContainers {
		errs = append(errs, validateResourcesNotRemoved(&pod.Spec.InitContainers[i].Resources, &old.Spec.InitContainers[i].Resources,
			"resource", p.Child("initContainers").Index(i).Child("resources"))...)
	}
	for i := range old.Spec.Containers {
		errs = append(errs, validateResourcesNotRemoved(&pod.Spec.Containers[i].Resources, &old.Spec.Containers[i].Resources,
			"resource", p.Child("containers").Index(i).Child("resources"))...)
	}
	for i := range pod.Spec.Containers {
		if !isResizeOnly(&pod.Spec.Containers[i], &old.Spec.Containers[i]) {
			errs = append(errs, p.Forbidden("only cpu and memory resources are mutable"))
		}
	}
	for i := range pod.Spec.InitContainers {
		errs = append(errs, validateInitContainerResize(&pod.Spec.InitContainers[i], &old.Spec.InitContainers[i], p.Child("initContainers").Index(i))...)
	}
	// Without other errors the only other change is that there are resources of the pod as a whole
	// that are empty.
	if len(errs) == 0 && pod.Spec.Resources != nil && old.Spec.Resources == nil && !resourcehelper.IsPodLevelResourcesSet(pod) {
		errs = append(errs, p.Forbidden("only cpu and memory resources are mutable"))
	}
	return errs
}

// qosClassOf returns the quality of service class of a stored pod.
func qosClassOf(pod *corev1.Pod) corev1.PodQOSClass {
	if class := pod.Status.QOSClass; class != "" {
		return class
	}
	return qosClass(pod)
}

// isResizable reports whether the kubelet of a running pod resizes it: it then reports the
// resources of containers.
func isResizable(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.State.Running != nil {
			return s.Resources != nil
		}
	}
	return true
}

// validateContainerOrder validates that the containers are the same, in the same order.
func validateContainerOrder(pod, old *corev1.Pod, p *validate.Path) field.ErrorList {
	errs := validateSameContainers(pod.Spec.Containers, old.Spec.Containers, "containers", p)
	return append(errs, validateSameContainers(pod.Spec.InitContainers, old.Spec.InitContainers, "initContainers", p)...)
}

func validateSameContainers(containers, old []corev1.Container, list string, p *validate.Path) (errs field.ErrorList) {
	if len(containers) != len(old) {
		return field.ErrorList{p.Child(list).Forbidden(list + " may not be added or removed on resize")}
	}
	for i := range containers {
		if containers[i].Name != old[i].Name {
			errs = append(errs, p.Child(list).Index(i).Child("name").Forbidden(list+" may not be renamed or reordered on resize"))
		}
	}
	return errs
}

// validateInitContainerResize validates the change of one init container. One that is not a sidecar
// cannot be restarted for a resize.
func validateInitContainerResize(c, old *corev1.Container, p *validate.Path) (errs field.ErrorList) {
	if !isResizeOnly(c, old) {
		errs = append(errs, p.Forbidden("only cpu and memory resources for init or sidecar containers are mutable"))
	}
	if isSidecar(c) || equality.Semantic.DeepEqual(c, old) {
		return errs
	}
	for i := range c.ResizePolicy {
		if c.ResizePolicy[i].RestartPolicy == corev1.RestartContainer {
			errs = append(errs, p.Forbidden("non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
	return errs
}

// validatePodLevelResize validates the change of the resources of the pod as a whole, which are nil
// only if they were before. p is the path of the spec.
func validatePodLevelResize(r, old *corev1.ResourceRequirements, p *validate.Path) (errs field.ErrorList) {
	if r == nil {
		return nil
	}
	if old == nil {
		old = &corev1.ResourceRequirements{}
	}
	errs = validateResourcesNotRemoved(r, old, "pod-level resource", p.Child("resources"))
	if !equality.Semantic.DeepEqual(withoutCPUAndMemory(r), withoutCPUAndMemory(old)) {
		errs = append(errs, p.Forbidden("only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// validateResourcesNotRemoved validates that r has all resources of old. name is what the texts of
// errors call them.
func validateResourcesNotRemoved(r, old *corev1.ResourceRequirements, name string, p *validate.Path) (errs field.ErrorList) {
	if !hasResourcesOf(r.Requests, old.Requests) {
		errs = append(errs, p.Child("requests").Forbidden(name+" requests cannot be removed"))
	}
	if !hasResourcesOf(r.Limits, old.Limits) {
		errs = append(errs, p.Child("limits").Forbidden(name+" limits cannot be removed"))
	}
	return errs
}

func hasResourcesOf(list, old corev1.ResourceList) bool {
	for name := range old {
		if _, ok := list[name]; !ok {
			return false
		}
	}
	return true
}

// isResizeOnly reports whether a container differs from old in nothing but CPU and memory.
func isResizeOnly(c, old *corev1.Container) bool {
	return equalExcept(c, old, &c.Resources) &&
		equality.Semantic.DeepEqual(withoutCPUAndMemory(&c.Resources), withoutCPUAndMemory(&old.Resources))
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
