package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	runningState = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waitingState = func(why string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why}}
	}
	terminatedState = func(code, signal int32, why string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Signal: signal, Reason: why}}
	}
	statusWith = func(state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "c", State: state, Ready: state.Running != nil}
	}
)

// again returns a container with a number of restarts, the last of which was that long ago.
func again(c corev1.ContainerStatus, times int32, last time.Duration) corev1.ContainerStatus {
	c.RestartCount = times
	c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: before(last)}
	return c
}

func started(c corev1.ContainerStatus) corev1.ContainerStatus {
	c.Started = new(true)
	return c
}

func notStarted(c corev1.ContainerStatus) corev1.ContainerStatus {
	c.Started = new(false)
	return c
}

func readyCondition(of corev1.PodConditionType) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: of, Status: corev1.ConditionTrue})
	}
}

func inits(statuses ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = statuses
		for range statuses {
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "i"})
		}
	}
}

// sidecar makes the first init container a sidecar.
func sidecar(p *corev1.Pod) {
	p.Spec.InitContainers[0].Name = "side"
	p.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	p.Status.InitContainerStatuses[0].Name = "side"
}

// neverAgain lets the first init container never restart.
func neverAgain(p *corev1.Pod) {
	p.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyNever)
}

func statuses(of ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = of }
}

func phase(of corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = of } }

func reason(of string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Reason = of } }

func deleted(p *corev1.Pod) { p.DeletionTimestamp = new(before(time.Second)) }

func gated(p *corev1.Pod) { condition(corev1.PodScheduled, corev1.PodReasonSchedulingGated)(p) }

// condition adds a condition that is not true.
func condition(of corev1.PodConditionType, reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: of, Status: corev1.ConditionFalse, Reason: reason})
	}
}

