package resource

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
)

// ephemeralContainers is the subresource that adds containers to a pod that runs.
// They can be neither changed nor taken away (KEP-277).
func ephemeralContainers() Subresource {
	return Subresource{
		Name: "ephemeralcontainers", Verbs: objectVerbs(),
		OwnedFields:      []string{"spec.ephemeralContainers"},
		PrepareForUpdate: addEphemeral,
		Validate:         validateEphemeral,
	}
}

func addEphemeral(obj, old runtime.Object) {
	pod, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	added := pod.Spec.EphemeralContainers
	keepPod(pod, was)
	pod.Spec.EphemeralContainers = added
}

// keepPod carries over all that a client sent to a subresource of a pod and that
// the subresource does not write.
func keepPod(pod, was *corev1.Pod) {
	pod.Spec, pod.Status = *was.Spec.DeepCopy(), *was.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(pod, was)
}

func validateEphemeral(_ context.Context, obj, old runtime.Object) field.ErrorList {
	pod, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	var errs field.ErrorList
	if isMirror(was) {
		errs = append(errs, field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers"))
	}
	path := field.NewPath("spec", "ephemeralContainers")
	for i := range pod.Spec.EphemeralContainers {
		errs = append(errs, ephemeralContainer(pod, i, path.Index(i))...)
	}
	for _, before := range was.Spec.EphemeralContainers {
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

// ephemeralContainer checks one container: its name, its image, and that it has
// nothing that only the containers of a pod's own can have.
func ephemeralContainer(pod *corev1.Pod, i int, at *field.Path) (errs field.ErrorList) {
	c := &pod.Spec.EphemeralContainers[i]
	names := otherContainers(pod, i)
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
	if c.TargetContainerName != "" && !slices.Contains(ownContainers(pod), c.TargetContainerName) {
		errs = append(errs, field.NotFound(at.Child("targetContainerName"), c.TargetContainerName))
	}
	fields := reflect.ValueOf(c.EphemeralContainerCommon)
	for j := range fields.NumField() {
		name := fields.Type().Field(j).Name
		if slices.Contains(notEphemeral(), name) && !fields.Field(j).IsZero() && !hollow(fields.Field(j)) {
			errs = append(errs, field.Forbidden(at.Child(strings.ToLower(name[:1])+name[1:]), "cannot be set for an Ephemeral Container"))
		}
	}
	return errs
}

// notEphemeral are the fields of a container that an ephemeral one cannot have.
func notEphemeral() []string {
	return []string{"Ports", "Resources", "ResizePolicy", "RestartPolicy", "RestartPolicyRules",
		"LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle"}
}

// hollow reports whether a value is an empty list.
func hollow(v reflect.Value) bool { return v.Kind() == reflect.Slice && v.Len() == 0 }

// ownContainers names the containers of a pod that are not ephemeral.
func ownContainers(pod *corev1.Pod) (names []string) {
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

// otherContainers names all containers before the ephemeral one at i.
func otherContainers(pod *corev1.Pod, i int) []string {
	names := ownContainers(pod)
	for _, c := range pod.Spec.EphemeralContainers[:i] {
		names = append(names, c.Name)
	}
	return names
}

// isMirror reports whether a pod stands for one that a node runs by itself.
func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}
