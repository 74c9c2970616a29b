package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/cmd/differential"
)

func TestCompareRandom(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	kubeconfig := kubeconfigOf(t, srv)
	file := filepath.Join(t.TempDir(), "report.json")
	arguments := []string{"compare", "--random", "--left", kubeconfig, "--right", "self", "--controllers=false", "--steps", "200", "--seed", "5"}
	got := runCommand(t, append(arguments, "--report", "json="+file)...)
	require.Equal(t, exitOK, got.status, got.stdout+got.stderr)
	require.Regexp(t, `(?m)^left \S+, right self, seed 5: \d+ steps in \d+ sequences with \d+ definitions: 0 classes of differences, 0 listed ones, 0 not confirmed$`, got.stdout)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var report differential.Report
	require.NoError(t, json.Unmarshal(content, &report))
	require.GreaterOrEqual(t, report.Steps, 200)

	fault, err := faults.Parse(`lie: when verb(patch) && resource(widgets) && code(201) do set(/kind, Other)`)
	require.NoError(t, err)
	_, err = srv.Faults().Add(fault)
	require.NoError(t, err)
	got = runCommand(t, append(arguments, "--report", "markdown")...)
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stdout, "# Comparison by random requests\n")
	require.Regexp(t, `(?m)^DIFFERENT  PATCH /apis/\{group\}/v1\S*/widgets/NAME apply-patch\+yaml body.kind: string \| string$`, got.stderr)
	require.Regexp(t, `(?m)^  1. PATCH /apis/`, got.stderr)

	listed := filepath.Join(t.TempDir(), "listed.yaml")
	require.NoError(t, os.WriteFile(listed, []byte("- pattern: '/widgets'\n  reason: the test changes them\n"), 0o600))
	got = runCommand(t, append(arguments, "--listed", listed)...)
	require.Equal(t, exitOK, got.status, got.stdout)
	require.Regexp(t, `(?m)^LISTED  \d+ times  PATCH `, got.stdout)
	require.Contains(t, got.stdout, "\n  the test changes them\n")
}

func TestCompareRandomRejectsFlags(t *testing.T) {
	for _, arguments := range [][]string{
		{"--left", recorded, "--right", "self"}, {"--left", "self", "--right", "self", "--dry-run"},
		{"--left", "self", "--right", "self", "--steps", "0"}, {"--right", "self"},
	} {
		got := runCommand(t, append([]string{"compare", "--random"}, arguments...)...)
		require.Equal(t, exitUsage, got.status, got.stderr)
	}
	got := runCommand(t, "compare", "--random", "--left", "self", "--right", "self", "--listed", "/nothing/here")
	require.NotEqual(t, exitOK, got.status)
	require.Contains(t, got.stderr, "--listed /nothing/here: ")
}
