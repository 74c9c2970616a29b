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
	if opts.templateIsMutable {
		pods := withChangedDirectives(&old.Template.Spec, &spec.Template.Spec)
		errs = append(errs, validate.Immutable(&spec.Template.Spec, pods, p.Child("template.spec"))...)
	} else {
		errs = append(errs, validate.Immutable(&spec.Template, &old.Template, p.Child("template"))...)
	}
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

// withChangedDirectives returns old with what can change while a Job is stopped: where its pods may
// run, and the resources of their containers.
func withChangedDirectives(old, pods *corev1.PodSpec) *corev1.PodSpec {
	changed := *old
	changed.Affinity = withNodeAffinity(old.Affinity, pods.Affinity)
	changed.NodeSelector, changed.Tolerations, changed.SchedulingGates = pods.NodeSelector, pods.Tolerations, pods.SchedulingGates
	changed.Containers = withResources(old.Containers, pods.Containers)
	changed.InitContainers = withResources(old.InitContainers, pods.InitContainers)
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
