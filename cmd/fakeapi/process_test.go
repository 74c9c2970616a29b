//go:build unix

package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProcess builds the command and runs it as a shell would, signals and all.
func TestProcess(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "fakeapi")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			temp := t.TempDir()
			command := exec.CommandContext(t.Context(), binary)
			command.Env = append(os.Environ(), "TMPDIR="+temp)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			stdout, err := command.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, command.Start())

			r := parseAnnouncement(t, announcement(t, stdout))
			require.Equal(t, temp, filepath.Dir(filepath.Dir(r.kubeconfig)))
			require.Equal(t, http.StatusOK, r.get(t, "/readyz", nil))
			watch, err := http.Get(r.url + "/api/v1/pods?watch=true")
			require.NoError(t, err)
			defer func() { _ = watch.Body.Close() }()

			require.NoError(t, command.Process.Signal(signal))
			require.NoError(t, command.Wait(), "exit status 0")
			require.Empty(t, stderr.String())
			requireEmptyDir(t, temp)
		})
	}

	t.Run("usage", func(t *testing.T) {
		err := exec.CommandContext(t.Context(), binary, "--nonsense").Run()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, exitUsage, exit.ExitCode())
	})
}
