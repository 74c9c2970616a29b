package load

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResidentMemory(t *testing.T) {
	got, err := residentMemory([]byte("# HELP process_resident_memory_bytes Resident memory size in bytes.\n" +
		"process_resident_memory_bytes_total 1\nprocess_resident_memory_bytes 2.5e+06\n"))
	require.NoError(t, err)
	require.Equal(t, uint64(2_500_000), got)
	_, err = residentMemory([]byte("go_goroutines 7\n"))
	require.ErrorContains(t, err, "has no process_resident_memory_bytes")
	_, err = residentMemory([]byte("process_resident_memory_bytes much\n"))
	require.Error(t, err)
}
