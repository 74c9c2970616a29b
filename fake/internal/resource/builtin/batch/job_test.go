package batch

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestSetJobDefaults(t *testing.T) {
	job := &batchv1.Job{}
	setJobDefaults(job)
	require.EqualValues(t, 1, *job.Spec.Completions)
	require.EqualValues(t, 1, *job.Spec.Parallelism)
	require.EqualValues(t, 6, *job.Spec.BackoffLimit)
	require.Equal(t, batchv1.NonIndexedCompletion, *job.Spec.CompletionMode)
	require.Equal(t, batchv1.TerminatingOrFailed, *job.Spec.PodReplacementPolicy)
	require.False(t, *job.Spec.Suspend)
	require.False(t, *job.Spec.ManualSelector)
	require.Equal(t, corev1.DNSClusterFirst, job.Spec.Template.Spec.DNSPolicy)
	require.Nil(t, job.Labels)
	again := job.DeepCopy()
	setJobDefaults(again)
	require.Equal(t, job, again)
}

// Some defaults follow from other fields.
func TestSetJobDefaultsThatDepend(t *testing.T) {
	queue := &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(3))}}
	setJobDefaults(queue)
	require.Nil(t, queue.Spec.Completions)
	fixed := &batchv1.Job{Spec: batchv1.JobSpec{Completions: new(int32(3)), BackoffLimitPerIndex: new(int32(1))}}
	setJobDefaults(fixed)
	require.EqualValues(t, 1, *fixed.Spec.Parallelism)
	require.EqualValues(t, math.MaxInt32, *fixed.Spec.BackoffLimit)
	failing := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: newPodFailurePolicy()}}
	setJobDefaults(failing)
	require.Equal(t, batchv1.Failed, *failing.Spec.PodReplacementPolicy)
	require.Equal(t, corev1.ConditionTrue, failing.Spec.PodFailurePolicy.Rules[0].OnPodConditions[0].Status)
	require.Equal(t, corev1.ConditionFalse, failing.Spec.PodFailurePolicy.Rules[0].OnPodConditions[1].Status)
}

func newPodFailurePolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "A"}, {Type: "B", Status: corev1.ConditionFalse}},
	}}}
}

// The generated labels are added to the template and to the labels that a Job has from it, but not
// to labels of its own.
func TestPrepareJobForCreate(t *testing.T) {
	generated := map[string]string{
		"job-name": "j", "batch.kubernetes.io/job-name": "j", "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
	}
	with := func(extra map[string]string) map[string]string {
		all := map[string]string{}
		for _, labels := range []map[string]string{generated, extra} {
			for key, value := range labels {
				all[key] = value
			}
		}
		return all
	}
	for _, test := range []struct {
		name                          string
		labels, template              map[string]string
		wantLabels, wantTemplateLabel map[string]string
	}{
		{"none", nil, nil, generated, generated},
		{"of the template", nil, map[string]string{"a": "b"}, with(map[string]string{"a": "b"}), with(map[string]string{"a": "b"})},
		{"its own", map[string]string{"a": "b"}, map[string]string{"a": "b"}, map[string]string{"a": "b"}, with(map[string]string{"a": "b"})},
		{"a generated one", nil, map[string]string{"job-name": "x"}, with(map[string]string{"job-name": "x"}), with(map[string]string{"job-name": "x"})},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := &batchv1.Job{}
			job.Name, job.UID, job.Labels, job.Spec.Template.Labels = "j", "u", test.labels, test.template
			setJobDefaults(job)
			prepareJobForCreate(t.Context(), job)
			require.Equal(t, test.wantLabels, job.Labels)
			require.Equal(t, test.wantTemplateLabel, job.Spec.Template.Labels)
			require.Equal(t, map[string]string{"batch.kubernetes.io/controller-uid": "u"}, job.Spec.Selector.MatchLabels)
		})
	}
}

func TestPrepareJobForCreateWithManualSelector(t *testing.T) {
	job := &batchv1.Job{Spec: batchv1.JobSpec{ManualSelector: new(true)}}
	prepareJobForCreate(t.Context(), job)
	require.Nil(t, job.Spec.Selector)
	require.Nil(t, job.Spec.Template.Labels)
}

// The field of a feature that is off stays only in objects that have it.
func TestDropDisabledJobFields(t *testing.T) {
	newJob := func() *batchv1.Job {
		return &batchv1.Job{Spec: batchv1.JobSpec{Scheduling: &batchv1.JobSchedulingConfiguration{}}}
	}
	job := newJob()
	prepareJobForUpdate(t.Context(), job, newJob())
	require.NotNil(t, job.Spec.Scheduling)
	prepareJobForUpdate(t.Context(), job, &batchv1.Job{})
	require.Nil(t, job.Spec.Scheduling)
	job = newJob()
	prepareJobForCreate(t.Context(), job)
	require.Nil(t, job.Spec.Scheduling)

	c := &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: newJob().Spec}}}
	prepareCronJobForUpdate(t.Context(), c, c.DeepCopy())
	require.NotNil(t, c.Spec.JobTemplate.Spec.Scheduling)
	prepareCronJobForCreate(t.Context(), c)
	require.Nil(t, c.Spec.JobTemplate.Spec.Scheduling)
}

// The Jobs of a CronJob have their own defaults when they are created.
func TestSetCronJobDefaults(t *testing.T) {
	c := &batchv1.CronJob{}
	c.Spec.JobTemplate.Spec.PodFailurePolicy = newPodFailurePolicy()
	setCronJobDefaults(c)
	require.Equal(t, batchv1.AllowConcurrent, c.Spec.ConcurrencyPolicy)
	require.False(t, *c.Spec.Suspend)
	require.EqualValues(t, 3, *c.Spec.SuccessfulJobsHistoryLimit)
	require.EqualValues(t, 1, *c.Spec.FailedJobsHistoryLimit)
	job := &c.Spec.JobTemplate.Spec
	require.Equal(t, corev1.ConditionTrue, job.PodFailurePolicy.Rules[0].OnPodConditions[0].Status)
	require.Equal(t, corev1.RestartPolicyAlways, job.Template.Spec.RestartPolicy)
	require.Nil(t, job.Completions)
	require.Nil(t, job.BackoffLimit)
	again := c.DeepCopy()
	setCronJobDefaults(again)
	require.Equal(t, c, again)
}
