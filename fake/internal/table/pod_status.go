package table

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeLost is the status reason of pods on an unreachable node.
const nodeLost = "NodeLost"

// restarts counts the restarts of containers, with the time of the last one.
type restarts struct {
	restarts int
	last     metav1.Time
}

func (r *restarts) add(c *corev1.ContainerStatus) {
	r.restarts += int(c.RestartCount)
	if before := c.LastTerminationState.Terminated; before != nil && r.last.Before(&before.FinishedAt) {
		r.last = before.FinishedAt
	}
}

// podSummary is the summary of the containers of a pod.
type podSummary struct {
	ready, total int
	// counted has the restarts of the containers that matter at the moment: the init containers,
	// and after these the others.
	counted restarts
	status  string
}

func summarize(p *corev1.Pod) podSummary {
	s := podSummary{total: len(p.Spec.Containers), status: orDefault(p.Status.Reason, orDefault(p.Status.Phase, string(corev1.PodPending)))}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.status = corev1.PodReasonSchedulingGated
		}
	}
	// Init containers that always restart are sidecars.
	sidecars := map[string]bool{}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars[c.Name] = true
			s.total++
		}
	}
	initializing, beside := s.initialize(p, sidecars)
	if !initializing || podCondition(p, corev1.PodInitialized) {
		s.counted = beside
		s.run(p)
	}
	switch {
	case p.DeletionTimestamp == nil:
	case p.Status.Reason == nodeLost:
		s.status = "Unknown"
	case p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed:
		s.status = "Terminating"
	}
	return s
}

// initialize examines the init containers up to the first that has not completed. It reports
// whether there is one, and returns the restarts of the sidecars.
func (s *podSummary) initialize(p *corev1.Pod, sidecars map[string]bool) (initializing bool, beside restarts) {
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		s.counted.add(c)
		if sidecars[c.Name] {
			beside.add(c)
		}
		ended, waits := c.State.Terminated, c.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.status = "Init:" + endOf(ended)
		case waits != nil && waits.Reason != "" && waits.Reason != "PodInitializing":
			s.status = "Init:" + waits.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return true, beside
	}
	return false, beside
}

// run examines the containers from the last to the first. The first one determines the status.
func (s *podSummary) run(p *corev1.Pod) {
	running, failed := false, ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		s.counted.add(c)
		ended, waits := c.State.Terminated, c.State.Waiting
		switch {
		case waits != nil && waits.Reason != "":
			s.status = waits.Reason
		case ended != nil:
			s.status = endOf(ended)
			if ended.ExitCode != 0 {
				failed = s.status
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	switch { // completed, but others may be running
	case running && podCondition(p, corev1.PodReady):
		s.status = string(corev1.PodRunning)
	case failed != "":
		s.status = failed
	case running:
		s.status = "NotReady"
	}
}

// endOf returns the status of a terminated container.
func endOf(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}
