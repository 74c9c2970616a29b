package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// source is what one --load names, as a file system that holds its manifests.
type source struct {
	path  string
	files fs.FS
	read  func(source) // called when it is opened
}

// Open opens a file of the source.
func (s source) Open(name string) (fs.File, error) {
	s.read(s)
	return s.files.Open(name)
}

// ReadDir lists a directory of the source.
func (s source) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(s.files, name)
}

// sources are all of them, in the order of the command line.
type sources struct {
	list []source
	last string // the path of the one that was read last
}

// openSources looks at each path. One that is not there, is no manifest or holds
// none is an error: whoever names it expects something from it.
func openSources(paths []string) (*sources, error) {
	all := &sources{}
	for _, path := range paths {
		files, err := open(path)
		if err != nil {
			return nil, fmt.Errorf("--load %s: %w", path, err)
		}
		all.list = append(all.list, source{path: path, files: files, read: func(s source) { all.last = s.path }})
	}
	return all, nil
}

// options loads the sources, one after the other.
func (all *sources) options() []fakeapi.Option {
	var opts []fakeapi.Option
	for _, s := range all.list {
		opts = append(opts, fakeapi.WithManifests(s))
	}
	return opts
}

// explain says of an error in the making of the server in which source it lies:
// the server knows paths below a source only. It reads one after the other and
// listens when it has them all, so a fault that is not the network's lies in the
// one that was read last.
func (all *sources) explain(err error) error {
	if _, ok := errors.AsType[*net.OpError](err); ok || all.last == "" {
		return err
	}
	return fmt.Errorf("--load %s: %s", all.last, strings.TrimPrefix(err.Error(), prefix))
}

// open makes a file system of a directory or of a single manifest.
func open(path string) (fs.FS, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(err)
	}
	if info.IsDir() {
		files := os.DirFS(path)
		return files, hasManifest(files)
	}
	if !isManifest(path) {
		return nil, errors.New("not a manifest: its name must end in .yaml, .yml or .json")
	}
	return oneFile{os.DirFS(filepath.Dir(path)), filepath.Base(path)}, nil
}

// oneFile is a directory of which only one file is shown.
type oneFile struct {
	fs.FS
	name string
}

// ReadDir lists the file.
func (f oneFile) ReadDir(string) ([]fs.DirEntry, error) {
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
