package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

func validateLease(l *coordinationv1.Lease) (errs field.ErrorList) {
	var root *validate.Path
	p := root.Child("spec")
	if seconds := l.Spec.LeaseDurationSeconds; seconds != nil && *seconds <= 0 {
		errs = append(errs, p.Child("leaseDurationSeconds").Invalid(*seconds, "must be greater than 0"))
	}
	return append(errs, validate.NonNegativeOrNil(l.Spec.LeaseTransitions, p.Child("leaseTransitions"))...)
}

func validateLeaseUpdate(l, _ *coordinationv1.Lease) field.ErrorList { return validateLease(l) }
