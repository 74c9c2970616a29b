//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/cmd/subprocess"
)

// linksIn returns the files of a folder with the targets of links.
func linksIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	links := map[string]string{}
	for _, entry := range entries {
		links[entry.Name()], err = os.Readlink(filepath.Join(folder, entry.Name()))
		if err != nil {
			links[entry.Name()] = entry.Type().String()
		}
	}
	return links
}

// The folder has links to the program. Without a name it is one in the cache of the user. It can be
// made again, also several times at once.
func TestEnvtestAssets(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	e, err := currentExecutable()
	require.NoError(t, err)
	got := runCommand(t, "envtest-assets", "-p", "path")
	require.Equal(t, result{status: exitOK, stdout: got.stdout}, got)
	require.Equal(t, filepath.Join(cache, "fakeapi", "envtest-assets"), filepath.Dir(got.stdout))
	again := runCommand(t, "envtest-assets", "-p=path")
	require.Equal(t, got, again)

	folder := filepath.Join(t.TempDir(), "it's here")
	want := map[string]string{etcdName: e.path, apiServerName: e.path, kubectlName: e.path}
	if e.isTemporary { // as the test binary of go test
		first := filepath.Join(folder, etcdName)
		want = map[string]string{etcdName: "----------", apiServerName: first, kubectlName: first}
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got := runCommand(t, "envtest-assets", folder)
			require.Equal(t, result{exitOK, "export KUBEBUILDER_ASSETS='" + filepath.Dir(folder) + `/it'"'"'s here'` + "\n", ""}, got)
		})
	}
	group.Wait()
	require.Equal(t, want, linksIn(t, folder))
	require.True(t, isFakeapi(filepath.Join(folder, apiServerName)))
}

// Links to an executable, and a copy of one that is removed.
func TestMakeAssets(t *testing.T) {
	e, err := currentExecutable()
	require.NoError(t, err)
	folder := t.TempDir()
	permanent := executable{path: filepath.Join(t.TempDir(), "fakeapi")}
	require.NoError(t, os.Link(e.path, permanent.path))
	require.NoError(t, makeAssets(folder, permanent))
	require.Equal(t, map[string]string{etcdName: permanent.path, apiServerName: permanent.path, kubectlName: permanent.path}, linksIn(t, folder))

	// The program has moved.
	require.NoError(t, os.Remove(permanent.path))
	temporary := executable{path: filepath.Join(t.TempDir(), "fakeapi"), isTemporary: true}
	require.NoError(t, os.Link(e.path, temporary.path))
	require.NoError(t, makeAssets(folder, temporary))
	require.NoError(t, os.Remove(temporary.path))
	first := filepath.Join(folder, etcdName)
	require.Equal(t, map[string]string{etcdName: "----------", apiServerName: first, kubectlName: first}, linksIn(t, folder))
	for _, name := range []string{etcdName, apiServerName, kubectlName} {
		require.True(t, isFakeapi(filepath.Join(folder, name)), name)
	}
	require.NoError(t, makeAssets(folder, e))
}

// Files of others are not replaced, and nothing else is written beside them.
func TestEnvtestAssetsRefused(t *testing.T) {
	other, err := exec.LookPath("go")
	require.NoError(t, err)
	for name, create := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700) },
		"a program":   func(path string) error { return os.Symlink(other, path) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a dangling":  func(path string) error { return os.Symlink("absent", path) },
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, apiServerName)
		require.NoError(t, create(path))
		before := linksIn(t, folder)
		got := runCommand(t, "envtest-assets", folder)
		require.Equal(t, result{exitError, "", "fakeapi: " + path + " exists and is not a file of fakeapi; choose another folder\n"}, got, name)
		require.Equal(t, before, linksIn(t, folder))
	}
	got := runCommand(t, "envtest-assets", "-p", "overview")
	require.Equal(t, exitUsage, got.status)
	require.Contains(t, got.stderr, "it is neither env nor path")
	require.Equal(t, exitUsage, runCommand(t, "envtest-assets", "a", "b").status)
}

// kubectl is the first one on PATH that is not this program.
func TestFindKubectl(t *testing.T) {
	e, err := currentExecutable()
	require.NoError(t, err)
	own, copied, installed := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(e.path, filepath.Join(own, kubectlName)))
	require.NoError(t, copyFile(e.path, filepath.Join(copied, kubectlName)))
	path := own + string(os.PathListSeparator) + copied + string(os.PathListSeparator)
	_, err = findKubectl(path)
	require.ErrorContains(t, err, "no kubectl is found on PATH")

	require.NoError(t, os.WriteFile(filepath.Join(installed, kubectlName), []byte("#!/bin/sh\n"), 0o700))
	found, err := findKubectl(path + installed)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(installed, kubectlName), found)
}

// assetsProcess runs the program under its other names.
func assetsProcess(t *testing.T, binary string) {
	folder, tools := t.TempDir(), t.TempDir()
	require.NoError(t, exec.CommandContext(t.Context(), binary, "envtest-assets", folder).Run())
	for name, want := range map[string]string{apiServerName: "Kubernetes v1.37.2\n", etcdName: "etcd Version: 3.6."} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(folder, name), "--version").CombinedOutput()
		require.NoError(t, err)
		require.Contains(t, string(out), want)
	}
	kubectl := exec.CommandContext(t.Context(), filepath.Join(folder, kubectlName), "a", "b c")
	kubectl.Env = append(os.Environ(), "PATH="+folder+":"+tools)
	out, err := kubectl.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, subprocess.NotFound, kubectl.ProcessState.ExitCode())
	require.Contains(t, string(out), "kubectl: no kubectl is found on PATH: install it")

	require.NoError(t, os.WriteFile(filepath.Join(tools, kubectlName), []byte("#!/bin/sh\necho \"$# $2\"\nexit 3\n"), 0o700))
	kubectl = exec.CommandContext(t.Context(), filepath.Join(folder, kubectlName), "a", "b c")
	kubectl.Env = append(os.Environ(), "PATH="+folder+":"+tools)
	out, err = kubectl.Output()
	require.Error(t, err)
	require.Equal(t, "2 b c\n", string(out))
	require.Equal(t, 3, kubectl.ProcessState.ExitCode())
}
