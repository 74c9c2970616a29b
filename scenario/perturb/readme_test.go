package perturb_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows the controller of the example, and the finding that is printed.
func TestReadmeController(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, controller, _ := strings.Cut(string(source), "// deliver starts")
	controller, _, _ = strings.Cut(controller, "\n\n// perturbDeliver")
	require.Contains(t, string(readme), "```go\n// deliver starts"+controller+"\n```\n")

	report, err := perturbDeliver()
	require.NoError(t, err)
	require.NotEmpty(t, report.Findings)
	require.Contains(t, string(readme), "```\n"+report.Findings[0].String()+"```\n")
}
