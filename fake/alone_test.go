package fakeapi_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// aloneVariable is the environment variable that names the test of a process that runAlone starts.
const aloneVariable = "FAKEAPI_TEST_ALONE"

// runAlone runs a test in a new process, whose goroutines, files and memory no other test uses.
func runAlone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(aloneVariable) == t.Name() {
		test(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", fmt.Sprint("-test.short=", testing.Short()))
	cmd.Env = append(os.Environ(), aloneVariable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name()+" ")
}
