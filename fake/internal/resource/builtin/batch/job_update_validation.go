package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateJobSpecUpdate validates the fields of a spec that cannot change.
func validateJobSpecUpdate(spec, old *batchv1.JobSpec, opts *jobOptions, p *validate.Path) field.ErrorList {
	errs := validateCompletionsUpdate(spec, old, p.Child("completions"))
	errs = append(errs, validate.ImmutableSelector(spec.Selector, old.Selector, p.Child("selector"))...)
	errs = append(errs, validateJobTemplateUpdate(&spec.Template, &old.Template, opts, p)...)
	errs = append(errs, validate.Immutable(spec.CompletionMode, old.CompletionMode, p.Child("completionMode"))...)
	errs = append(errs, validate.Immutable(spec.PodFailurePolicy, old.PodFailurePolicy, p.Child("podFailurePolicy"))...)
	errs = append(errs, validate.Immutable(spec.BackoffLimitPerIndex, old.BackoffLimitPerIndex, p.Child("backoffLimitPerIndex"))...)
	errs = append(errs, validate.Immutable(spec.ManagedBy, old.ManagedBy, p.Child("managedBy"))...)
	return append(errs, validate.Immutable(spec.SuccessPolicy, old.SuccessPolicy, p.Child("successPolicy"))...)
}

// validateCompletionsUpdate validates that the number of completions has not changed, or that it is
// still the parallelism of an indexed Job.
func validateCompletionsUpdate(spec, old *batchv1.JobSpec, p *validate.Path) field.ErrorList {
	errs := validate.Immutable(spec.Completions, old.Completions, p)
	if len(errs) == 0 || !isIndexed(spec) {
		return errs
	}
	if spec.Completions == nil || spec.Parallelism != nil && *spec.Completions == *spec.Parallelism {
		return nil
	}
	return field.ErrorList{p.Invalid(*spec.Completions, "can only be modified in tandem with spec.parallelism")}
}

// validateJobTemplateUpdate validates that the template has not changed, except for what can change
// while a Job is suspended. p is the path of the spec.
func validateJobTemplateUpdate(template, old *corev1.PodTemplateSpec, opts *jobOptions, p *validate.Path) field.ErrorList {
	if !opts.directivesAreMutable {
		return validate.Immutable(template, old, p.Child("template"))
	}
	changed := withDirectives(old, template)
	if !opts.resourcesAreMutable {
		return validate.Immutable(template, changed, p.Child("template"))
	}
	changed.Spec.Containers = withResources(old.Spec.Containers, template.Spec.Containers)
	changed.Spec.InitContainers = withResources(old.Spec.InitContainers, template.Spec.InitContainers)
	return validate.Immutable(&template.Spec, &changed.Spec, p.Child("template.spec"))
}

// withDirectives returns old with the labels, the annotations and the scheduling directives of
// template, which say where pods may run.
func withDirectives(old, template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	changed, pods := *old, &template.Spec
	changed.Labels, changed.Annotations = template.Labels, template.Annotations
	changed.Spec.Affinity = withNodeAffinity(old.Spec.Affinity, pods.Affinity)
	changed.Spec.NodeSelector, changed.Spec.Tolerations = pods.NodeSelector, pods.Tolerations
	changed.Spec.SchedulingGates = pods.SchedulingGates
	return &changed
}

// withNodeAffinity returns old with the node affinity of a.
func withNodeAffinity(old, a *corev1.Affinity) *corev1.Affinity {
	var changed corev1.Affinity
	if old != nil {
		changed = *old
	}
	if a == nil {
		changed.NodeAffinity = nil
		if changed == (corev1.Affinity{}) {
			return nil
		}
		return &changed
	}
	changed.NodeAffinity = a.NodeAffinity
	return &changed
}

// withResources returns old with the resources of containers, if they are the same ones.
func withResources(old, containers []corev1.Container) []corev1.Container {
	if len(old) != len(containers) {
		return old
	}
	changed := make([]corev1.Container, len(old))
	for i := range old {
		changed[i] = old[i]
		if changed[i].Name == containers[i].Name {
			changed[i].Resources = containers[i].Resources
		}
	}
	return changed
}
