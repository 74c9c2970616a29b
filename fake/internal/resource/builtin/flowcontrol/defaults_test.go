package flowcontrol

import (
	"testing"

	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

func TestFlowSchemaDefaults(t *testing.T) {
	for sent, want := range map[int32]int32{0: 1000, 7: 7} {
		f := &flowcontrolv1.FlowSchema{Spec: flowcontrolv1.FlowSchemaSpec{MatchingPrecedence: sent}}
		setFlowSchemaDefaults(f)
		require.Equal(t, want, f.Spec.MatchingPrecedence)
	}
}

func TestPriorityLevelConfigurationDefaults(t *testing.T) {
	limited := func(shares, lendable *int32, q *flowcontrolv1.QueuingConfiguration) flowcontrolv1.PriorityLevelConfigurationSpec {
		return flowcontrolv1.PriorityLevelConfigurationSpec{Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: shares, LendablePercent: lendable, LimitResponse: flowcontrolv1.LimitResponse{Queuing: q},
		}}
	}
	for name, c := range map[string]struct {
		spec, want flowcontrolv1.PriorityLevelConfigurationSpec
	}{
		"limited":    {limited(nil, nil, nil), limited(new(int32(30)), new(int32(0)), nil)},
		"no share":   {limited(new(int32(0)), new(int32(5)), nil), limited(new(int32(0)), new(int32(5)), nil)},
		"queues":     {limited(nil, nil, &flowcontrolv1.QueuingConfiguration{}), limited(new(int32(30)), new(int32(0)), &flowcontrolv1.QueuingConfiguration{Queues: 64, HandSize: 8, QueueLengthLimit: 50})},
		"few queues": {limited(nil, nil, &flowcontrolv1.QueuingConfiguration{Queues: 2, HandSize: 1}), limited(new(int32(30)), new(int32(0)), &flowcontrolv1.QueuingConfiguration{Queues: 2, HandSize: 1, QueueLengthLimit: 50})},
		"exempt": {
			flowcontrolv1.PriorityLevelConfigurationSpec{Exempt: &flowcontrolv1.ExemptPriorityLevelConfiguration{}},
			flowcontrolv1.PriorityLevelConfigurationSpec{Exempt: &flowcontrolv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: new(int32(0)), LendablePercent: new(int32(0))}},
		},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			p := &flowcontrolv1.PriorityLevelConfiguration{Spec: c.spec}
			setPriorityLevelConfigurationDefaults(p)
			require.Equal(t, c.want, p.Spec)
		})
	}
}
