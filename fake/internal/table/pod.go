package table

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

func podPrinters() []entry {
	pods := newEntry(corev1.SchemeGroupVersion, podCells,
		named(),
		text("Ready", "The aggregate readiness state of this pod for accepting traffic."),
		text("Status", "The aggregate status of the containers in this pod."),
		text("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		age(),
		wide(text("IP", describes(corev1.PodStatus{}, "podIP"))),
		wide(text("Node", describes(corev1.PodSpec{}, "nodeName"))),
		wide(text("Nominated Node", describes(corev1.PodStatus{}, "nominatedNodeName"))),
		wide(text("Readiness Gates", describes(corev1.PodSpec{}, "readinessGates"))),
	)
	pods.printer.conditions = podConditions
	return []entry{pods, newEntry(corev1.SchemeGroupVersion, podTemplateCells,
		named(),
		text("Containers", "Names of each container in the template."),
		text("Images", "Images referenced by each container in the template."),
		text("Pod Labels", "The labels for the pod template."),
	)}
}

func podTemplateCells(t *corev1.PodTemplate) []any {
	names := containers(&t.Template)
	return []any{t.Name, names[0], names[1], labels.FormatLabels(t.Template.Labels)}
}

// podConditions returns the condition Completed for a pod that has ended.
func podConditions(obj runtime.Object) []metav1.TableRowCondition {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	done := metav1.TableRowCondition{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(pod.Status.Phase)}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		done.Message = "The pod has completed successfully."
	case corev1.PodFailed:
		done.Message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{done}
}

func podCells(p *corev1.Pod) []any {
	s := summarize(p)
	var restarts any = strconv.Itoa(s.counted.restarts)
	if s.counted.restarts != 0 && !s.counted.last.IsZero() {
		restarts = ageCell{before: fmt.Sprintf("%d (", s.counted.restarts), time: s.counted.last.Time, after: " ago)"}
	}
	ip := p.Status.PodIP
	if ips := p.Status.PodIPs; len(ips) > 0 {
		ip = ips[0].IP
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.status, restarts, since(p.CreationTimestamp),
		orDefault(ip, none), orDefault(p.Spec.NodeName, none), orDefault(p.Status.NominatedNodeName, none), readinessGates(p),
	}
}

func readinessGates(p *corev1.Pod) string {
	gates := p.Spec.ReadinessGates
	if len(gates) == 0 {
		return none
	}
	open := 0
	for _, gate := range gates {
		if podCondition(p, gate.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(gates))
}

// podCondition reports whether a condition is true. The first condition of a type counts.
func podCondition(p *corev1.Pod, of corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == of {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
