package perturb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Findings with long names that differ at the end have files of their own, and those with names
// that differ only in characters that file names do not have.
func TestFindingFileName(t *testing.T) {
	used := map[string]bool{}
	fileName := func(name string) string { return (&Finding{Name: name}).fileName(used) }
	require.Equal(t, "created-configmaps-default-a-crash", fileName("created configmaps default/a (crash)"))
	require.Regexp(t, "^created-configmaps-default-a-crash-[0-9a-f]{8}$", fileName("created configmaps default/a-* (crash)"))
	long := "created configmaps default/" + strings.Repeat("a", 80)
	crash, fail := fileName(long+" (crash)"), fileName(long+" (fail)")
	require.NotEqual(t, crash, fail)
	require.Len(t, crash, 80)
}
