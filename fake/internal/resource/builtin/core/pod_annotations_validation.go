package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const (
	seccompContainerAnnotation  = corev1.SeccompContainerAnnotationKeyPrefix
	appArmorContainerAnnotation = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix
)

// isMirrorPod reports whether the pod with these annotations represents one that a kubelet runs by
// itself.
func isMirrorPod(annotations map[string]string) bool {
	_, ok := annotations[corev1.MirrorPodAnnotationKey]
	return ok
}

// ValidatePodAnnotations validates the annotations of a template that have a meaning, which
// ValidatePodTemplateSpec does, too. p is their path.
func ValidatePodAnnotations(template *corev1.PodTemplateSpec, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	return validatePodAnnotations(template.Annotations, &template.Spec, opts, p)
}

// validatePodAnnotations validates the annotations of a pod or template that have a meaning. p is
// their path.
func validatePodAnnotations(annotations map[string]string, spec *corev1.PodSpec, opts PodValidationOptions, p *validate.Path) (errs field.ErrorList) {
	if len(annotations) == 0 {
		return nil
	}
	if value, ok := annotations[corev1.MirrorPodAnnotationKey]; ok && spec.NodeName == "" {
		errs = append(errs, p.Key(corev1.MirrorPodAnnotationKey).Invalid(value, "must set spec.nodeName if mirror pod annotation is set"))
	}
	if value := annotations[corev1.TolerationsAnnotationKey]; value != "" {
		errs = append(errs, validateTolerationsAnnotation(value, opts, p)...)
	}
	if !opts.allow.anyDeletionCost && !isDeletionCostValid(annotations) {
		errs = append(errs, p.Key(corev1.PodDeletionCost).Invalid(annotations[corev1.PodDeletionCost], "must be a 32bit integer"))
	}
	if value, ok := annotations[corev1.SeccompPodAnnotationKey]; ok {
		errs = append(errs, validateSeccompAnnotation(value, p.Child(corev1.SeccompPodAnnotationKey))...)
	}
	for _, key := range keysWithPrefix(annotations, seccompContainerAnnotation) {
		errs = append(errs, validateSeccompAnnotation(annotations[key], p.Child(key))...)
	}
	keys := keysWithPrefix(annotations, appArmorContainerAnnotation)
	if len(keys) == 0 {
		return errs
	}
	containers := containerNameSet(spec)
	for _, key := range keys {
		container, value := strings.TrimPrefix(key, appArmorContainerAnnotation), annotations[key]
		if !containers.Has(container) {
			errs = append(errs, p.Key(key).Invalid(container, "container not found"))
		}
		if !isAppArmorAnnotation(value) {
			errs = append(errs, p.Key(key).Invalid(value, fmt.Sprintf("invalid AppArmor profile name: %q", value)))
		}
	}
	return errs
}

// keysWithPrefix returns the keys of m with a prefix, sorted.
func keysWithPrefix(m map[string]string, prefix string) (keys []string) {
	for key := range m {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// validateTolerationsAnnotation validates the annotation that had the tolerations before there was
// a field. A real server decodes it into a type of its package core.
func validateTolerationsAnnotation(value string, opts PodValidationOptions, p *validate.Path) field.ErrorList {
	var tolerations []corev1.Toleration
	if err := json.Unmarshal([]byte(value), &tolerations); err != nil {
		return field.ErrorList{p.Invalid(corev1.TolerationsAnnotationKey, strings.ReplaceAll(err.Error(), "v1.Toleration", "core.Toleration"))}
	}
	return validateTolerations(tolerations, opts, p.Child(corev1.TolerationsAnnotationKey))
}

// isDeletionCostValid reports whether the annotation with the deletion cost, if there is one, is a
// number without plus sign and leading zeros.
func isDeletionCostValid(annotations map[string]string) bool {
	value, ok := annotations[corev1.PodDeletionCost]
	if !ok || value == "0" {
		return true
	}
	if value == "" || value[0] == '+' || value[0] == '0' {
		return false
	}
	_, err := strconv.ParseInt(value, 10, 32)
	return err == nil
}

// validateSeccompAnnotation validates the profile in an annotation.
func validateSeccompAnnotation(value string, p *validate.Path) field.ErrorList {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault, corev1.SeccompProfileNameUnconfined:
		return nil
	}
	if name, ok := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix); ok {
		return validateLocalDescendingPath(name, p)
	}
	return field.ErrorList{p.Invalid(value, "must be a valid seccomp profile")}
}

// isAppArmorAnnotation reports whether an annotation has the form of a profile.
func isAppArmorAnnotation(value string) bool {
	return value == "" || value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
		value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined ||
		strings.HasPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
}

// containerNameSet returns the names of the containers of all three kinds.
func containerNameSet(spec *corev1.PodSpec) sets.Set[string] {
	names := make(sets.Set[string], containerCount(spec))
	for i := range containerCount(spec) {
		c, _, _ := containerAt(spec, i)
		names.Insert(c.Name)
	}
	return names
}

