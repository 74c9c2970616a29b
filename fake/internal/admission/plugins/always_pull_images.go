package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

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
