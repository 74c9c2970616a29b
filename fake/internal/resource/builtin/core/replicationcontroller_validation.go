package core

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// acceptReplicationControllerName accepts any name: validateReplicationController validates it, and
// a generateName is not validated.
func acceptReplicationControllerName(string, bool) []string { return nil }

// validateReplicationController validates a new controller. What tags of its type have comes last:
// the name and the numbers.
func validateReplicationController(rc *corev1.ReplicationController) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validateReplicationControllerSpec(&rc.Spec, nil, p)
	if rc.Name != "" {
		path := root.Child("metadata").Child("name")
		errs = append(errs, validate.Messages(rc.Name, content.IsDNS1123Subdomain(rc.Name), path)...)
	}
	if replicas := rc.Spec.Replicas; replicas != nil {
		errs = append(errs, validate.NonNegative(int64(*replicas), p.Child("replicas"))...)
	}
	return append(errs, validate.NonNegative(int64(rc.Spec.MinReadySeconds), p.Child("minReadySeconds"))...)
}

// validateReplicationControllerUpdate validates the spec twice, as a real server does, and the
// numbers that have changed.
func validateReplicationControllerUpdate(rc, old *corev1.ReplicationController) field.ErrorList {
	var root *validate.Path
	p := root.Child("spec")
	errs := validateReplicationControllerSpec(&rc.Spec, old.Spec.Template, p)
	errs = append(errs, errs...)
	if replicas, was := rc.Spec.Replicas, old.Spec.Replicas; replicas != nil && (was == nil || *replicas != *was) {
		errs = append(errs, validate.NonNegative(int64(*replicas), p.Child("replicas"))...)
	}
	if seconds := rc.Spec.MinReadySeconds; seconds != old.Spec.MinReadySeconds {
		errs = append(errs, validate.NonNegative(int64(seconds), p.Child("minReadySeconds"))...)
	}
	return append(errs, validateNonConvertibleFields(rc, old)...)
}

// validateNonConvertibleFields validates the changes of fields that an annotation of the old object
// names as not convertible. Only a selector can be such a field.
func validateNonConvertibleFields(rc, old *corev1.ReplicationController) (errs field.ErrorList) {
	if len(old.Annotations) == 0 {
		return nil
	}
	var root *validate.Path
	for _, key := range slices.Sorted(maps.Keys(old.Annotations)) {
		_, name, ok := strings.Cut(key, "/")
		switch {
		case !ok || !strings.HasPrefix(key, corev1.NonConvertibleAnnotationPrefix):
		case !strings.Contains(name, "selector"):
			errs = append(errs, &field.Error{Type: field.ErrorTypeNotFound, Field: name, BadValue: old.Annotations[key],
				Detail: "unknown non-convertible field"})
		case !maps.Equal(rc.Spec.Selector, old.Spec.Selector):
			path := root.Child("spec").Child("selector")
			errs = append(errs, path.Invalid(rc.Spec.Selector, "cannot update non-convertible selector"))
		}
	}
	return errs
}

// validateReplicationControllerSpec validates the selector and the template. old is the template of
// the object that an update replaces.
func validateReplicationControllerSpec(spec *corev1.ReplicationControllerSpec, old *corev1.PodTemplateSpec, p *validate.Path) (errs field.ErrorList) {
	if len(spec.Selector) == 0 {
		errs = append(errs, p.Child("selector").Required(""))
	}
	template, p := spec.Template, p.Child("template")
	if template == nil {
		return append(errs, p.Required(""))
	}
	for key, value := range spec.Selector {
		if label, ok := template.Labels[key]; !ok || label != value {
			path := p.Child("metadata").Child("labels")
			errs = append(errs, path.Invalid(template.Labels, "`selector` does not match template `labels`"))
			break
		}
	}
	errs = append(errs, ValidatePodTemplateSpec(template, PodTemplateValidationOptions(template, old), p)...)
	p = p.Child("spec")
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, validate.NotSupported(p.Child("restartPolicy"), policy, corev1.RestartPolicyAlways))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, p.Child("activeDeadlineSeconds").Forbidden("activeDeadlineSeconds in ReplicationController is not Supported"))
	}
	return errs
}

func validateReplicationControllerStatusUpdate(rc, _ *corev1.ReplicationController) field.ErrorList {
	var root *validate.Path
	p, s := root.Child("status"), &rc.Status
	errs := validate.NonNegative(int64(s.Replicas), p.Child("replicas"))
	errs = append(errs, validate.NonNegative(int64(s.FullyLabeledReplicas), p.Child("fullyLabeledReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.ReadyReplicas), p.Child("readyReplicas"))...)
	errs = append(errs, validate.NonNegative(int64(s.AvailableReplicas), p.Child("availableReplicas"))...)
	errs = append(errs, validate.NonNegative(s.ObservedGeneration, p.Child("observedGeneration"))...)
	const aboveReplicas = "cannot be greater than status.replicas"
	if s.FullyLabeledReplicas > s.Replicas {
		errs = append(errs, p.Child("fullyLabeledReplicas").Invalid(s.FullyLabeledReplicas, aboveReplicas))
	}
	if s.ReadyReplicas > s.Replicas {
		errs = append(errs, p.Child("readyReplicas").Invalid(s.ReadyReplicas, aboveReplicas))
	}
	if s.AvailableReplicas > s.Replicas {
		errs = append(errs, p.Child("availableReplicas").Invalid(s.AvailableReplicas, aboveReplicas))
	}
	if s.AvailableReplicas > s.ReadyReplicas {
		errs = append(errs, p.Child("availableReplicas").Invalid(s.AvailableReplicas, "cannot be greater than readyReplicas"))
	}
	return errs
}