// The cells READY, STATUS and RESTARTS.
func TestPodCells(t *testing.T) {
	const pending, running = corev1.PodPending, corev1.PodRunning
	for name, test := range map[string]struct {
		pod                     []func(*corev1.Pod)
		ready, status, restarts string
	}{
		"nothing known":       {nil, "0/2", "Pending", "0"},
		"the phase":           {[]func(*corev1.Pod){phase(corev1.PodUnknown)}, "0/2", "Unknown", "0"},
		"a reason":            {[]func(*corev1.Pod){phase(corev1.PodFailed), reason("Evicted")}, "0/2", "Evicted", "0"},
		"held back":           {[]func(*corev1.Pod){phase(pending), gated}, "0/2", "SchedulingGated", "0"},
		"unschedulable":       {[]func(*corev1.Pod){phase(pending), condition(corev1.PodScheduled, "Unschedulable")}, "0/2", "Pending", "0"},
		"another condition":   {[]func(*corev1.Pod){phase(pending), condition(corev1.PodReady, corev1.PodReasonSchedulingGated)}, "0/2", "Pending", "0"},
		"running":             {[]func(*corev1.Pod){phase(running), statuses(statusWith(runningState), statusWith(runningState))}, "2/2", "Running", "0"},
		"being created":       {[]func(*corev1.Pod){phase(pending), statuses(statusWith(waitingState("ContainerCreating")), statusWith(waitingState("ContainerCreating")))}, "0/2", "ContainerCreating", "0"},
		"one crashes":         {[]func(*corev1.Pod){phase(running), statuses(statusWith(runningState), again(statusWith(waitingState("CrashLoopBackOff")), 3, 5*time.Minute))}, "1/2", "CrashLoopBackOff", "3 (5m ago)"},
		"the first counts":    {[]func(*corev1.Pod){statuses(statusWith(waitingState("ErrImagePull")), statusWith(waitingState("CrashLoopBackOff")))}, "0/2", "ErrImagePull", "0"},
		"restarts, no date":   {[]func(*corev1.Pod){phase(running), statuses(corev1.ContainerStatus{State: runningState, Ready: true, RestartCount: 4})}, "1/2", "Running", "4"},
		"the last restart":    {[]func(*corev1.Pod){phase(running), statuses(again(statusWith(runningState), 1, time.Hour), again(statusWith(runningState), 2, 2*time.Minute))}, "2/2", "Running", "3 (2m ago)"},
		"completed":           {[]func(*corev1.Pod){phase(corev1.PodSucceeded), statuses(statusWith(terminatedState(0, 0, "Completed")))}, "0/2", "Completed", "0"},
		"an error":            {[]func(*corev1.Pod){phase(corev1.PodFailed), statuses(statusWith(terminatedState(1, 0, "Error")))}, "0/2", "Error", "0"},
		"an exit code":        {[]func(*corev1.Pod){statuses(statusWith(terminatedState(3, 0, "")))}, "0/2", "ExitCode:3", "0"},
		"a signal":            {[]func(*corev1.Pod){statuses(statusWith(terminatedState(3, 9, "")))}, "0/2", "Signal:9", "0"},
		"one done, one ready": {[]func(*corev1.Pod){phase(running), readyCondition(corev1.PodReady), statuses(statusWith(terminatedState(0, 0, "Completed")), statusWith(runningState))}, "1/2", "Running", "0"},
		"one done, not ready": {[]func(*corev1.Pod){phase(running), statuses(statusWith(terminatedState(0, 0, "Completed")), statusWith(runningState))}, "1/2", "NotReady", "0"},
		"one done, one not":   {[]func(*corev1.Pod){phase(running), statuses(statusWith(terminatedState(0, 0, "Completed")), statusWith(terminatedState(1, 0, "Error")))}, "0/2", "Error", "0"},
		"terminating":         {[]func(*corev1.Pod){phase(running), deleted, statuses(statusWith(runningState), statusWith(runningState))}, "2/2", "Terminating", "0"},
		"ended and deleted":   {[]func(*corev1.Pod){phase(corev1.PodSucceeded), deleted, statuses(statusWith(terminatedState(0, 0, "Completed")))}, "0/2", "Completed", "0"},
		"failed and deleted":  {[]func(*corev1.Pod){phase(corev1.PodFailed), deleted, statuses(statusWith(terminatedState(1, 0, "Error")))}, "0/2", "Error", "0"},
		"all done, ready":     {[]func(*corev1.Pod){phase(running), readyCondition(corev1.PodReady), statuses(statusWith(terminatedState(0, 0, "Completed")))}, "0/2", "Completed", "0"},
		"waits, no word":      {[]func(*corev1.Pod){phase(running), statuses(statusWith(waitingState("")), statusWith(runningState))}, "1/2", "Running", "0"},
		"one is not ready":    {[]func(*corev1.Pod){phase(running), statuses(corev1.ContainerStatus{State: runningState}, corev1.ContainerStatus{Ready: true})}, "0/2", "Running", "0"},
		"no restart":          {[]func(*corev1.Pod){phase(running), statuses(again(statusWith(runningState), 0, time.Hour))}, "1/2", "Running", "0"},
		"the node is lost":    {[]func(*corev1.Pod){phase(running), deleted, reason("NodeLost")}, "0/2", "Unknown", "0"},

		"initializing":         {[]func(*corev1.Pod){phase(pending), inits(statusWith(terminatedState(0, 0, "Completed")), statusWith(runningState))}, "0/2", "Init:1/2", "0"},
		"init waits":           {[]func(*corev1.Pod){phase(pending), inits(statusWith(waitingState("PodInitializing")))}, "0/2", "Init:0/1", "0"},
		"init cannot":          {[]func(*corev1.Pod){phase(pending), inits(again(statusWith(waitingState("CrashLoopBackOff")), 2, time.Minute))}, "0/2", "Init:CrashLoopBackOff", "2 (60s ago)"},
		"init failed":          {[]func(*corev1.Pod){phase(pending), inits(statusWith(terminatedState(1, 0, "Error")))}, "0/2", "Init:Error", "0"},
		"init failed, no word": {[]func(*corev1.Pod){phase(pending), inits(statusWith(terminatedState(7, 0, "")))}, "0/2", "Init:ExitCode:7", "0"},
		"init got a signal":    {[]func(*corev1.Pod){phase(pending), inits(statusWith(terminatedState(7, 15, "")))}, "0/2", "Init:Signal:15", "0"},
		"init is over":         {[]func(*corev1.Pod){phase(running), inits(again(statusWith(terminatedState(0, 0, "Completed")), 5, time.Hour)), statuses(statusWith(runningState), statusWith(runningState))}, "2/2", "Running", "0"},
		"a sidecar":            {[]func(*corev1.Pod){phase(running), inits(again(started(statusWith(runningState)), 1, time.Minute)), sidecar, statuses(statusWith(runningState), statusWith(runningState))}, "3/3", "Running", "1 (60s ago)"},
		"a sidecar starts":     {[]func(*corev1.Pod){phase(pending), inits(statusWith(runningState), statusWith(waitingState(""))), sidecar}, "0/3", "Init:0/2", "0"},
		"a sidecar, not yet":   {[]func(*corev1.Pod){phase(pending), inits(notStarted(statusWith(runningState))), sidecar}, "0/3", "Init:0/1", "0"},
		"a sidecar, not ready": {[]func(*corev1.Pod){phase(pending), inits(started(corev1.ContainerStatus{State: runningState})), sidecar}, "0/3", "Pending", "0"},
		"no sidecar":           {[]func(*corev1.Pod){phase(pending), inits(started(statusWith(runningState))), neverAgain}, "0/2", "Init:0/1", "0"},
		"init waits, no word":  {[]func(*corev1.Pod){phase(pending), inits(statusWith(waitingState("")))}, "0/2", "Init:0/1", "0"},
		"init again":           {[]func(*corev1.Pod){phase(running), readyCondition(corev1.PodInitialized), inits(statusWith(waitingState("X"))), statuses(statusWith(runningState), statusWith(runningState))}, "2/2", "Init:X", "0"},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", CreationTimestamp: before(3 * time.Hour)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}, {Name: "d"}}},
		}
		for _, change := range test.pod {
			change(pod)
		}
		require.Equal(t, []any{"p", test.ready, test.status, test.restarts, "3h", "<none>", "<none>", "<none>", "<none>"}, row(t, pod), name)
	}
}

