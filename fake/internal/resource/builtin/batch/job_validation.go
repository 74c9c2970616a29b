package batch

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// Limits of indexed Jobs. Those for many completions keep the status small.
const (
	maxIndexedParallelism  = 100_000
	maxFailedIndexes       = 100_000
	manyCompletions        = 100_000
	maxParallelismIfMany   = 10_000
	maxFailedIndexesIfMany = 10_000
)

const maxManagedByLength = 63

// fittingNameLength is the length up to which a name with any index is a DNS label.
const fittingNameLength = validation.DNS1123LabelMaxLength - len("-2147483646")

// jobOptions are rules that depend on the Job that an update replaces.
type jobOptions struct {
	pods     core.PodValidationOptions
	selector metav1validation.LabelSelectorValidationOptions
	// prefixedLabels reports whether the template needs the labels of batch.kubernetes.io.
	prefixedLabels bool
	// directivesAreMutable reports whether the scheduling directives of the template can change.
	directivesAreMutable bool
	// resourcesAreMutable reports whether the resources of its containers can change as well.
	resourcesAreMutable bool
}

func validateJob(job *batchv1.Job) field.ErrorList {
	return validateWholeJob(job, &jobOptions{pods: core.PodTemplateValidationOptions(&job.Spec.Template, nil), prefixedLabels: true})
}

// validateJobUpdate validates the spec of a Job twice, as a real server does: with the metadata as
// that of a new Job, and with the metadata as that of an updated one.
func validateJobUpdate(_ context.Context, obj, before runtime.Object, metadata resource.MetadataErrors) field.ErrorList {
	job, old := obj.(*batchv1.Job), before.(*batchv1.Job)
	_, hasName := old.Spec.Template.Labels[batchv1.JobNameLabel]
	_, hasUID := old.Spec.Template.Labels[batchv1.ControllerUidLabel]
	opts := &jobOptions{
		pods: core.PodTemplateValidationOptions(&job.Spec.Template, &old.Spec.Template),
		selector: metav1validation.LabelSelectorValidationOptions{
			AllowInvalidLabelValueInSelector: metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector),
		},
		prefixedLabels: hasName && hasUID,
	}
	if ptr.Deref(old.Spec.Suspend, false) {
		// A Job that never started needs no condition for a change of its scheduling directives.
		opts.resourcesAreMutable = hasCondition(old, batchv1.JobSuspended, corev1.ConditionTrue) && old.Status.Active == 0
		opts.directivesAreMutable = opts.resourcesAreMutable || old.Status.StartTime == nil
	}
	var root *validate.Path
	p := root.Child("spec")
	first := validateWholeJob(job, opts)
	var second field.ErrorList
	if len(first) > 0 {
		second = validateJobSpec(&job.Spec, opts, p)
	}
	errs := slices.Concat(metadata.ForAllTypes, metadata.AsNew, first, metadata.AsUpdated, second)
	if job.Generation == old.Generation {
		return errs // the spec has not changed
	}
	return append(errs, validateJobSpecUpdate(&job.Spec, &old.Spec, opts, p)...)
}

func validateWholeJob(job *batchv1.Job, opts *jobOptions) field.ErrorList {
	var root *validate.Path
	errs := validateGeneratedSelector(job, opts, root)
	errs = append(errs, validateJobSpec(&job.Spec, opts, root.Child("spec"))...)
	return append(errs, validatePodHostnames(job, root.Child("metadata").Child("name"))...)
}

// validateGeneratedSelector validates the labels and the selector that prepareJobForCreate
// generates, since a request may have had other values.
func validateGeneratedSelector(job *batchv1.Job, opts *jobOptions, root *validate.Path) (errs field.ErrorList) {
	selector := job.Spec.Selector
	if ptr.Deref(job.Spec.ManualSelector, false) || selector == nil {
		return nil
	}
	name, uid := job.Name, string(job.UID)
	if uid == "" {
		errs = append(errs, root.Child("metadata").Child("uid").Required(""))
	}
	labels, p := job.Spec.Template.Labels, root.Child("spec").Child("template").Child("metadata").Child("labels")
	errs = append(errs, validateLabel(labels, "controller-uid", uid, p)...)
	errs = append(errs, validateLabel(labels, "job-name", name, p)...)
	expected := map[string]string{"controller-uid": uid, "job-name": name}
	if opts.prefixedLabels {
		errs = append(errs, validateLabel(labels, batchv1.ControllerUidLabel, uid, p)...)
		errs = append(errs, validateLabel(labels, batchv1.JobNameLabel, name, p)...)
		expected[batchv1.ControllerUidLabel], expected[batchv1.JobNameLabel] = uid, name
	}
	if len(validate.LabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, nil)) == 0 && !validate.SelectorMatches(selector, expected) {
		errs = append(errs, root.Child("spec").Child("selector").Invalid(selector, "`selector` not auto-generated"))
	}
	return errs
}

