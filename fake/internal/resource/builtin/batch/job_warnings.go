package batch

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func jobWarnings(job *batchv1.Job) []string {
	var root *validate.Path
	return append(validate.PodNamePrefixWarnings(job.Name), jobSpecWarnings(&job.Spec, root.Child("spec"))...)
}

func jobUpdateWarnings(job, old *batchv1.Job) []string {
	if job.Generation == old.Generation {
		return nil
	}
	var root *validate.Path
	return jobSpecWarnings(&job.Spec, root.Child("spec"))
}

func cronJobWarnings(c *batchv1.CronJob) []string {
	return append(validate.PodNamePrefixWarnings(c.Name), jobTemplateWarnings(c)...)
}

func cronJobUpdateWarnings(c, old *batchv1.CronJob) (warnings []string) {
	if c.Generation != old.Generation {
		warnings = jobTemplateWarnings(c)
	}
	if strings.Contains(c.Spec.Schedule, "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}

func jobTemplateWarnings(c *batchv1.CronJob) []string {
	var root *validate.Path
	return jobSpecWarnings(&c.Spec.JobTemplate.Spec, root.Child("spec").Child("jobTemplate").Child("spec"))
}

func jobSpecWarnings(spec *batchv1.JobSpec, p *validate.Path) (warnings []string) {
	completions, parallelism := spec.Completions, spec.Parallelism
	if isIndexed(spec) && completions != nil && *completions > manyCompletions && parallelism != nil && *parallelism > maxParallelismIfMany {
		warnings = append(warnings, p.String()+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			"Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(warnings, core.PodTemplateWarnings(&spec.Template, p.Child("template"))...)
}