func TestWidePodCells(t *testing.T) {
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{NodeName: "n", ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}}},
		Status: corev1.PodStatus{
			PodIP: "10.0.0.1", NominatedNodeName: "m", Conditions: []corev1.PodCondition{{Type: "b", Status: corev1.ConditionTrue}},
		},
	}
	require.Equal(t, []any{"<unknown>", "10.0.0.1", "n", "m", "1/2"}, row(t, pod)[4:])
	pod.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.2"}, {IP: "fd00::2"}}
	require.Equal(t, "10.0.0.2", row(t, pod)[5])
}

// The row of a completed pod has a condition.
func TestPodConditions(t *testing.T) {
	running := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	require.Empty(t, podConditions(running))
	encoded, err := podPrinters()[0].printer.AppendRow(nil, running)
	require.NoError(t, err)
	require.NotContains(t, string(encoded), "conditions")
	for phase, message := range map[corev1.PodPhase]string{
		corev1.PodSucceeded: "The pod has completed successfully.", corev1.PodFailed: "The pod failed.",
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		encoded, err := podPrinters()[0].printer.AppendRow(nil, pod)
		require.NoError(t, err)
		require.Contains(t, string(encoded), `],"conditions":[{"type":"Completed","status":"True","reason":"`+string(phase)+`","message":"`+message+`"}]`)
	}
}