// validateLabel validates that labels have a value for a key.
func validateLabel(labels map[string]string, key, value string, p *validate.Path) field.ErrorList {
	switch got, ok := labels[key]; {
	case !ok:
		return field.ErrorList{p.Key(key).Required("must be '" + value + "'")}
	case got != value:
		return field.ErrorList{p.Key(key).Invalid(labels, "must be '"+value+"'")}
	}
	return nil
}

// validatePodHostnames validates that the hostnames of the pods of an indexed Job, which end with
// the index, are DNS labels. p is the path of the name.
func validatePodHostnames(job *batchv1.Job, p *validate.Path) field.ErrorList {
	completions := job.Spec.Completions
	if !isIndexed(&job.Spec) || completions == nil || *completions <= 0 {
		return nil
	}
	if len(job.Name) <= fittingNameLength && len(validation.IsDNS1123Label(job.Name)) == 0 {
		return nil
	}
	hostname := fmt.Sprintf("%s-%d", job.Name, *completions-1)
	if len(validation.IsDNS1123Label(hostname)) == 0 {
		return nil
	}
	return field.ErrorList{p.Invalid(job.Name, "will not able to create pod with invalid DNS label: "+hostname)}
}

// validateJobSpec validates the spec of a Job, including its selector.
func validateJobSpec(spec *batchv1.JobSpec, opts *jobOptions, p *validate.Path) field.ErrorList {
	errs := validateJobSpecOrTemplate(spec, opts.pods, p)
	selector := spec.Selector
	if selector == nil {
		errs = append(errs, p.Child("selector").Required(""))
	}
	errs = append(errs, validate.LabelSelector(selector, opts.selector, p.Child("selector"))...)
	isValid := len(validate.LabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, nil)) == 0
	if labels := spec.Template.Labels; isValid && !validate.SelectorMatches(selector, labels) {
		path := p.Child("template").Child("metadata").Child("labels")
		errs = append(errs, path.Invalid(labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// validateJobSpecOrTemplate validates what the spec of a Job and that of the template of a CronJob
// have in common.
func validateJobSpecOrTemplate(spec *batchv1.JobSpec, opts core.PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validate.NonNegativeOrNil(spec.Parallelism, p.Child("parallelism"))
	errs = append(errs, validate.NonNegativeOrNil(spec.Completions, p.Child("completions"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.ActiveDeadlineSeconds, p.Child("activeDeadlineSeconds"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.BackoffLimit, p.Child("backoffLimit"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.TTLSecondsAfterFinished, p.Child("ttlSecondsAfterFinished"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.BackoffLimitPerIndex, p.Child("backoffLimitPerIndex"))...)
	if spec.MaxFailedIndexes != nil {
		errs = append(errs, validate.NonNegativeOrNil(spec.MaxFailedIndexes, p.Child("maxFailedIndexes"))...)
		if spec.BackoffLimitPerIndex == nil {
			errs = append(errs, p.Child("backoffLimitPerIndex").Required("when maxFailedIndexes is specified"))
		}
	}
	if spec.ManagedBy != nil {
		errs = append(errs, validateManagedBy(*spec.ManagedBy, p.Child("managedBy"))...)
	}
	errs = append(errs, validateCompletionMode(spec, p)...)
	if spec.PodFailurePolicy != nil {
		errs = append(errs, validatePodFailurePolicy(spec, p.Child("podFailurePolicy"))...)
	}
	if spec.SuccessPolicy != nil {
		errs = append(errs, validateSuccessPolicy(spec, p.Child("successPolicy"))...)
	}
	errs = append(errs, validatePodReplacementPolicy(spec, p.Child("podReplacementPolicy"))...)
	errs = append(errs, core.ValidatePodTemplateSpec(&spec.Template, opts, p.Child("template"))...)
	return append(errs, validateRestartPolicy(spec, p.Child("template").Child("spec").Child("restartPolicy"))...)
}

func validateManagedBy(value string, p *validate.Path) field.ErrorList {
	errs := validation.IsDomainPrefixedPath(p.Field(), value)
	if len(value) > maxManagedByLength {
		errs = append(errs, p.TooLong(maxManagedByLength))
	}
	return errs
}

// validateCompletionMode validates the completion mode and what depends on it. p is the path of the
// spec.
func validateCompletionMode(spec *batchv1.JobSpec, p *validate.Path) (errs field.ErrorList) {
	switch {
	case spec.CompletionMode == nil || *spec.CompletionMode == batchv1.NonIndexedCompletion:
		if spec.BackoffLimitPerIndex != nil {
			errs = append(errs, p.Child("backoffLimitPerIndex").Invalid(*spec.BackoffLimitPerIndex, "requires indexed completion mode"))
		}
		if spec.MaxFailedIndexes != nil {
			errs = append(errs, p.Child("maxFailedIndexes").Invalid(*spec.MaxFailedIndexes, "requires indexed completion mode"))
		}
		return errs
	case *spec.CompletionMode != batchv1.IndexedCompletion:
		return field.ErrorList{validate.NotSupported(p.Child("completionMode"), *spec.CompletionMode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)}
	}
	completions, parallelism, failed := spec.Completions, spec.Parallelism, spec.MaxFailedIndexes
	if completions == nil {
		errs = append(errs, p.Child("completions").Required("when completion mode is Indexed"))
	}
	if parallelism != nil && *parallelism > maxIndexedParallelism {
		errs = append(errs, p.Child("parallelism").Invalid(*parallelism,
			fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", maxIndexedParallelism)))
	}
	if completions != nil && failed != nil && *failed > *completions {
		errs = append(errs, p.Child("maxFailedIndexes").Invalid(*failed, "must be less than or equal to completions"))
	}
	if failed != nil && *failed > maxFailedIndexes {
		errs = append(errs, p.Child("maxFailedIndexes").Invalid(*failed, fmt.Sprintf("must be less than or equal to %d", maxFailedIndexes)))
	}
	if completions == nil || *completions <= manyCompletions || spec.BackoffLimitPerIndex == nil {
		return errs
	}
	const ifMany = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if failed == nil {
		errs = append(errs, p.Child("maxFailedIndexes").Required(fmt.Sprintf("must be specified when completions is above %d", manyCompletions)))
	}
	if parallelism != nil && *parallelism > maxParallelismIfMany {
		errs = append(errs, p.Child("parallelism").Invalid(*parallelism, fmt.Sprintf(ifMany, maxParallelismIfMany, manyCompletions)))
	}
	if failed != nil && *failed > maxFailedIndexesIfMany {
		errs = append(errs, p.Child("maxFailedIndexes").Invalid(*failed, fmt.Sprintf(ifMany, maxFailedIndexesIfMany, manyCompletions)))
	}
	return errs
}

func validatePodReplacementPolicy(spec *batchv1.JobSpec, p *validate.Path) field.ErrorList {
	policy := spec.PodReplacementPolicy
	switch {
	case policy == nil || *policy == batchv1.Failed:
		return nil
	case spec.PodFailurePolicy != nil:
		return field.ErrorList{validate.NotSupported(p, *policy, batchv1.Failed)}
	case *policy == batchv1.TerminatingOrFailed:
		return nil
	}
	return field.ErrorList{validate.NotSupported(p, *policy, batchv1.Failed, batchv1.TerminatingOrFailed)}
}

// validateRestartPolicy validates the restart policy of the pods of a Job. Always, the default,
// counts as missing.
func validateRestartPolicy(spec *batchv1.JobSpec, p *validate.Path) field.ErrorList {
	switch policy := spec.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyNever:
		return nil
	case policy == corev1.RestartPolicyAlways || policy == "":
		return field.ErrorList{p.Required(`valid values: "OnFailure", "Never"`)}
	case policy != corev1.RestartPolicyOnFailure:
		return field.ErrorList{validate.NotSupported(p, policy, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)}
	case spec.PodFailurePolicy != nil:
		return field.ErrorList{p.Invalid(policy, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return nil
}

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

// hasCondition reports whether a Job has a condition with a status.
func hasCondition(job *batchv1.Job, conditionType batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == conditionType && c.Status == status
	})
}
