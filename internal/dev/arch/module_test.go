package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the path of the module's root directory, relative to this package.
const root = "../../.."

// source is one Go file of the repository. Nested modules are included.
type source struct {
	path   string // relative to the root, with forward slashes
	test   bool
	lines  int
	syntax *ast.File
}

func (s source) dir() string { return path.Dir(s.path) }

// repository holds the files that the rules check.
type repository struct {
	files   *token.FileSet
	sources []source
	texts   map[string][]byte // every text file, by path
}

var readRepository = sync.OnceValues(func() (*repository, error) {
	repo := &repository{files: token.NewFileSet(), texts: map[string][]byte{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "artifacts" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || entry.Name() == ".git" { // a file in a worktree
			return nil
		}
		return repo.add(name)
	})
	return repo, err
})

func (repo *repository) add(name string) error {
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	relative = filepath.ToSlash(relative)
	content, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed after the directory was read
		return nil
	case err != nil:
		return err
	case bytes.IndexByte(content[:min(len(content), 1024)], 0) >= 0: // a binary file
		return nil
	}
	repo.texts[relative] = content
	if path.Ext(name) != ".go" {
		return nil
	}
	one, err := parse(repo.files, relative, content)
	repo.sources = append(repo.sources, one)
	return err
}

// parse parses the content of the Go file name.
func parse(files *token.FileSet, name string, content []byte) (source, error) {
	syntax, err := parser.ParseFile(files, name, content, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path:   name,
		test:   strings.HasSuffix(name, "_test.go"),
		lines:  bytes.Count(content, []byte("\n")),
		syntax: syntax,
	}, err
}

// loadRepository returns the files of the repository. They are read once.
func loadRepository(t *testing.T) *repository {
	t.Helper()
	repo, err := readRepository()
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// goPackage is the output of go list for one package.
type goPackage struct {
	ImportPath string
	Dir        string
	Export     string // the file with export data
	Standard   bool
	GoFiles    []string
	Imports    []string // of the files that are not tests
	Deps       []string // Imports and, transitively, their imports
	Module     *struct {
		Path string
		Main bool
	}
}

// inModule reports whether the package belongs to the root module.
func (p goPackage) inModule() bool { return p.Module != nil && p.Module.Main }

// listPackages runs go list for the packages of the root module and the packages they need. It
// returns them by import path, including packages that do not compile, which the compiler reports.
var listPackages = sync.OnceValues(func() (map[string]goPackage, error) {
	command := exec.Command("go", "list", "-e", "-deps", "-export", "-json=ImportPath,Dir,Export,Standard,GoFiles,Imports,Deps,Module", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages[p.ImportPath] = p
	}
})

// loadPackages returns the result of listPackages.
func loadPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	packages, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// reportAll fails the test with one error for each violation.
func reportAll(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// module is the import path of the root module.
const module = "example.com/fakeapi"

// isBelow reports whether importPath is base or a package below it.
func isBelow(importPath, base string) bool {
	return importPath == base || strings.HasPrefix(importPath, base+"/")
}
