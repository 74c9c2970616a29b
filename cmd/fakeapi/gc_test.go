package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The heap grows by minGarbage or doubles, whichever is more.
func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{
		0:              800,
		1 << 20:        800,
		8 << 20:        400,
		16 << 20:       200,
		32 << 20:       100,
		100 << 20:      100,
		1 << 40:        100,
		(32 << 20) - 1: 100,
	} {
		require.Equal(t, want, gcPercent(live), live)
	}
}
