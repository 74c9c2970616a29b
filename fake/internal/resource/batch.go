package resource

import batchv1 "k8s.io/api/batch/v1"

func batchResources() []Resource {
	return []Resource{
		{
			Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true,
			ShortNames: []string{"cj"}, Categories: []string{"all"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
		},
		{
			Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true,
			Categories: []string{"all"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
			FieldErrorFormat: "field label %q not supported for batchv1.Job",
			Fields: []Field{
				IntField("status.successful", func(j *batchv1.Job) int32 { return j.Status.Succeeded }),
			},
		},
	}
}
