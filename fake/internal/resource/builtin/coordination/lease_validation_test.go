package coordination

import (
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestValidateLease(t *testing.T) {
	valid := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(1)), LeaseTransitions: new(int32(0))}}
	require.Empty(t, validateLease(valid))
	require.Empty(t, validateLeaseUpdate(&coordinationv1.Lease{}, valid))
	invalid := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(0)), LeaseTransitions: new(int32(-1))}}
	errs := validateLeaseUpdate(invalid, valid)
	require.Equal(t, errs, validateLease(invalid))
	require.Len(t, errs, 2)
	require.Equal(t, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0", errs[0].Error())
	require.Equal(t, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0", errs[1].Error())
}
