package table

import (
	"cmp"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// defaultShares is the default of nominalConcurrencyShares.
const defaultShares = int32(30)

func flowPrinters() []entry {
	gv := flowcontrolv1.SchemeGroupVersion
	flows := newEntry(gv, flowCells,
		named(),
		text("PriorityLevel", describes(flowcontrolv1.PriorityLevelConfigurationReference{}, "name")),
		text("MatchingPrecedence", describes(flowcontrolv1.FlowSchemaSpec{}, "matchingPrecedence")),
		text("DistinguisherMethod", describes(flowcontrolv1.FlowSchemaSpec{}, "distinguisherMethod")),
		age(),
		text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
	)
	flows.printer.compare = compareFlows
	queuing := flowcontrolv1.QueuingConfiguration{}
	return []entry{flows, newEntry(gv, levelCells,
		named(),
		text("Type", describes(flowcontrolv1.PriorityLevelConfigurationSpec{}, "type")),
		text("NominalConcurrencyShares", describes(flowcontrolv1.LimitedPriorityLevelConfiguration{}, "nominalConcurrencyShares")),
		text("Queues", describes(queuing, "queues")),
		text("HandSize", describes(queuing, "handSize")),
		text("QueueLengthLimit", describes(queuing, "queueLengthLimit")),
		age(),
	)}
}

// compareFlows orders flow schemas by the order in which the server matches them.
func compareFlows(a, b runtime.Object) int {
	x, isX := a.(*flowcontrolv1.FlowSchema)
	y, isY := b.(*flowcontrolv1.FlowSchema)
	if !isX || !isY {
		return 0
	}
	return cmp.Or(cmp.Compare(x.Spec.MatchingPrecedence, y.Spec.MatchingPrecedence), cmp.Compare(x.Name, y.Name))
}

func flowCells(f *flowcontrolv1.FlowSchema) []any {
	method := none
	if m := f.Spec.DistinguisherMethod; m != nil {
		method = string(m.Type)
	}
	missing := "?"
	for _, c := range f.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			missing = string(c.Status)
			break
		}
	}
	return []any{
		f.Name, f.Spec.PriorityLevelConfiguration.Name, f.Spec.MatchingPrecedence, method, since(f.CreationTimestamp), missing,
	}
}

func levelCells(l *flowcontrolv1.PriorityLevelConfiguration) []any {
	var shares, queues, hand, length any = none, none, none, none
	if limited := l.Spec.Limited; limited != nil {
		shares = ptr.Deref(limited.NominalConcurrencyShares, defaultShares)
		if q := limited.LimitResponse.Queuing; q != nil {
			queues, hand, length = q.Queues, q.HandSize, q.QueueLengthLimit
		}
	}
	return []any{l.Name, string(l.Spec.Type), shares, queues, hand, length, since(l.CreationTimestamp)}
}
