//go:build unix

package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/printable"
)

func TestHookCommand(t *testing.T) {
	require.Nil(t, hook("").runOnce())
	require.Nil(t, hook("").runDuring())
	file := filepath.Join(t.TempDir(), "done")
	require.NoError(t, hook("echo x > "+printable.ShellWord(file)).runOnce()(t.Context()))
	require.FileExists(t, file)
	err := hook("echo too late; exit 3").runOnce()(t.Context())
	require.EqualError(t, err, "echo too late; exit 3: exit status 3: too late")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	require.ErrorContains(t, hook("exec sleep 60").runOnce()(ctx), "stopped")
}

// A state begins with the first line that the command prints and ends when it is interrupted.
func TestHookDuring(t *testing.T) {
	folder := t.TempDir()
	begun, ended := filepath.Join(folder, "begun"), filepath.Join(folder, "ended")
	stop, err := hook("trap 'echo > " + ended + "; exit' INT; echo > " + begun + "; echo ready; while :; do sleep 0.01; done").runDuring()(t.Context())
	require.NoError(t, err)
	require.FileExists(t, begun)
	require.NoFileExists(t, ended)
	stop()
	require.FileExists(t, ended)

	_, err = hook("echo wrong >&2; exit 1").runDuring()(t.Context())
	require.ErrorContains(t, err, "it ended without printing a line")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	_, err = hook("exec sleep 60").runDuring()(ctx)
	require.ErrorContains(t, err, "stopped")
}
