package systemobjects

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/memstore"
)

func configWithCIDR(cidr string) Config {
	return Config{System: true, ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix(cidr)}, Port: 6443}
}

// addresses returns the keys of the IPAddresses in a store.
func addresses(store *memstore.Store) (keys []string) {
	for rec := range store.View().Range("ipaddresses.networking.k8s.io/", "") {
		keys = append(keys, rec.Key)
	}
	return keys
}

// The Service kubernetes keeps its address when a server with another range starts on the storage.
// An IPAddress that has been deleted is created again.
func TestReconcileKeepsAddress(t *testing.T) {
	store, seed := memstore.New(memstore.Options{}), [32]byte{}
	require.NoError(t, Load(store, configWithCIDR("10.0.0.0/24"), seed, time.Now()))
	want := []string{"ipaddresses.networking.k8s.io/10.0.0.1"}
	require.Equal(t, want, addresses(store))
	require.NoError(t, Reconcile(store, configWithCIDR("10.1.0.0/24"), seed, time.Now()))
	require.Equal(t, want, addresses(store))

	_, err := store.Update(want[0], func(*memstore.Record) (*memstore.Draft, error) { return nil, nil })
	require.NoError(t, err)
	require.NoError(t, Reconcile(store, configWithCIDR("10.0.0.0/24"), seed, time.Now()))
	require.Equal(t, want, addresses(store))
}
