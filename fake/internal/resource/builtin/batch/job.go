package batch

import (
	"context"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

// jobDeleteWarning is the warning for the delete of a Job that orphans its Pods by default.
const jobDeleteWarning = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

func setJobDefaults(job *batchv1.Job) {
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	if spec.Parallelism == nil {
		spec.Parallelism = new(int32(1))
	}
	if spec.BackoffLimit == nil {
		spec.BackoffLimit = new(int32(6))
		if spec.BackoffLimitPerIndex != nil {
			*spec.BackoffLimit = math.MaxInt32
		}
	}
	if len(job.Labels) == 0 && spec.Template.Labels != nil {
		// They are the same map: what generateSelector adds becomes a label of the Job, too.
		job.Labels = spec.Template.Labels
	}
	if spec.CompletionMode == nil {
		spec.CompletionMode = new(batchv1.NonIndexedCompletion)
	}
	if spec.Suspend == nil {
		spec.Suspend = new(false)
	}
	if spec.PodReplacementPolicy == nil {
		spec.PodReplacementPolicy = new(batchv1.TerminatingOrFailed)
		if spec.PodFailurePolicy != nil {
			*spec.PodReplacementPolicy = batchv1.Failed
		}
	}
	if spec.ManualSelector == nil {
		spec.ManualSelector = new(false)
	}
	setPodFailurePolicyDefaults(spec.PodFailurePolicy)
	core.SetDefaultsPodTemplateSpec(&spec.Template)
}

func setPodFailurePolicyDefaults(policy *batchv1.PodFailurePolicy) {
	if policy == nil {
		return
	}
	for i := range policy.Rules {
		patterns := policy.Rules[i].OnPodConditions
		for j := range patterns {
			if patterns[j].Status == "" {
				patterns[j].Status = corev1.ConditionTrue
			}
		}
	}
}

// prepareJobForCreate sets the selector and the labels of a new Job.
func prepareJobForCreate(_ context.Context, job *batchv1.Job) {
	if job.Spec.ManualSelector == nil || !*job.Spec.ManualSelector {
		generateSelector(job)
	}
	dropDisabledJobFields(&job.Spec, nil)
	if len(job.Labels) == 0 { // a default that follows from the labels that were generated
		job.Labels = job.Spec.Template.Labels
	}
}

func prepareJobForUpdate(_ context.Context, job, old *batchv1.Job) {
	dropDisabledJobFields(&job.Spec, &old.Spec)
}

// generateSelector adds labels that only the pods of this Job have, unless the template has values
// for them, and selects by them.
func generateSelector(job *batchv1.Job) {
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = make(map[string]string, 4)
	}
	labels, uid := job.Spec.Template.Labels, string(job.UID)
	setLabel(labels, "job-name", job.Name)
	setLabel(labels, batchv1.JobNameLabel, job.Name)
	setLabel(labels, "controller-uid", uid)
	setLabel(labels, batchv1.ControllerUidLabel, uid)
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = make(map[string]string, 1)
	}
	setLabel(job.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, uid)
}

// setLabel sets a label that is not there.
func setLabel(labels map[string]string, key, value string) {
	if _, ok := labels[key]; !ok {
		labels[key] = value
	}
}

// dropDisabledJobFields removes the fields of features that are off, unless the old spec uses them.
// old is nil for a new object.
func dropDisabledJobFields(spec, old *batchv1.JobSpec) {
	if old == nil {
		spec.Scheduling = nil // WorkloadWithJob
		core.DropDisabledTemplateFields(&spec.Template, nil)
		return
	}
	if old.Scheduling == nil {
		spec.Scheduling = nil
	}
	core.DropDisabledTemplateFields(&spec.Template, &old.Template)
}
