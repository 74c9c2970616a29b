package batch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// cronJobManifest is a valid CronJob.
const cronJobManifest = `
metadata: {name: c, generation: 1}
spec:
  schedule: "*/5 * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
`

// newCronJob returns cronJobManifest, with defaults, and with the fields of a YAML document.
func newCronJob(t testing.TB, text string) *batchv1.CronJob {
	t.Helper()
	c := &batchv1.CronJob{}
	setFields(t, c, cronJobManifest)
	setCronJobDefaults(c)
	setFields(t, c, text)
	return c
}

func TestValidateCronJob(t *testing.T) {
	const malformedZone = `spec.timeZone: Invalid value: "%s": unknown time zone %s`
	zoneError := func(zone string) []string { return []string{strings.ReplaceAll(malformedZone, "%s", zone)} }
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {startingDeadlineSeconds: 0, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, concurrencyPolicy: Replace, timeZone: Europe/Berlin}`, nil},
		{`spec: {startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1, concurrencyPolicy: Any}`, []string{
			"spec.startingDeadlineSeconds: Invalid value: -1: " + negative,
			`spec.concurrencyPolicy: Unsupported value: "Any": supported values: "Allow", "Forbid", "Replace"`,
			"spec.successfulJobsHistoryLimit: Invalid value: -1: " + negative,
			"spec.failedJobsHistoryLimit: Invalid value: -1: " + negative}},
		{`spec: {concurrencyPolicy: ""}`, []string{"spec.concurrencyPolicy: Required value"}},
		{`metadata: {name: ` + strings.Repeat("c", 52) + `}`, nil},
		{`{metadata: {name: ` + strings.Repeat("c", 53) + `}, spec: {schedule: ""}}`, []string{
			`metadata.name: Invalid value: "` + strings.Repeat("c", 53) + `": must be no more than 52 characters`,
			"spec.schedule: Required value"}},

		{`spec: {schedule: "@hourly"}`, nil},
		{`spec: {schedule: "@every 1h30m"}`, nil},
		{`spec: {schedule: "0 0 1-7/2 jan,feb mon-fri"}`, nil},
		{`spec: {schedule: "* * * *"}`, []string{`spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]`}},
		{`spec: {schedule: "60 * * * *"}`, []string{`spec.schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60`}},
		{`spec: {schedule: "@often"}`, []string{`spec.schedule: Invalid value: "@often": unrecognized descriptor: @often`}},
		{`spec: {schedule: "TZ=UTC 0 * * * *"}`, []string{
			`spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`}},

		{`spec: {timeZone: UTC}`, nil},
		{`spec: {timeZone: ""}`, []string{`spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`}},
		{`spec: {timeZone: Europe/Nowhere}`, zoneError("Europe/Nowhere")},
		{`spec: {timeZone: ../UTC}`, zoneError("../UTC")},
		{`spec: {timeZone: Europe/A-name-too-long}`, zoneError("Europe/A-name-too-long")},
		{`spec: {timeZone: -UTC}`, zoneError("-UTC")},
		{`spec: {timeZone: Local}`, []string{
			`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`}},

		{`spec: {jobTemplate: {spec: {parallelism: -1, template: {spec: {restartPolicy: Always}}}}}`, []string{
			"spec.jobTemplate.spec.parallelism: Invalid value: -1: " + negative,
			`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{`spec: {jobTemplate: {spec: {selector: {matchLabels: {a: b}}, manualSelector: true}}}`, []string{
			"spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated",
			`spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateCronJob(newCronJob(t, test.fields)), test.want...)
		})
	}
	// The parser panics on a time zone without a schedule.
	errs := validateCronJob(newCronJob(t, `spec: {schedule: "TZ=UTC"}`))
	require.Len(t, errs, 2)
	require.Equal(t, "spec.schedule", errs[0].Field)
}

func TestValidateCronJobUpdate(t *testing.T) {
	const zone, inSchedule = `{spec: {timeZone: Europe/Nowhere}}`, `{spec: {schedule: "TZ=UTC 0 * * * *"}}`
	for _, test := range []struct {
		old, fields string
		want        []string
	}{
		{`{}`, `spec: {schedule: "@daily", suspend: true, concurrencyPolicy: Forbid, jobTemplate: {metadata: {labels: {a: b}}, spec: {backoffLimit: 2}}}`, nil},
		{`{}`, `spec: {schedule: "", failedJobsHistoryLimit: -1}`, []string{
			"spec.failedJobsHistoryLimit: Invalid value: -1: " + negative, "spec.schedule: Required value"}},
		{`spec: {schedule: ""}`, `spec: {suspend: true}`, nil},
		{`spec: {schedule: "@often"}`, `spec: {suspend: true}`, []string{`spec.schedule: Invalid value: "@often": unrecognized descriptor: @often`}},
		{zone, `spec: {suspend: true}`, nil},
		{`{}`, zone, []string{`spec.timeZone: Invalid value: "Europe/Nowhere": unknown time zone Europe/Nowhere`}},
		{inSchedule, `spec: {schedule: "CRON_TZ=UTC 1 * * * *"}`, nil},
		{inSchedule, `spec: {timeZone: UTC}`, []string{
			`spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule`}},
		{`{}`, inSchedule, []string{
			`spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`}},
		{`metadata: {name: ` + strings.Repeat("c", 53) + `}`, `spec: {suspend: true}`, nil},
	} {
		t.Run(test.fields, func(t *testing.T) {
			old := newCronJob(t, test.old)
			c := old.DeepCopy()
			setFields(t, c, test.fields)
			validatetest.RequireErrors(t, validateCronJobUpdate(c, old), test.want...)
		})
	}
}

// A schedule is parsed in time that is proportional to its length.
func TestLongSchedule(t *testing.T) {
	c := newCronJob(t, "{}")
	for _, schedule := range []string{strings.Repeat("1,", 200_000) + "1 * * * *", strings.Repeat("* ", 200_000), "@every " + strings.Repeat("1h", 200_000)} {
		c.Spec.Schedule = schedule
		start := time.Now()
		validateCronJob(c)
		require.Less(t, time.Since(start), 5*time.Second)
	}
}

func TestCronJobWarnings(t *testing.T) {
	const selector = `spec.jobTemplate.spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	const zone = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, " +
		"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
	c := newCronJob(t, `{metadata: {name: a.b}, spec: {jobTemplate: {spec: {template: {spec: {nodeSelector: {beta.kubernetes.io/os: linux}}}}}}}`)
	require.Equal(t, []string{"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
		"a DNS label is recommended: [must not contain dots]", selector}, cronJobWarnings(c))
	require.Empty(t, cronJobUpdateWarnings(c, c))
	c.Spec.Schedule = "TZ=UTC 0 * * * *"
	require.Equal(t, []string{zone}, cronJobUpdateWarnings(c, c))
	require.Equal(t, []string{selector, zone}, cronJobUpdateWarnings(c, &batchv1.CronJob{}))
}
