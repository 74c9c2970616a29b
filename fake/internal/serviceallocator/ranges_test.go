package serviceallocator

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAddressRange(t *testing.T) {
	for prefix, want := range map[string]struct {
		size, offset uint64
		first, last  string
	}{
		"10.96.0.0/12":     {1<<20 - 2, 256, "10.96.0.1", "10.111.255.254"},
		"10.0.0.0/24":      {254, 16, "10.0.0.1", "10.0.0.254"},
		"10.0.0.0/20":      {4094, 256, "10.0.0.1", "10.0.15.254"},
		"10.0.0.0/23":      {510, 32, "10.0.0.1", "10.0.1.254"},
		"10.0.0.16/28":     {14, 0, "10.0.0.17", "10.0.0.30"},
		"10.0.0.0/30":      {2, 0, "10.0.0.1", "10.0.0.2"},
		"2001:db8::/112":   {1<<16 - 1, 256, "2001:db8::1", "2001:db8::ffff"},
		"2001:db8::/64":    {1<<64 - 1, 256, "2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"},
		"2001:db8::10/124": {15, 0, "2001:db8::11", "2001:db8::1f"},
	} {
		r := newAddressRange(netip.MustParsePrefix(prefix))
		require.Equal(t, want.size, r.size, prefix)
		require.Equal(t, want.offset, r.offset, prefix)
		require.Equal(t, want.first, r.address(0).String(), prefix)
		require.Equal(t, want.last, r.address(r.size-1).String(), prefix)
		first, last := netip.MustParseAddr(want.first), netip.MustParseAddr(want.last)
		require.True(t, r.contains(first) && r.contains(last), prefix)
		require.False(t, r.contains(first.Prev()) || r.contains(last.Next()), prefix)
	}
	require.Zero(t, newAddressRange(netip.MustParsePrefix("10.0.0.0/32")).size)
	require.False(t, newAddressRange(netip.MustParsePrefix("10.0.0.0/31")).contains(netip.MustParseAddr("10.0.0.1")))
}

func TestDefaultServiceCIDR(t *testing.T) {
	ranges, err := ParseServiceClusterIPRange([]string{" 10.96.7.0/12", "fd00::7/108"})
	require.NoError(t, err)
	now := metav1.NewTime(time.Unix(1e9, 0))
	cidr := Config{ServiceClusterIPRange: ranges}.DefaultServiceCIDR(now)
	require.Equal(t, []string{"10.96.0.0/12", "fd00::/108"}, cidr.Spec.CIDRs)
	require.True(t, isReady(cidr))
	cidr.DeletionTimestamp = &now
	require.False(t, isReady(cidr))
	require.Equal(t, "30000-32767", DefaultConfig().ServiceNodePortRange.String())
}
