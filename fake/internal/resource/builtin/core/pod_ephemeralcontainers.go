package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// ephemeralContainersSubresource adds containers to a running pod, for debugging.
func ephemeralContainersSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "ephemeralcontainers", Verbs: resource.ObjectSubresourceVerbs(),
		OwnedFields:      []string{"spec.ephemeralContainers"},
		PrepareForUpdate: resource.OnUpdate(preparePodEphemeralContainersForUpdate),
		ValidateUpdate:   resource.UpdateValidation(validatePodEphemeralContainersUpdate),
	}
}

func preparePodEphemeralContainersForUpdate(_ context.Context, pod, old *corev1.Pod) {
	added := pod.Spec.EphemeralContainers
	resetPod(pod, old)
	pod.Spec.EphemeralContainers = added
	dropDisabledPodSpecFields(&pod.Spec, &old.Spec)
}

// resetPod restores everything that a subresource for a part of the spec does not write.
func resetPod(pod, old *corev1.Pod) {
	pod.Spec, pod.Status = *old.Spec.DeepCopy(), *old.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(pod, old)
}

// validatePodEphemeralContainersUpdate validates the pod with its new containers. Those that it has
// must stay the same.
func validatePodEphemeralContainersUpdate(pod, old *corev1.Pod) field.ErrorList {
	if isMirrorPod(old.Annotations) {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	errs := validateUpdatedPod(pod, old)
	errs = append(errs, validatePodAnnotationsUpdate(pod, old, podUpdateOptions(old).relaxed())...)
	var root *validate.Path
	p := root.Child("spec").Child("ephemeralContainers")
	containers := make(map[string]*corev1.EphemeralContainer, len(pod.Spec.EphemeralContainers))
	for i := range pod.Spec.EphemeralContainers {
		containers[pod.Spec.EphemeralContainers[i].Name] = &pod.Spec.EphemeralContainers[i]
	}
	for i := range old.Spec.EphemeralContainers {
		before := &old.Spec.EphemeralContainers[i]
		switch c := containers[before.Name]; {
		case c == nil:
			errs = append(errs, p.Forbidden(fmt.Sprintf("existing ephemeral containers %q may not be removed\n", before.Name)))
		case !equality.Semantic.DeepEqual(before, c):
			errs = append(errs, p.Forbidden(fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", before.Name, changes(*before, *c))))
		}
	}
	return errs
}

// validateUpdatedPod validates a pod that a subresource has updated.
func validateUpdatedPod(pod, old *corev1.Pod) field.ErrorList {
	opts := podUpdateOptions(old)
	errs := validatePodObject(pod, opts)
	if len(errs) > 0 {
		return validatePodObject(pod, opts.relaxed())
	}
	return errs
}
