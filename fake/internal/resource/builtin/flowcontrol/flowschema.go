package flowcontrol

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

// defaultMatchingPrecedence is the precedence of a FlowSchema without one.
const defaultMatchingPrecedence = 1000

func setFlowSchemaDefaults(f *flowcontrolv1.FlowSchema) {
	if f.Spec.MatchingPrecedence == 0 {
		f.Spec.MatchingPrecedence = defaultMatchingPrecedence
	}
}
