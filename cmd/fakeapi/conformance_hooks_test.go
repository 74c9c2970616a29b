//go:build unix

package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHookOfTheShell(t *testing.T) {
	require.Nil(t, hook("").once())
	require.Nil(t, hook("").during())
	file := filepath.Join(t.TempDir(), "done")
	require.NoError(t, hook("echo x > "+shellQuote(file)).once()(t.Context()))
	require.FileExists(t, file)
	err := hook("echo too late; exit 3").once()(t.Context())
	require.EqualError(t, err, "echo too late; exit 3: exit status 3: too late")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	require.ErrorContains(t, hook("exec sleep 60").once()(ctx), "enough")
}

// A state lasts from the first line of the command until it is interrupted.
func TestHookThatLasts(t *testing.T) {
	folder := t.TempDir()
	begun, ended := filepath.Join(folder, "begun"), filepath.Join(folder, "ended")
	stop, err := hook("trap 'echo > " + ended + "; exit' INT; echo > " + begun + "; echo ready; while :; do sleep 0.01; done").during()(t.Context())
	require.NoError(t, err)
	require.FileExists(t, begun)
	require.NoFileExists(t, ended)
	stop()
	require.FileExists(t, ended)

	_, err = hook("echo wrong >&2; exit 1").during()(t.Context())
	require.ErrorContains(t, err, "it ended without a line on stdout that says that the server is in that state")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = hook("exec sleep 60").during()(ctx)
	require.ErrorContains(t, err, "enough")
}
