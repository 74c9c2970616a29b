package coordination

import (
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestLeaseDropsDisabledFields(t *testing.T) {
	sent := coordinationv1.LeaseSpec{
		HolderIdentity: new("a"), PreferredHolder: new("b"), Strategy: new(coordinationv1.OldestEmulationVersion),
	}
	lease := &coordinationv1.Lease{Spec: sent}
	prepareLeaseForCreate(t.Context(), lease)
	require.Equal(t, coordinationv1.LeaseSpec{HolderIdentity: new("a")}, lease.Spec)

	updated := &coordinationv1.Lease{Spec: sent}
	prepareLeaseForUpdate(t.Context(), updated, lease)
	require.Equal(t, lease.Spec, updated.Spec)

	updated = &coordinationv1.Lease{Spec: sent}
	prepareLeaseForUpdate(t.Context(), updated, &coordinationv1.Lease{Spec: sent})
	require.Equal(t, sent, updated.Spec, "what is stored is kept")
}
