package coordination

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// The feature gate CoordinatedLeaderElection is off, so that its fields are dropped.

func prepareLeaseForCreate(_ context.Context, l *coordinationv1.Lease) {
	l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil
}

// prepareLeaseForUpdate keeps the fields that old has.
func prepareLeaseForUpdate(_ context.Context, l, old *coordinationv1.Lease) {
	if old.Spec.Strategy == nil {
		l.Spec.Strategy = nil
	}
	if old.Spec.PreferredHolder == nil {
		l.Spec.PreferredHolder = nil
	}
}
