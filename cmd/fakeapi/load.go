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

// source is the file system of one --load.
type source struct {
	fs.FS
	path string
}

// ReadDir implements fs.ReadDirFS.
func (s source) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }

// Stat implements fs.StatFS. Without it, fs.Stat would open files, and a FIFO would block.
func (s source) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, name) }

// String returns the name of the source for error messages.
func (s source) String() string { return "--load " + s.path }

// sources has all sources, in the order of the command line.
type sources []source

// openSources opens each path. A path that does not exist or contains no manifest is an error.
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

// options returns options that load the sources: first all definitions of custom resources, then
// one source after the other.
func (all sources) options() []fakeapi.Option {
	var opts []fakeapi.Option
	for _, s := range all {
		opts = append(opts, fakeapi.WithManifests(s))
	}
	return opts
}

// explainLoadError puts the source in front of an error of a manifest.
func explainLoadError(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), prefix+"manifests: --load "); ok {
		return errors.New("--load " + text)
	}
	return err
}

// openFS returns the file system of a directory or of a single manifest.
func openFS(path string) (fs.FS, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unwrapPathError(err)
	}
	if info.IsDir() {
		files := os.DirFS(path)
		return files, hasManifest(files)
	}
	if err := checkManifestName(path); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return singleFileFS{os.DirFS(filepath.Dir(path)), filepath.Base(path)}, nil
}

// singleFileFS is a directory of which only one file is listed.
type singleFileFS struct {
	fs.FS
	name string
}

// ReadDir returns the file.
func (f singleFileFS) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(f.FS, f.name)
	if err != nil {
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

// checkManifestName returns an error if a server does not load a file, because of its name.
func checkManifestName(path string) error {
	name := filepath.Base(path)
	switch {
	case !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
		return errors.New("not a manifest: its name must end in .yaml, .yml or .json")
	case strings.HasPrefix(name, "."):
		return errors.New("not a manifest: its name begins with a dot")
	case name == "kustomization.yaml" || name == "kustomization.yml":
		return errors.New("not a manifest: load the output of kubectl kustomize instead")
	}
	return nil
}

// hasManifest returns an error unless files contains a manifest that a server loads.
func hasManifest(files fs.FS) error {
	found := false
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && checkManifestName(name) == nil:
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
