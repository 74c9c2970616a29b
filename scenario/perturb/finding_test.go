package perturb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Findings with long names that differ at the end have files of their own.
func TestFindingFileName(t *testing.T) {
	require.Equal(t, "created-configmaps-default-a-crash", (&Finding{Name: "created configmaps default/a (crash)"}).fileName())
	long := "created configmaps default/" + strings.Repeat("a", 80)
	crash, fail := (&Finding{Name: long + " (crash)"}).fileName(), (&Finding{Name: long + " (fail)"}).fileName()
	require.NotEqual(t, crash, fail)
	require.Len(t, crash, 80)
}
