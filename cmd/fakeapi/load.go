package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// source is what one --load names, as a file system that holds its manifests.
type source struct {
	fs.FS
	path string
}

// ReadDir lists a directory of the source.
func (s source) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }

// String names the source in the server's errors, which otherwise have paths below it only.
func (s source) String() string { return "--load " + s.path }

// sources are all of them, in the order of the command line.
type sources []source

// openSources looks at each path. One that is not there, is no manifest or holds
// none is an error: whoever names it expects something from it.
func openSources(paths []string) (sources, error) {
	var all sources
	for _, path := range paths {
		files, err := openFS(path)
		if err != nil {
			return nil, fmt.Errorf("--load %s: %w", path, err)
		}
		all = append(all, source{files, path})
	}
	return all, nil
}

// options loads the sources: definitions of custom resources first, wherever they are, then
// one source after the other.
func (all sources) options() []fakeapi.Option {
	var opts []fakeapi.Option
	for _, s := range all {
		opts = append(opts, fakeapi.WithManifests(s))
	}
	return opts
}

// explainLoadError lets an error in the making of the server begin with the source in which it lies,
// if it lies in one.
func explainLoadError(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), prefix+"manifests: --load "); ok {
		return errors.New("--load " + text)
	}
	return err
}

// openFS makes a file system of a directory or of a single manifest.
func openFS(path string) (fs.FS, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unwrapPathError(err)
	}
	if info.IsDir() {
		files := os.DirFS(path)
		return files, hasManifest(files)
	}
	if !isManifest(path) {
		return nil, errors.New("not a manifest: its name must end in .yaml, .yml or .json")
	}
	return singleFileFS{os.DirFS(filepath.Dir(path)), filepath.Base(path)}, nil
}

// singleFileFS is a directory of which only one file is shown.
type singleFileFS struct {
	fs.FS
	name string
}

// ReadDir lists the file.
func (f singleFileFS) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(f.FS, f.name)
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// hasManifest is nil if there is a manifest somewhere in files.
func hasManifest(files fs.FS) error {
	found := false
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() && isManifest(name) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("no manifests in this directory: their names must end in .yaml, .yml or .json")
	}
	return err
}
