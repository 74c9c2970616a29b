package resource

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resize is the subresource that changes the CPU and the memory of containers that
// run (KEP-1287), and of the pod as a whole (KEP-5419).
func resize() Subresource {
	return Subresource{
		Name: "resize", Verbs: objectVerbs(),
		OwnedFields: []string{
			"spec.containers.*.resources", "spec.containers.*.resizePolicy",
			"spec.initContainers.*.resources", "spec.initContainers.*.resizePolicy",
			"spec.resources",
		},
		PrepareForUpdate: resizePod,
		Validate:         validateResize,
	}
}

// resizePod leaves containers that were added, removed, renamed or moved as they
// are, for the validation to find.
func resizePod(obj, old runtime.Object) {
	pod, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	if len(moved(pod, was)) > 0 {
		return
	}
	sent := pod.Spec
	keepPod(pod, was)
	resizeContainers(pod.Spec.Containers, sent.Containers)
	resizeContainers(pod.Spec.InitContainers, sent.InitContainers)
	pod.Spec.Resources = sent.Resources
}

func resizeContainers(to, from []corev1.Container) {
	for i := range to {
		to[i].Resources, to[i].ResizePolicy = from[i].Resources, from[i].ResizePolicy
	}
}

// moved refuses other containers, or the same in another order.
func moved(pod, was *corev1.Pod) (errs field.ErrorList) {
	for _, list := range []struct {
		name      string
		now, then []corev1.Container
	}{
		{"containers", pod.Spec.Containers, was.Spec.Containers},
		{"initContainers", pod.Spec.InitContainers, was.Spec.InitContainers},
	} {
		path := field.NewPath("spec", list.name)
		if len(list.now) != len(list.then) {
			errs = append(errs, field.Forbidden(path, list.name+" may not be added or removed on resize"))
			continue
		}
		for i := range list.now {
			if list.now[i].Name != list.then[i].Name {
				errs = append(errs, field.Forbidden(path.Index(i).Child("name"), list.name+" may not be renamed or reordered on resize"))
			}
		}
	}
	return errs
}

func validateResize(_ context.Context, obj, old runtime.Object) field.ErrorList {
	pod, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	switch {
	case isMirror(was):
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case was.Spec.OS != nil && was.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if class := qualityOf(pod); class != qualityOf(was) {
		errs = append(errs, field.Invalid(spec, class, "Pod QOS Class may not change as a result of resizing"))
	}
	if others := moved(pod, was); len(others) > 0 {
		return append(errs, others...)
	}
	for i := range pod.Spec.InitContainers {
		errs = append(errs, initResized(&pod.Spec.InitContainers[i], &was.Spec.InitContainers[i], spec.Child("initContainers").Index(i))...)
	}
	for i := range pod.Spec.Containers {
		errs = append(errs, resized(&pod.Spec.Containers[i], &was.Spec.Containers[i], spec.Child("containers").Index(i))...)
	}
	return append(errs, podResized(pod.Spec.Resources, was.Spec.Resources, spec)...)
}

// resized checks the change of one container.
func resized(c, was *corev1.Container, at *field.Path) field.ErrorList {
	errs := containerShrunk(c, was, at.Child("resources"))
	if !sameButComputing(c, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "only cpu and memory resources are mutable"))
	}
	return errs
}

// initResized checks the change of one init container. One that has ended cannot be
// started again for its resources.
func initResized(c, was *corev1.Container, at *field.Path) field.ErrorList {
	errs := containerShrunk(c, was, at.Child("resources"))
	if !sameButComputing(c, was) {
		errs = append(errs, field.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	restarts := slices.ContainsFunc(was.ResizePolicy, func(p corev1.ContainerResizePolicy) bool { return p.RestartPolicy == corev1.RestartContainer })
	if restarts && !sidecar && !equality.Semantic.DeepEqual(c.Resources, was.Resources) {
		errs = append(errs, field.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
	}
	return errs
}

func containerShrunk(c, was *corev1.Container, path *field.Path) field.ErrorList {
	return append(shrunk(c.Resources.Requests, was.Resources.Requests, path.Child("requests"), "resource requests cannot be removed"),
		shrunk(c.Resources.Limits, was.Resources.Limits, path.Child("limits"), "resource limits cannot be removed")...)
}

// sameButComputing reports whether nothing differs that a resize writes but CPU and
// memory.
func sameButComputing(c, was *corev1.Container) bool {
	return equality.Semantic.DeepEqual(withoutComputing(&c.Resources), withoutComputing(&was.Resources)) &&
		equality.Semantic.DeepEqual(c.ResizePolicy, was.ResizePolicy)
}

// podResized checks the change of what the pod has as a whole.
func podResized(now, was *corev1.ResourceRequirements, spec *field.Path) (errs field.ErrorList) {
	path := spec.Child("resources")
	switch {
	case was == nil && now == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(path, "pod-level resources cannot be removed")}
	case was == nil:
		was = &corev1.ResourceRequirements{}
	}
	errs = append(errs, shrunk(now.Requests, was.Requests, path.Child("requests"), "pod-level resource requests cannot be removed")...)
	errs = append(errs, shrunk(now.Limits, was.Limits, path.Child("limits"), "pod-level resource limits cannot be removed")...)
	if !equality.Semantic.DeepEqual(withoutComputing(now), withoutComputing(was)) {
		errs = append(errs, field.Forbidden(spec, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// shrunk refuses a list that lacks what it had.
func shrunk(now, was corev1.ResourceList, path *field.Path, message string) field.ErrorList {
	for name := range was {
		if _, ok := now[name]; !ok {
			return field.ErrorList{field.Forbidden(path, message)}
		}
	}
	return nil
}

// withoutComputing is a copy without CPU and memory.
func withoutComputing(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	rest := r.DeepCopy()
	for _, list := range []corev1.ResourceList{rest.Requests, rest.Limits} {
		delete(list, corev1.ResourceCPU)
		delete(list, corev1.ResourceMemory)
	}
	return rest
}

// qualityOf is the class that a pod has by its CPU and memory: guaranteed if every
// container is limited to what it requests, best effort if none says anything. What
// the pod as a whole has counts instead of the containers.
func qualityOf(pod *corev1.Pod) corev1.PodQOSClass {
	all := []corev1.ResourceRequirements{}
	if r := pod.Spec.Resources; r != nil && (len(r.Requests) > 0 || len(r.Limits) > 0) {
		all = append(all, *r)
	} else {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			all = append(all, c.Resources)
		}
	}
	says, guaranteed := false, true
	for _, r := range all {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name]
			if _, ok := r.Requests[name]; !ok {
				request = limit // what a request is without one of its own
			}
			says = says || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !says:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
