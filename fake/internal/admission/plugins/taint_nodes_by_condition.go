package plugins

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/fakeapi/fake/internal/admission"
)

// taintNodesByCondition taints new nodes as not ready. A controller of a cluster removes the taint
// when a node is ready.
type taintNodesByCondition struct{}

func newTaintNodesByCondition(Dependencies) admission.Interface { return taintNodesByCondition{} }

func (taintNodesByCondition) Name() string { return "TaintNodesByCondition" }

func (taintNodesByCondition) Handles(attrs *admission.Attributes) bool {
	return isWriteOf(attrs, nodes, admissionv1.Create)
}

func (taintNodesByCondition) Admit(_ context.Context, attrs *admission.Attributes) error {
	node := attrs.Object.(*corev1.Node)
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
	return nil
}
