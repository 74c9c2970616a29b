package table

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
)

func batchPrinters() []entry {
	gv := batchv1.SchemeGroupVersion
	template := containerColumns()
	selector := wide(text("Selector", describes(batchv1.JobSpec{}, "selector")))
	return []entry{
		newEntry(gv, jobCells,
			named(),
			text("Status", "Status of the job."),
			text("Completions", describes(batchv1.JobStatus{}, "succeeded")),
			text("Duration", "Time required to complete the job."),
			age(), template[0], template[1], selector,
		),
		newEntry(gv, cronJobCells,
			named(),
			text("Schedule", describes(batchv1.CronJobSpec{}, "schedule")),
			text("Timezone", describes(batchv1.CronJobSpec{}, "timeZone")),
			flag("Suspend", describes(batchv1.CronJobSpec{}, "suspend")),
			number("Active", describes(batchv1.CronJobStatus{}, "active")),
			text("Last Schedule", describes(batchv1.CronJobStatus{}, "lastScheduleTime")),
			age(), template[0], template[1], selector,
		),
	}
}

func jobCells(j *batchv1.Job) []any {
	completions := fmt.Sprintf("%d/1", j.Status.Succeeded)
	if all := j.Spec.Completions; all != nil {
		completions = fmt.Sprintf("%d/%d", j.Status.Succeeded, *all)
	} else if n := ptr.Deref(j.Spec.Parallelism, 0); n > 1 {
		completions += fmt.Sprintf(" of %d", n)
	}
	cells := []any{j.Name, jobStatus(j), completions, jobDuration(j), since(j.CreationTimestamp)}
	return append(append(cells, containers(&j.Spec.Template)...), metav1.FormatLabelSelector(j.Spec.Selector))
}

// jobDuration returns how long a job ran, or has been running.
func jobDuration(j *batchv1.Job) any {
	start, end := j.Status.StartTime, j.Status.CompletionTime
	switch {
	case start == nil:
		return ""
	case end == nil:
		return ageCell{time: start.Time}
	}
	return duration.HumanDuration(end.Sub(start.Time))
}

func jobStatus(j *batchv1.Job) string {
	is := func(of batchv1.JobConditionType) bool {
		for _, c := range j.Status.Conditions {
			if c.Type == of {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	}
	switch {
	case is(batchv1.JobComplete):
		return string(batchv1.JobComplete)
	case is(batchv1.JobFailed):
		return string(batchv1.JobFailed)
	case j.DeletionTimestamp != nil:
		return "Terminating"
	}
	for _, of := range []batchv1.JobConditionType{batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if is(of) {
			return string(of)
		}
	}
	return "Running"
}

func cronJobCells(c *batchv1.CronJob) []any {
	var last any = none
	if t := c.Status.LastScheduleTime; t != nil {
		last = since(*t)
	}
	template := &c.Spec.JobTemplate.Spec
	cells := []any{
		c.Name, c.Spec.Schedule, ptr.Deref(c.Spec.TimeZone, none), boolText(ptr.Deref(c.Spec.Suspend, false)),
		len(c.Status.Active), last, since(c.CreationTimestamp),
	}
	return append(append(cells, containers(&template.Template)...), metav1.FormatLabelSelector(template.Selector))
}
