package core

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
)

// ephemeralContainersSubresource adds containers to a running pod. They cannot be changed or
// removed (KEP-277).
func ephemeralContainersSubresource() resource.Subresource {
	return resource.Subresource{
		Name: "ephemeralcontainers", Verbs: resource.ObjectSubresourceVerbs(),
		OwnedFields:      []string{"spec.ephemeralContainers"},
		PrepareForUpdate: preparePodEphemeralContainersForUpdate,
		ValidateUpdate:   validatePodEphemeralContainersUpdate,
	}
}

func preparePodEphemeralContainersForUpdate(_ context.Context, obj, old runtime.Object) {
	pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
	added := pod.Spec.EphemeralContainers
	resetPod(pod, oldPod)
	pod.Spec.EphemeralContainers = added
	dropDisabledPodSpecFields(&pod.Spec, &oldPod.Spec)
}

// resetPod restores the spec, the status and the metadata that a subresource does not write.
func resetPod(pod, oldPod *corev1.Pod) {
	pod.Spec, pod.Status = *oldPod.Spec.DeepCopy(), *oldPod.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(pod, oldPod)
}

func validatePodEphemeralContainersUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	pod, oldPod := obj.(*corev1.Pod), old.(*corev1.Pod)
	var errs field.ErrorList
	if isMirrorPod(oldPod) {
		errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers"))
	}
	path := field.NewPath("spec", "ephemeralContainers")
	for i := range pod.Spec.EphemeralContainers {
		errs = append(errs, validateEphemeralContainer(pod, i, path.Index(i))...)
	}
	for _, before := range oldPod.Spec.EphemeralContainers {
		i := slices.IndexFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == before.Name })
		switch {
		case i < 0:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", before.Name)))
		case !equality.Semantic.DeepEqual(before, pod.Spec.EphemeralContainers[i]):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v",
				before.Name, diff.Diff(before, pod.Spec.EphemeralContainers[i]))))
		}
	}
	return errs
}

// validateEphemeralContainer checks one container: its name, its image, and that it has no field
// that ephemeral containers cannot have.
func validateEphemeralContainer(pod *corev1.Pod, i int, at *field.Path) (errs field.ErrorList) {
	c := &pod.Spec.EphemeralContainers[i]
	names := containerNamesBefore(pod, i)
	switch {
	case c.Name == "":
		errs = append(errs, field.Required(at.Child("name"), ""))
	case slices.Contains(names, c.Name):
		errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
	default:
		for _, problem := range validation.IsDNS1123Label(c.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), c.Name, problem))
		}
	}
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	if c.TargetContainerName != "" && !slices.Contains(containerNames(pod), c.TargetContainerName) {
		errs = append(errs, field.NotFound(at.Child("targetContainerName"), c.TargetContainerName))
	}
	fields := reflect.ValueOf(c.EphemeralContainerCommon)
	for j := range fields.NumField() {
		name := fields.Type().Field(j).Name
		if slices.Contains(forbiddenEphemeralFields(), name) && !fields.Field(j).IsZero() && !isEmptySlice(fields.Field(j)) {
			errs = append(errs, field.Forbidden(at.Child(strings.ToLower(name[:1])+name[1:]), "cannot be set for an Ephemeral Container"))
		}
	}
	return errs
}

// forbiddenEphemeralFields returns the fields that ephemeral containers cannot have.
func forbiddenEphemeralFields() []string {
	return []string{"Ports", "Resources", "ResizePolicy", "RestartPolicy", "RestartPolicyRules",
		"LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle"}
}

// isEmptySlice reports whether a value is an empty list.
func isEmptySlice(v reflect.Value) bool { return v.Kind() == reflect.Slice && v.Len() == 0 }

// containerNames returns the names of the containers that are not ephemeral.
func containerNames(pod *corev1.Pod) (names []string) {
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

// containerNamesBefore returns the names of all containers before the ephemeral one at index i.
func containerNamesBefore(pod *corev1.Pod, i int) []string {
	names := containerNames(pod)
	for _, c := range pod.Spec.EphemeralContainers[:i] {
		names = append(names, c.Name)
	}
	return names
}

// isMirrorPod reports whether a pod is the mirror of a static pod.
func isMirrorPod(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}
