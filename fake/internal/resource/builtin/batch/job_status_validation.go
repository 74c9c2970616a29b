package batch

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// jobStatus is the status of a Job and what its conditions say.
type jobStatus struct {
	*batchv1.JobStatus
	isComplete, isFailed, isFailureTarget, isSuccessCriteriaMet bool
}

func newJobStatus(job *batchv1.Job) *jobStatus {
	is := func(t batchv1.JobConditionType) bool { return hasCondition(job, t, corev1.ConditionTrue) }
	return &jobStatus{
		JobStatus:  &job.Status,
		isComplete: is(batchv1.JobComplete), isFailed: is(batchv1.JobFailed),
		isFailureTarget: is(batchv1.JobFailureTarget), isSuccessCriteriaMet: is(batchv1.JobSuccessCriteriaMet),
	}
}

func (s *jobStatus) isFinished() bool { return s.isComplete || s.isFailed }

// validateJobStatusUpdate validates a status. Most rules apply only if a field that they are about
// has changed, so that a status that is invalid already can be updated, and a controller has time
// to adapt it to a new spec.
func validateJobStatusUpdate(job, oldJob *batchv1.Job) field.ErrorList {
	var root *validate.Path
	p := root.Child("status")
	s, old := newJobStatus(job), newJobStatus(oldJob)
	errs := validateJobCounters(s, p)
	errs = append(errs, validateJobCompletion(s, old, p)...)
	errs = append(errs, validateFinishedJob(job, oldJob, s, old, p)...)
	errs = append(errs, validateJobIndexes(job, old, p)...)
	errs = append(errs, validateJobPods(s, old, p)...)
	errs = append(errs, validateSuccessCriteria(job, s, p)...)
	return append(errs, validateJobStatusTransition(job, oldJob, s, old, p)...)
}

func validateJobCounters(s *jobStatus, p *validate.Path) field.ErrorList {
	errs := validate.NonNegative(int64(s.Active), p.Child("active"))
	errs = append(errs, validate.NonNegative(int64(s.Succeeded), p.Child("succeeded"))...)
	errs = append(errs, validate.NonNegative(int64(s.Failed), p.Child("failed"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.Ready, p.Child("ready"))...)
	errs = append(errs, validate.NonNegativeOrNil(s.Terminating, p.Child("terminating"))...)
	if pods := s.UncountedTerminatedPods; pods != nil {
		p := p.Child("uncountedTerminatedPods")
		seen := make(map[types.UID]bool, len(pods.Succeeded)+len(pods.Failed))
		errs = append(errs, validateUIDs(pods.Succeeded, seen, p.Child("succeeded"))...)
		errs = append(errs, validateUIDs(pods.Failed, seen, p.Child("failed"))...)
	}
	return errs
}

// validateUIDs validates that uids are not empty and not in seen, and adds them.
func validateUIDs(uids []types.UID, seen map[types.UID]bool, p *validate.Path) (errs field.ErrorList) {
	for i, uid := range uids {
		switch {
		case uid == "":
			errs = append(errs, p.Index(i).Invalid(uid, "must not be empty"))
		case seen[uid]:
			errs = append(errs, p.Index(i).Duplicate(uid))
		}
		seen[uid] = true
	}
	return errs
}

// validateJobCompletion validates the conditions that exclude each other, and the time of
// completion.
func validateJobCompletion(s, old *jobStatus, p *validate.Path) (errs field.ErrorList) {
	conditions, completionTime := p.Child("conditions"), p.Child("completionTime")
	completeChanged := s.isComplete != old.isComplete
	if (completeChanged || s.isFailed != old.isFailed) && s.isComplete && s.isFailed {
		errs = append(errs, invalidConditions(conditions, "cannot set Complete=True and Failed=true conditions"))
	}
	if (completeChanged || s.isFailureTarget != old.isFailureTarget) && s.isComplete && s.isFailureTarget {
		errs = append(errs, invalidConditions(conditions, "cannot set Complete=True and FailureTarget=true conditions"))
	}
	timeChanged := !s.CompletionTime.Equal(old.CompletionTime)
	if completeChanged || timeChanged {
		switch {
		case s.CompletionTime != nil && !s.isComplete:
			errs = append(errs, completionTime.Invalid(s.CompletionTime, "cannot set completionTime when there is no Complete=True condition"))
		case s.CompletionTime == nil && s.isComplete:
			errs = append(errs, completionTime.Required("completionTime is required for Complete jobs"))
		}
	}
	if (timeChanged || !s.StartTime.Equal(old.StartTime)) &&
		s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime) {
		errs = append(errs, completionTime.Invalid(s.CompletionTime, "must be equal to or after `startTime`"))
	}
	return errs
}

