// Package batch has the built-in types of the group batch.
package batch

import (
	batchv1 "k8s.io/api/batch/v1"

	"example.com/fakeapi/fake/internal/resource"
)

func Resources() []resource.Resource {
	return []resource.Resource{
		{
			Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true,
			MetadataChecksOnStatusUpdate: resource.MetadataChecks{NotAsUpdated: true},
			ShortNames:                   []string{"cj"}, Categories: []string{"all"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
			SetDefaults:      resource.Defaults(setCronJobDefaults),
			PrepareForCreate: resource.OnCreate(prepareCronJobForCreate),
			PrepareForUpdate: resource.OnUpdate(prepareCronJobForUpdate),
			Validate:         resource.Validation(validateCronJob),
			ValidateUpdate:   resource.UpdateValidation(validateCronJobUpdate),
			WarningsOnCreate: resource.CreateWarnings(cronJobWarnings),
			WarningsOnUpdate: resource.UpdateWarnings(cronJobUpdateWarnings),
		},
		{
			Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true,
			MetadataChecksOnUpdate: resource.MetadataChecks{AsNew: 1},
			Categories:             []string{"all"}, Status: true,
			AllowUnconditionalUpdate: true, HasGeneration: true,
			GarbageCollection: resource.OrphanDependents, DeleteWarning: jobDeleteWarning,
			FieldErrorFormat: "field label %q not supported for batchv1.Job",
			Fields: []resource.Field{
				resource.IntField("status.successful", func(j *batchv1.Job) int32 { return j.Status.Succeeded }),
			},
			SetDefaults:          resource.Defaults(setJobDefaults),
			PrepareForCreate:     resource.OnCreate(prepareJobForCreate),
			PrepareForUpdate:     resource.OnUpdate(prepareJobForUpdate),
			Validate:             resource.Validation(validateJob),
			ValidateUpdate:       validateJobUpdate,
			ValidateStatusUpdate: resource.UpdateValidation(validateJobStatusUpdate),
			WarningsOnCreate:     resource.CreateWarnings(jobWarnings),
			WarningsOnUpdate:     resource.UpdateWarnings(jobUpdateWarnings),
		},
	}
}