// validateProfileAnnotations validates that the profiles in annotations are those in the fields of
// a new pod or template. p is the path of the spec.
func validateProfileAnnotations(annotations map[string]string, spec *corev1.PodSpec, p *validate.Path) (errs field.ErrorList) {
	if value, ok := annotations[corev1.SeccompPodAnnotationKey]; ok && spec.SecurityContext != nil && spec.SecurityContext.SeccompProfile != nil {
		errs = append(errs, validateSeccompAnnotationMatches(value, spec.SecurityContext.SeccompProfile, p.Child("securityContext").Child("seccompProfile"))...)
	}
	if hasKeyWithPrefix(annotations, seccompContainerAnnotation) {
		for i := range containerCount(spec) {
			c, list, index := containerAt(spec, i)
			value, ok := annotations[seccompContainerAnnotation+c.Name]
			if sc := c.SecurityContext; ok && sc != nil && sc.SeccompProfile != nil {
				at := p.Child(list).Index(index).Child("securityContext").Child("seccompProfile")
				errs = append(errs, validateSeccompAnnotationMatches(value, sc.SeccompProfile, at)...)
			}
		}
	}
	if isWindows := spec.OS != nil && spec.OS.Name == corev1.Windows; !isWindows && hasKeyWithPrefix(annotations, appArmorContainerAnnotation) {
		for i := range containerCount(spec) {
			c, list, index := containerAt(spec, i)
			value, ok := annotations[appArmorContainerAnnotation+c.Name]
			if profile := effectiveAppArmorProfile(spec, c); ok && profile != nil {
				at := p.Child(list).Index(index).Child("securityContext").Child("appArmorProfile")
				errs = append(errs, validateAppArmorAnnotationMatches(value, profile, at)...)
			}
		}
	}
	return errs
}

// hasKeyWithPrefix reports whether m has a key with a prefix.
func hasKeyWithPrefix(m map[string]string, prefix string) bool {
	for key := range m {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// effectiveAppArmorProfile returns the profile of a container, or that of its pod. It is nil if
// none of them has one.
func effectiveAppArmorProfile(spec *corev1.PodSpec, c *corev1.Container) *corev1.AppArmorProfile {
	switch {
	case c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil:
		return c.SecurityContext.AppArmorProfile
	case spec.SecurityContext != nil:
		return spec.SecurityContext.AppArmorProfile
	}
	return nil
}

func validateSeccompAnnotationMatches(value string, profile *corev1.SeccompProfile, p *validate.Path) field.ErrorList {
	name, isLocalhost := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix)
	matches := true
	switch profile.Type {
	case corev1.SeccompProfileTypeUnconfined:
		matches = value == corev1.SeccompProfileNameUnconfined
	case corev1.SeccompProfileTypeRuntimeDefault:
		matches = value == corev1.SeccompProfileRuntimeDefault || value == corev1.DeprecatedSeccompProfileDockerDefault
	case corev1.SeccompProfileTypeLocalhost:
		matches = isLocalhost
		if isLocalhost && (profile.LocalhostProfile == nil || *profile.LocalhostProfile != name) {
			return field.ErrorList{p.Child("localhostProfile").Forbidden("seccomp profile in annotation and field must match")}
		}
	}
	if matches {
		return nil
	}
	return field.ErrorList{p.Child("type").Forbidden("seccomp type in annotation and field must match")}
}

func validateAppArmorAnnotationMatches(value string, profile *corev1.AppArmorProfile, p *validate.Path) field.ErrorList {
	name, isLocalhost := strings.CutPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	matches := true
	switch profile.Type {
	case corev1.AppArmorProfileTypeUnconfined:
		matches = value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
	case corev1.AppArmorProfileTypeRuntimeDefault:
		matches = value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault
	case corev1.AppArmorProfileTypeLocalhost:
		matches = isLocalhost
		if isLocalhost && (profile.LocalhostProfile == nil || *profile.LocalhostProfile != name) {
			return field.ErrorList{p.Child("localhostProfile").Forbidden("apparmor profile in annotation and field must match")}
		}
	}
	if matches {
		return nil
	}
	return field.ErrorList{p.Child("type").Forbidden("apparmor type in annotation and field must match")}
}

// validatePodAnnotationsUpdate validates that an update of a pod keeps the annotations that a
// kubelet reads only once, and validates the others.
func validatePodAnnotationsUpdate(pod, old *corev1.Pod, opts PodValidationOptions) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("metadata").Child("annotations")
	for _, key := range changedLastingKeys(old.Annotations, pod.Annotations) {
		errs = append(errs, p.Key(key).Forbidden("may not remove or update "+lastingAnnotation(key)))
	}
	for _, key := range addedLastingKeys(old.Annotations, pod.Annotations) {
		errs = append(errs, p.Key(key).Forbidden("may not add "+lastingAnnotation(key)))
	}
	return append(errs, validatePodAnnotations(pod.Annotations, &pod.Spec, opts, p)...)
}

// changedLastingKeys returns the keys of old annotations, sorted, that must stay and have not.
func changedLastingKeys(old, annotations map[string]string) (keys []string) {
	for key, before := range old {
		if value, ok := annotations[key]; (!ok || value != before) && isLastingAnnotation(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// addedLastingKeys returns the keys of new annotations, sorted, that only a new pod can have.
func addedLastingKeys(old, annotations map[string]string) (keys []string) {
	for key := range annotations {
		if _, ok := old[key]; !ok && isLastingAnnotation(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// isLastingAnnotation reports whether a pod has an annotation from its start to its end.
func isLastingAnnotation(key string) bool {
	return key == corev1.MirrorPodAnnotationKey || strings.HasPrefix(key, appArmorContainerAnnotation)
}

// lastingAnnotation returns what the texts of errors call a lasting annotation.
func lastingAnnotation(key string) string {
	if key == corev1.MirrorPodAnnotationKey {
		return "mirror pod annotation"
	}
	return "AppArmor annotations"
}
