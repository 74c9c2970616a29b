package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/admission"
)

// alwaysPullImages sets the imagePullPolicy of all containers to Always.
type alwaysPullImages struct{}

func newAlwaysPullImages(Dependencies) admission.Interface { return alwaysPullImages{} }

func (alwaysPullImages) Name() string { return "AlwaysPullImages" }

func (alwaysPullImages) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, pods, admissionv1.Create, admissionv1.Update)
}

// Admit changes new pods, and those whose update has an image that the pod did not have.
func (alwaysPullImages) Admit(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	if old, ok := attrs.OldObject.(*corev1.Pod); ok && !hasNewImage(pod, old) {
		return nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].ImagePullPolicy = corev1.PullAlways
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		pod.Spec.EphemeralContainers[i].ImagePullPolicy = corev1.PullAlways
	}
	for i := range pod.Spec.Volumes {
		if image := pod.Spec.Volumes[i].Image; image != nil {
			image.PullPolicy = corev1.PullAlways
		}
	}
	return nil
}

// Validate refuses other policies, which webhooks and policies may have set.
func (alwaysPullImages) Validate(_ context.Context, attrs *admission.Attributes) error {
	pod := attrs.Object.(*corev1.Pod)
	if old, ok := attrs.OldObject.(*corev1.Pod); ok && !hasNewImage(pod, old) {
		return nil
	}
	var refusals []error
	check := func(p *field.Path, policy corev1.PullPolicy) {
		if policy != corev1.PullAlways {
			refusals = append(refusals, forbidden(attrs, field.NotSupported(p, policy, []string{string(corev1.PullAlways)})))
		}
	}
	spec := field.NewPath("spec")
	for i, c := range pod.Spec.InitContainers {
		check(spec.Child("initContainers").Index(i).Child("imagePullPolicy"), c.ImagePullPolicy)
	}
	for i, c := range pod.Spec.Containers {
		check(spec.Child("containers").Index(i).Child("imagePullPolicy"), c.ImagePullPolicy)
	}
	for i, c := range pod.Spec.EphemeralContainers {
		check(spec.Child("ephemeralContainers").Index(i).Child("imagePullPolicy"), c.ImagePullPolicy)
	}
	for i, v := range pod.Spec.Volumes {
		if v.Image != nil {
			check(spec.Child("volumes").Index(i).Child("image").Child("pullPolicy"), v.Image.PullPolicy)
		}
	}
	return utilerrors.NewAggregate(refusals)
}

func hasNewImage(pod, old *corev1.Pod) bool {
	known := imagesOf(old)
	return slices.ContainsFunc(imagesOf(pod), func(image string) bool { return !slices.Contains(known, image) })
}

func imagesOf(pod *corev1.Pod) (images []string) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		images = append(images, c.Image)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		images = append(images, c.Image)
	}
	return images
}
