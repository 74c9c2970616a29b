package batch

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

// setCronJobDefaults sets the defaults of a CronJob. Those of its Jobs, except the defaults of
// their pods, are set when they are created.
func setCronJobDefaults(c *batchv1.CronJob) {
	if c.Spec.ConcurrencyPolicy == "" {
		c.Spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	if c.Spec.Suspend == nil {
		c.Spec.Suspend = new(false)
	}
	if c.Spec.SuccessfulJobsHistoryLimit == nil {
		c.Spec.SuccessfulJobsHistoryLimit = new(int32(3))
	}
	if c.Spec.FailedJobsHistoryLimit == nil {
		c.Spec.FailedJobsHistoryLimit = new(int32(1))
	}
	job := &c.Spec.JobTemplate.Spec
	setPodFailurePolicyDefaults(job.PodFailurePolicy)
	core.SetDefaultsPodTemplateSpec(&job.Template)
}

func prepareCronJobForCreate(_ context.Context, c *batchv1.CronJob) {
	dropDisabledJobFields(&c.Spec.JobTemplate.Spec, nil)
}

func prepareCronJobForUpdate(_ context.Context, c, old *batchv1.CronJob) {
	dropDisabledJobFields(&c.Spec.JobTemplate.Spec, &old.Spec.JobTemplate.Spec)
}