// validateFinishedJob validates what a Job that is complete or has failed must have.
func validateFinishedJob(job, oldJob *batchv1.Job, s, old *jobStatus, p *validate.Path) (errs field.ErrorList) {
	conditions := p.Child("conditions")
	if (s.isFailed != old.isFailed || !ptr.Equal(s.FailedIndexes, old.FailedIndexes)) && s.isFailed && !s.isFailureTarget {
		errs = append(errs, invalidConditions(conditions, "cannot set Failed=True condition without the FailureTarget=true condition"))
	}
	if (s.isComplete != old.isComplete || s.isSuccessCriteriaMet != old.isSuccessCriteriaMet) && s.isComplete && !s.isSuccessCriteriaMet {
		errs = append(errs, invalidConditions(conditions, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
	}
	if !s.isFinished() {
		return errs
	}
	finishedChanged := s.isFinished() != old.isFinished()
	if (finishedChanged || s.Active != old.Active) && s.Active > 0 {
		errs = append(errs, p.Child("active").Invalid(s.Active, "active>0 is invalid for finished job"))
	}
	neverStarts := ptr.Deref(job.Spec.Suspend, false) && job.Spec.Completions != nil && *job.Spec.Completions == 0
	if (finishedChanged || !s.StartTime.Equal(old.StartTime)) && !neverStarts && s.StartTime == nil {
		errs = append(errs, p.Child("startTime").Required("startTime is required for finished job"))
	}
	pods := s.UncountedTerminatedPods
	if pods != nil && len(pods.Failed)+len(pods.Succeeded) > 0 &&
		(finishedChanged || !equality.Semantic.DeepEqual(pods, oldJob.Status.UncountedTerminatedPods)) {
		errs = append(errs, p.Child("uncountedTerminatedPods").Invalid(pods, "must be empty for finished job"))
	}
	return errs
}

// validateJobIndexes validates the lists of completed and of failed indexes.
func validateJobIndexes(job *batchv1.Job, old *jobStatus, p *validate.Path) (errs field.ErrorList) {
	completed, failed := job.Status.CompletedIndexes, job.Status.FailedIndexes
	completions := job.Spec.Completions
	completedChanged, failedChanged := completed != old.CompletedIndexes, !ptr.Equal(failed, old.FailedIndexes)
	completedPath, failedPath := p.Child("completedIndexes"), p.Child("failedIndexes")
	if completedChanged && completions != nil {
		if _, err := countIndexes(completed, *completions); err != nil {
			errs = append(errs, completedPath.Invalid(completed, "error parsing completedIndexes: "+err.Error()))
		}
	}
	if failedChanged && completions != nil && job.Spec.BackoffLimitPerIndex != nil && failed != nil {
		if _, err := countIndexes(*failed, *completions); err != nil {
			errs = append(errs, failedPath.Invalid(*failed, "error parsing failedIndexes: "+err.Error()))
		}
	}
	if completedChanged && completed != "" && !isIndexed(&job.Spec) {
		errs = append(errs, completedPath.Invalid(completed, "cannot set non-empty completedIndexes when non-indexed completion mode"))
	}
	if failedChanged && job.Spec.BackoffLimitPerIndex == nil && failed != nil {
		errs = append(errs, failedPath.Invalid(*failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"))
	}
	if (failedChanged || completedChanged) && completions != nil && failed != nil {
		if index, ok := firstCommonIndex(completed, *failed, *completions); ok {
			errs = append(errs, failedPath.Invalid(*failed, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index)))
		}
	}
	return errs
}

// firstCommonIndex returns the first index that two lists of intervals have in common. It ignores
// intervals that are malformed.
func firstCommonIndex(completed, failed string, completions int32) (index int32, ok bool) {
	a, b := parseIntervals(completed, completions), parseIntervals(failed, completions)
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.first <= y.last && y.first <= x.last:
			return max(x.first, y.first), true
		case x.first <= y.first:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return 0, false
}

// interval has the first and the last index of an interval.
type interval struct{ first, last int32 }

// parseIntervals returns the intervals of a list that are well-formed.
func parseIntervals(list string, completions int32) (intervals []interval) {
	for text := range strings.SplitSeq(list, ",") {
		if first, last, err := parseInterval(text, completions); err == nil {
			intervals = append(intervals, interval{first, last})
		}
	}
	return intervals
}

// validateJobPods validates the numbers of pods that are terminating and ready.
func validateJobPods(s, old *jobStatus, p *validate.Path) (errs field.ErrorList) {
	if n := s.Terminating; n != nil && *n > 0 && s.isFinished() && (!old.isFinished() || !ptr.Equal(n, old.Terminating)) {
		errs = append(errs, p.Child("terminating").Invalid(*n, "terminating>0 is invalid for finished job"))
	}
	if n := s.Ready; n != nil && *n > s.Active && (s.Active != old.Active || !ptr.Equal(n, old.Ready)) {
		errs = append(errs, p.Child("ready").Invalid(*n, "cannot set more ready pods than active"))
	}
	return errs
}

// validateSuccessCriteria validates the condition SuccessCriteriaMet.
func validateSuccessCriteria(job *batchv1.Job, s *jobStatus, p *validate.Path) (errs field.ErrorList) {
	p = p.Child("conditions")
	if s.isSuccessCriteriaMet && s.isFailed {
		errs = append(errs, invalidConditions(p, "cannot set SuccessCriteriaMet=True and Failed=true conditions"))
	}
	if s.isSuccessCriteriaMet && s.isFailureTarget {
		errs = append(errs, invalidConditions(p, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"))
	}
	if job.Spec.SuccessPolicy != nil && !s.isSuccessCriteriaMet && s.isComplete {
		errs = append(errs, invalidConditions(p, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"))
	}
	return errs
}

// validateJobStatusTransition validates that what is final stays so.
func validateJobStatusTransition(job, oldJob *batchv1.Job, s, old *jobStatus, p *validate.Path) (errs field.ErrorList) {
	conditions := p.Child("conditions")
	for _, final := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		if hasCondition(oldJob, final, corev1.ConditionTrue) && !hasCondition(job, final, corev1.ConditionTrue) {
			errs = append(errs, invalidConditions(conditions, fmt.Sprintf("cannot disable the terminal %s=True condition", final)))
		}
	}
	if s.Failed < old.Failed {
		errs = append(errs, p.Child("failed").Invalid(s.Failed, "cannot decrease the failed counter"))
	}
	// An indexed Job may be scaled down if it runs all indexes at once.
	if s.Succeeded < old.Succeeded && (!isIndexed(&job.Spec) || !ptr.Equal(job.Spec.Completions, job.Spec.Parallelism)) {
		errs = append(errs, p.Child("succeeded").Invalid(s.Succeeded, "cannot decrease the succeeded counter"))
	}
	if s.CompletionTime != nil && old.CompletionTime != nil && !s.CompletionTime.Equal(old.CompletionTime) {
		errs = append(errs, p.Child("completionTime").Invalid(s.CompletionTime, apivalidation.FieldImmutableErrorMsg))
	}
	resumes := hasCondition(oldJob, batchv1.JobSuspended, corev1.ConditionTrue) && hasCondition(job, batchv1.JobSuspended, corev1.ConditionFalse)
	if old.StartTime != nil && !s.StartTime.Equal(old.StartTime) && !ptr.Deref(job.Spec.Suspend, false) && !resumes {
		errs = append(errs, p.Child("startTime").Invalid(s.StartTime, "field is immutable for unsuspended job once set"))
	}
	if old.isSuccessCriteriaMet && !s.isSuccessCriteriaMet {
		errs = append(errs, invalidConditions(conditions, "cannot disable the SuccessCriteriaMet=True condition"))
	}
	if old.isComplete && !old.isSuccessCriteriaMet && s.isSuccessCriteriaMet {
		errs = append(errs, invalidConditions(conditions, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
	}
	return errs
}

// invalidConditions returns an error for the conditions, which it does not print.
func invalidConditions(p *validate.Path, detail string) *field.Error {
	return p.Invalid(field.OmitValueType{}, detail)
}
