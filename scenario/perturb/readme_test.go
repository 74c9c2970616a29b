package perturb_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeFinding is the finding that the README shows.
//
//go:embed testdata/finding.txt
var readmeFinding string

// The README shows the finding that is printed for the controller of the example.
func TestReadmeFinding(t *testing.T) {
	report, err := perturbDeliver()
	require.NoError(t, err)
	require.NotEmpty(t, report.Findings)
	require.Equal(t, readmeFinding, report.Findings[0].String())
}
