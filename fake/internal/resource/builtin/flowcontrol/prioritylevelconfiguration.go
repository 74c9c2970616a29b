package flowcontrol

import (
	"cmp"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// Defaults of a limited priority level and of its queues.
const (
	defaultNominalConcurrencyShares = 30
	defaultQueues                   = 64
	defaultHandSize                 = 8
	defaultQueueLengthLimit         = 50
)

func setPriorityLevelConfigurationDefaults(p *flowcontrolv1.PriorityLevelConfiguration) {
	if e := p.Spec.Exempt; e != nil {
		setDefault(&e.NominalConcurrencyShares, 0)
		setDefault(&e.LendablePercent, 0)
	}
	l := p.Spec.Limited
	if l == nil {
		return
	}
	setDefault(&l.NominalConcurrencyShares, defaultNominalConcurrencyShares)
	setDefault(&l.LendablePercent, 0)
	if q := l.LimitResponse.Queuing; q != nil {
		q.Queues = cmp.Or(q.Queues, defaultQueues)
		q.HandSize = cmp.Or(q.HandSize, defaultHandSize)
		q.QueueLengthLimit = cmp.Or(q.QueueLengthLimit, defaultQueueLengthLimit)
	}
}

// setDefault sets a pointer that is nil to a new number. 0 is a number that clients can choose.
func setDefault(field **int32, value int32) {
	if *field == nil {
		*field = new(value)
	}
}
