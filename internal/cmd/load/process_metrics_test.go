package load

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindMetric(t *testing.T) {
	got, err := findMetric([]byte("# HELP process_resident_memory_bytes Resident memory size in bytes.\n"+
		"process_resident_memory_bytes_total 1\nprocess_resident_memory_bytes 2.5e+06\n"), residentMetric)
	require.NoError(t, err)
	require.EqualValues(t, 2_500_000, got)
	_, err = findMetric([]byte("go_goroutines 7\n"), residentMetric)
	require.ErrorContains(t, err, "has no process_resident_memory_bytes")
	_, err = findMetric([]byte("process_resident_memory_bytes much\n"), residentMetric)
	require.Error(t, err)
}
