package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateJobStatusUpdate(t *testing.T) {
	const (
		started    = `startTime: "2026-01-01T00:00:00Z"`
		completed  = `completionTime: "2026-01-01T00:00:10Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]`
		complete   = started + ", " + completed
		hasFailed  = `conditions: [{type: FailureTarget, status: "True"}, {type: Failed, status: "True"}]`
		failed     = started + ", " + hasFailed
		indexed    = `completionMode: Indexed, completions: 10, parallelism: 2`
		perIndex   = indexed + `, backoffLimitPerIndex: 1`
		conditions = "status.conditions: Invalid value: "
	)
	for _, test := range []struct {
		spec, old, status string
		want              []string
	}{
		{``, ``, `active: 1, ready: 1, terminating: 5, ` + started + `, uncountedTerminatedPods: {succeeded: [a], failed: [b]}`, nil},
		{``, `active: 1, ` + started, complete + `, succeeded: 1`, nil},
		{``, ``, failed, nil},
		{``, ``, `active: -1, succeeded: -1, failed: -1, ready: -1, terminating: -1`, []string{
			"status.active: Invalid value: -1: " + negative,
			"status.succeeded: Invalid value: -1: " + negative,
			"status.failed: Invalid value: -1: " + negative,
			"status.ready: Invalid value: -1: " + negative,
			"status.terminating: Invalid value: -1: " + negative,
			"status.failed: Invalid value: -1: cannot decrease the failed counter",
			"status.succeeded: Invalid value: -1: cannot decrease the succeeded counter"}},
		{``, ``, `uncountedTerminatedPods: {succeeded: [a, "", a], failed: [a, b]}`, []string{
			`status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty`,
			`status.uncountedTerminatedPods.succeeded[2]: Duplicate value: "a"`,
			`status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`}},

		// Conditions.
		{``, ``, started + `, completionTime: "2026-01-01T00:00:10Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}, {type: FailureTarget, status: "True"}, {type: Failed, status: "True"}]`, []string{
			conditions + "cannot set Complete=True and Failed=true conditions",
			conditions + "cannot set Complete=True and FailureTarget=true conditions",
			conditions + "cannot set SuccessCriteriaMet=True and Failed=true conditions",
			conditions + "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"}},
		{``, ``, started + `, conditions: [{type: Complete, status: "True"}]`, []string{
			"status.completionTime: Required value: completionTime is required for Complete jobs",
			conditions + "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"}},
		{``, ``, started + `, conditions: [{type: Failed, status: "True"}]`, []string{
			conditions + "cannot set Failed=True condition without the FailureTarget=true condition"}},
		{indexed + `, successPolicy: {rules: [{succeededCount: 1}]}`, complete, started + `, completionTime: "2026-01-01T00:00:10Z", conditions: [{type: Complete, status: "True"}]`, []string{
			conditions + "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
			conditions + "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
			conditions + "cannot disable the SuccessCriteriaMet=True condition"}},
		{``, complete, started, []string{
			conditions + "cannot disable the terminal Complete=True condition",
			conditions + "cannot disable the SuccessCriteriaMet=True condition"}},
		{``, failed, started, []string{
			conditions + "cannot disable the terminal Failed=True condition",
			conditions + "cannot disable the terminal FailureTarget=True condition"}},
		{``, started + `, completionTime: "2026-01-01T00:00:10Z", conditions: [{type: Complete, status: "True"}]`, complete, []string{
			conditions + "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"}},

		{indexed + `, successPolicy: {rules: [{succeededCount: 1}]}`, ``, complete, nil},
		{indexed + `, successPolicy: {rules: [{succeededCount: 1}]}`, ``, failed, nil},

		// Times.
		{``, ``, started + `, completionTime: "2026-01-01T00:00:10Z"`, []string{
			`status.completionTime: Invalid value: "2026-01-01T00:00:10Z": cannot set completionTime when there is no Complete=True condition`}},
		{``, ``, `startTime: "2026-01-01T00:00:20Z", ` + completed, []string{
			"status.completionTime: Invalid value: \"2026-01-01T00:00:10Z\": must be equal to or after `startTime`"}},
		{``, complete, started + `, completionTime: "2026-01-01T00:00:11Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]`, []string{
			`status.completionTime: Invalid value: "2026-01-01T00:00:11Z": field is immutable`}},
		{``, started, `startTime: "2026-01-01T00:00:20Z"`, []string{
			`status.startTime: Invalid value: "2026-01-01T00:00:20Z": field is immutable for unsuspended job once set`}},
		{`suspend: true`, started, ``, nil},
		{``, started + `, conditions: [{type: Suspended, status: "True"}]`, `startTime: "2026-01-01T00:00:20Z", conditions: [{type: Suspended, status: "True"}]`, []string{
			`status.startTime: Invalid value: "2026-01-01T00:00:20Z": field is immutable for unsuspended job once set`}},
		{``, started + `, conditions: [{type: Suspended, status: "True"}]`, `startTime: "2026-01-01T00:00:20Z", conditions: [{type: Suspended, status: "False"}]`, nil},

		// Finished Jobs.
		{``, ``, complete + `, active: 1, ready: 1, terminating: 1, uncountedTerminatedPods: {failed: [a]}`, []string{
			"status.active: Invalid value: 1: active>0 is invalid for finished job",
			`status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job`,
			"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"}},
		{``, ``, hasFailed, []string{"status.startTime: Required value: startTime is required for finished job"}},
		{`suspend: true, completions: 0`, ``, completed, nil},
		{`suspend: true, completions: 1`, ``, completed, []string{"status.startTime: Required value: startTime is required for finished job"}},
		{``, complete, complete + `, active: 1`, []string{"status.active: Invalid value: 1: active>0 is invalid for finished job"}},
		{`suspend: true`, complete, completed, []string{"status.startTime: Required value: startTime is required for finished job"}},
		{``, ``, complete + `, uncountedTerminatedPods: {}`, nil},
		{perIndex, started + `, conditions: [{type: Failed, status: "True"}]`, started + `, failed: 1, conditions: [{type: Failed, status: "True"}]`, nil}, // invalid already
		{perIndex, started + `, conditions: [{type: Failed, status: "True"}]`, started + `, failedIndexes: "1", conditions: [{type: Failed, status: "True"}]`, []string{
			conditions + "cannot set Failed=True condition without the FailureTarget=true condition"}},
		{``, complete, `startTime: "2026-01-01T00:00:20Z", ` + completed, []string{
			`status.completionTime: Invalid value: "2026-01-01T00:00:10Z": must be equal to or after ` + "`startTime`",
			`status.startTime: Invalid value: "2026-01-01T00:00:20Z": field is immutable for unsuspended job once set`}},
		{``, complete, complete + `, uncountedTerminatedPods: {succeeded: [a]}`, []string{
			`status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a"],"Failed":null}: must be empty for finished job`}},
		{``, complete + `, uncountedTerminatedPods: {succeeded: [a]}`, complete + `, uncountedTerminatedPods: {succeeded: [a]}, failed: 1`, nil},
		{``, complete, complete + `, terminating: 1`, []string{"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"}},
		{``, complete + `, terminating: 1`, complete + `, terminating: 1, failed: 1`, nil},
		{``, started + `, terminating: 1`, complete + `, terminating: 1`, []string{"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"}},
		{``, complete + `, active: 1`, complete + `, active: 1, failed: 1`, nil}, // invalid already
		{``, ``, `active: 1, ready: 2`, []string{"status.ready: Invalid value: 2: cannot set more ready pods than active"}},
		{``, `active: 1, ready: 2`, `active: 1, ready: 2, failed: 1`, nil},
		{``, `active: 1, ready: 1`, `active: 1, ready: 2`, []string{"status.ready: Invalid value: 2: cannot set more ready pods than active"}},
		{``, `failed: 2, succeeded: 2`, `failed: 1, succeeded: 1`, []string{
			"status.failed: Invalid value: 1: cannot decrease the failed counter",
			"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"}},
		{indexed, `succeeded: 2`, `succeeded: 1`, []string{"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"}},
		{`completionMode: Indexed, completions: 1, parallelism: 1`, `succeeded: 2`, `succeeded: 1`, nil},

		// Indexes.
		{perIndex, ``, `completedIndexes: "0,2-4", failedIndexes: "1,5-9"`, nil},
		{indexed, ``, `completedIndexes: "x"`, []string{
			`status.completedIndexes: Invalid value: "x": error parsing completedIndexes: cannot convert string to integer for index: "x"`}},
		{perIndex, ``, `failedIndexes: "10"`, []string{`status.failedIndexes: Invalid value: "10": error parsing failedIndexes: too large index: "10"`}},
		{``, ``, `completedIndexes: "0", failedIndexes: ""`, []string{
			`status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode`,
			`status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null`}},
		{perIndex, ``, `completedIndexes: "0,3-5", failedIndexes: "1,4-8"`, []string{
			`status.failedIndexes: Invalid value: "1,4-8": failedIndexes and completedIndexes overlap at index: 4`}},
		{perIndex, `completedIndexes: "0", failedIndexes: "1"`, `completedIndexes: "0"`, nil},
		{``, `completedIndexes: "0", failedIndexes: "1"`, ``, nil},
		{perIndex, `completedIndexes: x, failedIndexes: y`, `completedIndexes: x, failedIndexes: y, failed: 1`, nil},
	} {
		t.Run(test.old+" "+test.status, func(t *testing.T) {
			old := newJob(t, `spec: {`+test.spec+`}`)
			job := old.DeepCopy()
			setFields(t, old, `status: {`+test.old+`}`)
			setFields(t, job, `status: {`+test.status+`}`)
			validatetest.RequireErrors(t, validateJobStatusUpdate(job, old), test.want...)
		})
	}
}

// The lists of indexes are compared in time that is proportional to their length.
func TestManyIndexes(t *testing.T) {
	old := newJob(t, `spec: {completionMode: Indexed, completions: 2000000000, backoffLimitPerIndex: 1, maxFailedIndexes: 1}`)
	job := old.DeepCopy()
	job.Status = batchv1.JobStatus{CompletedIndexes: numbers(200_000) + "300000", FailedIndexes: new(numbers(200_000) + "400000-500000")}
	require.Len(t, validateJobStatusUpdate(job, old), 3)
}
