package batch

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // as in a real server, so that the zones do not depend on the machine

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// maxCronJobNameLength leaves room for the suffix of the names of Jobs.
const maxCronJobNameLength = validation.DNS1035LabelMaxLength - len("-1234567890")

func validateCronJob(c *batchv1.CronJob) field.ErrorList {
	errs := validateCronJobSpec(&c.Spec, nil)
	if len(c.Name) > maxCronJobNameLength {
		var root *validate.Path
		path := root.Child("metadata").Child("name")
		errs = append(errs, path.Invalid(c.Name, fmt.Sprintf("must be no more than %d characters", maxCronJobNameLength)))
	}
	return append(errs, validateScheduleIsSet(&c.Spec)...)
}

func validateCronJobUpdate(c, old *batchv1.CronJob) field.ErrorList {
	errs := validateCronJobSpec(&c.Spec, &old.Spec)
	if c.Spec.Schedule == old.Spec.Schedule {
		return errs
	}
	return append(errs, validateScheduleIsSet(&c.Spec)...)
}

// validateScheduleIsSet is the rule of a validation tag of the Go type. Its error is the last one.
func validateScheduleIsSet(spec *batchv1.CronJobSpec) field.ErrorList {
	if spec.Schedule != "" {
		return nil
	}
	var root *validate.Path
	return field.ErrorList{root.Child("spec").Child("schedule").Required("")}
}

// validateCronJobSpec validates the spec of a CronJob. old is nil for a new one.
func validateCronJobSpec(spec, old *batchv1.CronJobSpec) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if spec.Schedule != "" {
		errs = append(errs, validateSchedule(spec, old, p.Child("schedule"))...)
	}
	errs = append(errs, validate.NonNegativeOrNil(spec.StartingDeadlineSeconds, p.Child("startingDeadlineSeconds"))...)
	if spec.TimeZone != nil && (old == nil || !ptr.Equal(spec.TimeZone, old.TimeZone)) {
		errs = append(errs, validateTimeZone(*spec.TimeZone, p.Child("timeZone"))...)
	}
	switch policy, p := spec.ConcurrencyPolicy, p.Child("concurrencyPolicy"); policy {
	case batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	case "":
		errs = append(errs, p.Required(""))
	default:
		errs = append(errs, validate.NotSupported(p, policy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent))
	}
	job := &spec.JobTemplate.Spec
	opts := core.PodTemplateValidationOptions(&job.Template, nil)
	if old != nil {
		opts = core.PodTemplateValidationOptions(&job.Template, &old.JobTemplate.Spec.Template)
	}
	errs = append(errs, validateJobTemplate(job, opts, p.Child("jobTemplate").Child("spec"))...)
	errs = append(errs, validate.NonNegativeOrNil(spec.SuccessfulJobsHistoryLimit, p.Child("successfulJobsHistoryLimit"))...)
	return append(errs, validate.NonNegativeOrNil(spec.FailedJobsHistoryLimit, p.Child("failedJobsHistoryLimit"))...)
}

// validateJobTemplate validates the spec of the Jobs of a CronJob. Their selectors are generated.
func validateJobTemplate(job *batchv1.JobSpec, opts core.PodValidationOptions, p *validate.Path) field.ErrorList {
	errs := validateJobSpecOrTemplate(job, opts, p)
	if job.Selector != nil {
		errs = append(errs, p.Child("selector").Invalid(job.Selector, "`selector` will be auto-generated"))
	}
	if ptr.Deref(job.ManualSelector, false) {
		errs = append(errs, validate.NotSupported(p.Child("manualSelector"), true, "nil", "false"))
	}
	return errs
}

// validateSchedule validates the schedule. Only a CronJob that had a time zone in its schedule
// before may have one.
func validateSchedule(spec, old *batchv1.CronJobSpec, p *validate.Path) (errs field.ErrorList) {
	schedule := spec.Schedule
	if err := parseSchedule(schedule); err != nil {
		errs = append(errs, p.Invalid(schedule, err.Error()))
	}
	if !strings.Contains(schedule, "TZ") {
		return errs
	}
	switch isAllowed := old != nil && strings.Contains(old.Schedule, "TZ"); {
	case !isAllowed:
		errs = append(errs, p.Invalid(schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case spec.TimeZone != nil:
		errs = append(errs, p.Invalid(schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	}
	return errs
}

// parseSchedule returns the error of the parser, which panics on "TZ=UTC", for instance.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// timeZonePart matches a part of the name of a time zone.
var timeZonePart = regexp.MustCompile(`^[A-Za-z0-9._+][A-Za-z0-9._+-]{0,13}$`)

func validateTimeZone(zone string, p *validate.Path) (errs field.ErrorList) {
	if zone == "" {
		return field.ErrorList{p.Invalid(zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(zone, "/") {
		if part == "." || part == ".." || !timeZonePart.MatchString(part) {
			return field.ErrorList{p.Invalid(zone, "unknown time zone "+zone)}
		}
	}
	if strings.EqualFold(zone, "Local") {
		errs = append(errs, p.Invalid(zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(zone); err != nil {
		errs = append(errs, p.Invalid(zone, err.Error()))
	}
	return errs
}
