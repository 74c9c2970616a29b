package core

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/warning"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// copyAppArmorAnnotations sets the AppArmor profiles of containers that a new pod has as
// annotations, as pods had before there were fields (KEP-24). A profile that is that of the pod is
// not set again. It warns of annotations that are set, and of those that cannot be.
func copyAppArmorAnnotations(ctx context.Context, pod *corev1.Pod) {
	if len(pod.Annotations) == 0 || pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows {
		return
	}
	var ofPod *corev1.AppArmorProfile
	if pod.Spec.SecurityContext != nil {
		ofPod = pod.Spec.SecurityContext.AppArmorProfile
	}
	visitContainers(&pod.Spec, func(c *corev1.Container) {
		key := appArmorContainerAnnotation + c.Name
		annotation, ok := pod.Annotations[key]
		if !ok || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			return
		}
		profile := appArmorProfile(annotation)
		if profile != nil && equality.Semantic.DeepEqual(profile, ofPod) {
			return
		}
		var root *validate.Path
		warning.AddWarning(ctx, "", appArmorAnnotationWarning(key, root.Child("metadata").Child("annotations")))
		if profile == nil {
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = profile
	})
}

// appArmorProfile returns the profile of an annotation, nil if it is not valid.
func appArmorProfile(annotation string) *corev1.AppArmorProfile {
	switch annotation {
	case corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	}
	name, ok := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	const maxLength = 4095 // that of a path
	if !ok || strings.TrimSpace(name) != name || name == "" || len(name) > maxLength {
		return nil
	}
	return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
}
